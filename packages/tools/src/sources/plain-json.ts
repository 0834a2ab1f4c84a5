/** Values as services of others take them: plain JSON, without our forms for what JSON lacks. */
import { ToolError } from '../tool.ts';

/**
 * Bytes become base64 (or stay, with `keepBytes`), dates ISO 8601, maps records, sets lists, big integers numbers where they fit.
 * `undefined` is left out of records. Throws {@link ToolError} `InvalidArguments` with the path of what has no such form.
 */
export function plainJson(value: unknown, options: { keepBytes?: boolean } = {}): unknown {
  return plain(value, '', options.keepBytes ?? false);
}

function plain(value: unknown, path: string, keepBytes: boolean): unknown {
  const refuse = (what: string) => new ToolError(`invalid arguments: ${path || 'the arguments'}: ${what} has no form in JSON`, { name: 'InvalidArguments', data: { path } });
  if (typeof value === 'number' && !Number.isFinite(value)) throw refuse(String(value));
  if (typeof value === 'bigint') {
    if (!Number.isSafeInteger(Number(value))) throw refuse('an integer beyond 2^53');
    return Number(value);
  }
  if (value === undefined) return null;
  if (value === null || typeof value !== 'object') return value;
  const inside = (key: string | number) => (path ? `${path}.${key}` : String(key));
  if (value instanceof Uint8Array) return keepBytes ? value : Buffer.from(value).toString('base64');
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map((item, i) => plain(item, inside(i), keepBytes));
  if (value instanceof Set) return [...value].map((item, i) => plain(item, inside(i), keepBytes));
  const entries = value instanceof Map ? [...value].map(([key, item]) => [String(key), item] as const) : Object.entries(value);
  return Object.fromEntries(entries.filter(([, item]) => item !== undefined).map(([key, item]) => [key, plain(item, inside(key), keepBytes)]));
}
