/**
 * Tools that a task brings along, for its own client to carry out. Their schemas are foreign, as those of tool sources are:
 * what cannot be compiled checks nothing, because the client checks its arguments anyway.
 */
import { type ClientTool, FermataError, parseOptions } from '@fermata/protocol';
import { strictOptions } from '@fermata/protocol/schemas';
import { z } from 'zod';
import { TOOL_NAME, type Tool } from '../tool.ts';
import { foreignTool } from './foreign-tool.ts';
import { safeName, safeNames } from './safe-name.ts';

const record = z.custom<Record<string, unknown>>((value) => value !== null && typeof value === 'object' && !Array.isArray(value), 'a JSON Schema of an object is wanted');
const clientToolsSchema = z.array(
  strictOptions({
    name: z.string(),
    originalName: z.string().optional(),
    description: z.string().optional(),
    parameters: record.optional(),
  } satisfies Record<keyof ClientTool, z.ZodType>),
);

/** With names that programs can call, dots for groups; throws `invalid_request` where two become the same. */
export function withSafeNames(given: readonly ClientTool[]): ClientTool[] {
  const names = safeNames(
    given.map(({ name }) => name),
    'the request',
    (original) => original.split('.').map(safeName).join('.'),
  );
  return given.map((tool, i) => {
    const name = names[i] as string;
    return name === tool.name ? tool : { ...tool, name, originalName: tool.name };
  });
}

/** As they are called, by name. Throws `invalid_request`. */
export function taskClientTools(given: readonly ClientTool[]): Map<string, Tool> {
  const byName = new Map<string, Tool>();
  for (const { name, description = '', parameters = { type: 'object', properties: {} } } of parseOptions(clientToolsSchema, given, 'clientTools')) {
    if (!TOOL_NAME.test(name)) throw new FermataError('invalid_request', `${JSON.stringify(name)} cannot be the name of a client tool`, { hint: 'Use letters, digits and _.' });
    if (byName.has(name)) throw new FermataError('invalid_request', `two client tools have the name ${name}`);
    if (parameters.type !== undefined && parameters.type !== 'object') {
      throw new FermataError('invalid_request', `client tool ${name}: its parameters must be the JSON Schema of an object`);
    }
    byName.set(name, foreignTool({ name, description, parameters, idempotent: false, requiresApproval: false }));
  }
  return byName;
}
