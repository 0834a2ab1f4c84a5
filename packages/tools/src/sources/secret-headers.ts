/** Headers that a definition from outside adds to requests: checked when it is taken, with the values of secrets when they are sent. */
import { ToolError } from '../tool.ts';

/** A text, or the name of a secret whose value the host has. */
export type SecretText = string | { secret: string; prefix?: string | undefined };
export type SecretHeaders = Readonly<Record<string, SecretText>>;
export type SecretLookup = (name: string) => string | undefined | Promise<string | undefined>;

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** They belong to the connection. */
export const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
]);

/** What is wrong with them, if anything is. */
export function headerFault(headers: SecretHeaders = {}): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name)) return `${JSON.stringify(name)} cannot be the name of a header`;
    if (OF_THE_CONNECTION.has(name.toLowerCase())) return `the header ${name} cannot be set`;
    if (/[\r\n\0]/.test(typeof value === 'string' ? value : (value.prefix ?? ''))) return `the header ${name} has a line break in it`;
  }
  return undefined;
}

/** By names in lower case. `label`: whose they are, for the {@link ToolError} `SecretMissing`. */
export async function secretHeaders(label: string, headers: SecretHeaders = {}, secret?: SecretLookup): Promise<Record<string, string>> {
  const known: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) known[name.toLowerCase()] = await secretText(label, value, secret);
  return known;
}

export async function secretText(label: string, value: SecretText, secret?: SecretLookup): Promise<string> {
  if (typeof value === 'string') return value;
  const found = await secret?.(value.secret);
  if (found === undefined) throw new ToolError(`${label}: the server has no secret ${JSON.stringify(value.secret)}`, { name: 'SecretMissing' });
  return `${value.prefix ?? ''}${found}`;
}
