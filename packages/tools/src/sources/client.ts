/** Tools whose calls are carried out by the API's client: the task waits until the client has posted the result. */
import type { ClientToolSpec } from '@fermata/protocol/wire';
import { defineTool, type Tool } from '../tool.ts';
import { foreignParameters } from './foreign-parameters.ts';

export function clientTool(spec: ClientToolSpec): Tool {
  return defineTool({
    name: spec.name,
    description: spec.description ?? '',
    parameters: foreignParameters(spec),
    idempotent: spec.idempotent ?? false,
    requiresApproval: spec.requires_approval ?? false,
    ...(spec.timeout_seconds === undefined ? {} : { timeoutMs: Math.round(spec.timeout_seconds * 1000) }),
  });
}
