/** A value that a JSON Schema lets through, for most schemas that documents of services have. */
type Schema = Record<string, unknown>;

const OF_FORMAT: Record<string, string> = {
  'date-time': '2024-01-02T03:04:05Z',
  date: '2024-01-02',
  uri: 'https://example.com/',
  email: 'ann@example.com',
  uuid: '3fa85f64-5717-4562-b3fc-2c963f66afa6',
};
/** Levels of records after which only what is required is made. */
const DEEP = 4;

/** `root`: where `$ref` lead. */
export function sample(given: unknown, root: unknown, depth = 0): unknown {
  const schema = whole(given, root);
  if (depth > 12) return null;
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'object' || (type === undefined && schema.properties)) {
    const { properties = {}, required = [] } = schema as { properties?: Schema; required?: string[] };
    // Some documents require what they do not describe.
    const names = new Set([...Object.keys(properties).filter((name) => depth < DEEP && !isImpossible(properties[name])), ...required]);
    return Object.fromEntries([...names].map((name) => [name, sample(properties[name], root, depth + 1)]));
  }
  if (type === 'array')
    return depth > DEEP && !schema.minItems ? [] : Array.from({ length: Math.max(1, Number(schema.minItems ?? 1)) }, () => sample(schema.items, root, depth + 1));
  if (type === 'integer' || type === 'number') return Number(schema.minimum ?? schema.maximum ?? 1);
  if (type === 'boolean') return true;
  if (type === 'null') return null;
  return text(schema);
}

/** Some documents say so of what must not be given. */
function isImpossible(schema: unknown): boolean {
  const { minLength = 0, maxLength = minLength } = (schema ?? {}) as { minLength?: number; maxLength?: number };
  return minLength > maxLength;
}

function text({ format, minLength, maxLength, pattern }: Schema): string {
  const plain = OF_FORMAT[String(format)] ?? 'text';
  const long = plain.padEnd(Number(minLength ?? 0), 'x').slice(0, Number(maxLength ?? 1000));
  if (typeof pattern !== 'string' || new RegExp(pattern).test(long)) return long;
  return ['a', '1', 'a-b', '#ffffff', '/a', ':a:', 'a.co/b', 'refs/heads/a', 'integration:a', 'text/x'].find((one) => new RegExp(pattern).test(one)) ?? long;
}

/** Without `$ref`, with the first of several and all of what belongs together. */
function whole(given: unknown, root: unknown, steps = 0): Schema {
  if (given === null || typeof given !== 'object' || steps > 30) return {};
  const { $ref, allOf, oneOf, anyOf, ...own } = given as Schema & { allOf?: unknown[]; oneOf?: unknown[]; anyOf?: unknown[] };
  const parts = [...(typeof $ref === 'string' ? [at(root, $ref)] : []), ...(allOf ?? []), ...[oneOf ?? [], anyOf ?? []].flatMap((some) => some.slice(0, 1))];
  return parts.reduce<Schema>((sum, part) => joined(sum, whole(part, root, steps + 1)), own);
}

function joined(a: Schema, b: Schema): Schema {
  const properties = { ...(b.properties as Schema), ...(a.properties as Schema) };
  const required = [...((b.required as string[]) ?? []), ...((a.required as string[]) ?? [])];
  return { ...b, ...a, ...(Object.keys(properties).length > 0 ? { properties, required } : {}) };
}

export function at(root: unknown, ref: string): unknown {
  return ref
    .slice(2)
    .split('/')
    .reduce((part, token) => (part as Schema | undefined)?.[decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~')], root);
}
