/** An OpenAPI document as it was written: read from a text, with references that stay inside of it. */
import { FermataError } from '@fermata/protocol';
import { parse as parseYaml } from 'yaml';

export type Json = Record<string, unknown>;

export class OpenApiDocument {
  readonly root: Json;
  readonly #name: string;

  /** JSON, YAML, or a document that was read already. Throws `invalid_request`. `name`: of the source, for errors. */
  constructor(name: string, given: string | Json) {
    this.#name = name;
    this.root = typeof given === 'string' ? this.#parsed(given) : given;
    const { openapi, swagger, paths } = this.root;
    if (swagger !== undefined) throw this.refusal('its document is of Swagger 2.0', 'Convert it to OpenAPI 3 first.');
    if (typeof openapi !== 'string' || !/^3\.[01](\.|$)/.test(openapi)) throw this.refusal('its document is not of OpenAPI 3.0 or 3.1');
    if (!isRecord(paths)) throw this.refusal('its document has no paths');
  }

  /** `nullable` and the like are of 3.0 only. */
  get isOf30(): boolean {
    return String(this.root.openapi).startsWith('3.0');
  }

  /** What a part stands for: the part itself, or where its `$ref` leads. */
  part(given: unknown): Json {
    let part = given;
    for (let steps = 0; isRecord(part) && typeof part.$ref === 'string'; steps++) {
      if (steps > 100) throw this.refusal(`the $ref ${part.$ref} leads in a circle`);
      part = this.at(part.$ref);
    }
    return isRecord(part) ? part : {};
  }

  /** Where a `$ref` leads. Throws `invalid_request` where that is not in this document. */
  at(ref: string): unknown {
    if (!ref.startsWith('#')) throw this.refusal(`the $ref ${JSON.stringify(ref)} leads out of its document`, 'Bundle the document into one file first.');
    let part: unknown = this.root;
    for (const token of ref.slice(1).split('/').slice(1)) {
      const key = decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
      part = part !== null && typeof part === 'object' && Object.hasOwn(part, key) ? (part as Json)[key] : undefined;
    }
    if (part === undefined) throw this.refusal(`the $ref ${JSON.stringify(ref)} leads nowhere`);
    return part;
  }

  refusal(problem: string, hint?: string): FermataError {
    return new FermataError('invalid_request', `the tool source ${this.#name}: ${problem}`, hint === undefined ? {} : { hint });
  }

  #parsed(text: string): Json {
    try {
      const parsed: unknown = /^\s*\{/.test(text) ? JSON.parse(text) : parseYaml(text);
      if (isRecord(parsed)) return parsed;
    } catch (cause) {
      throw this.refusal(`its document is neither JSON nor YAML: ${(cause as Error).message.split('\n')[0]}`);
    }
    throw this.refusal('its document is not a record');
  }
}

export function isRecord(value: unknown): value is Json {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
