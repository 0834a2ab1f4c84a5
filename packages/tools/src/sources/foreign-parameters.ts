/** Schemas that came over the wire: one from outside must not name itself, because names are shared by all. */
import { FermataError } from '@fermata/protocol';

export function foreignParameters({ name, parameters }: { name: string; parameters?: Record<string, unknown> | undefined }): Record<string, unknown> {
  const schema = parameters ?? { type: 'object' };
  if (schema.type !== undefined && schema.type !== 'object') throw new FermataError('invalid_request', `tool ${name}: parameters must be the JSON Schema of an object`);
  return foreignSchema(name, 'parameters', schema);
}

/** `what`: what it is of the tool. */
export function foreignSchema(name: string, what: 'parameters' | 'result', schema: Record<string, unknown>): Record<string, unknown> {
  const refuse = (problem: string) => new FermataError('invalid_request', `tool ${name}: ${problem}`);
  const inside: unknown[] = [schema];
  for (let part = inside.pop(); part !== undefined; part = inside.pop()) {
    if (part === null || typeof part !== 'object') continue;
    const { $id, $ref, $dynamicRef } = part as Record<string, unknown>;
    if (typeof $id === 'string') throw refuse(`${what} must not have an $id`);
    for (const ref of [$ref, $dynamicRef]) if (typeof ref === 'string' && !ref.startsWith('#')) throw refuse(`a $ref in ${what} must begin with #`);
    inside.push(...Object.values(part).filter((value) => value !== undefined));
  }
  return schema;
}
