/** Ajv is loaded with the first schema that is compiled: most tasks have no tool with a JSON Schema, and it is not small. */
import { createRequire } from 'node:module';
import type { Ajv, Options } from 'ajv';

const require = createRequire(import.meta.url);

export function newAjv(options: Options, draft: 7 | 2020 = 7): Ajv {
  return draft === 7 ? new (require('ajv').Ajv)(options) : new (require('ajv/dist/2020.js').Ajv2020)(options);
}
