/** Tools that are source code. The engine runs each call as a task of its own, in its own sandbox with its own limits. */
import type { Language, LimitsInput, NetworkAccess } from '@fermata/protocol';
import { type CodeToolSpec, codeConstraintsOf, limitsOf, networkOf } from '@fermata/protocol/wire';
import { defineTool, type Tool } from '../tool.ts';
import { callLimitsOf } from './call-options.ts';
import { foreignParameters, foreignSchema } from './foreign-parameters.ts';

/** What such a call runs; the arguments are the `input` of the program, and its result is that of the call. */
export interface ToolProgram extends ReturnType<typeof codeConstraintsOf> {
  language: Language;
  code: string;
  limits: LimitsInput;
  network?: NetworkAccess;
}

export function codeTool(spec: CodeToolSpec): { tool: Tool; program: ToolProgram } {
  const constraints = spec.tool_constraints ?? {};
  const tool = defineTool({
    name: spec.name,
    description: spec.description ?? '',
    parameters: foreignParameters(spec),
    idempotent: spec.idempotent ?? false,
    requiresApproval: spec.requires_approval ?? false,
    ...(spec.result ? { result: foreignSchema(spec.name, 'result', spec.result) } : {}),
    ...callLimitsOf(spec),
  });
  const network = networkOf(constraints);
  return {
    tool,
    program: { language: spec.language, code: spec.code, limits: limitsOf(constraints), ...codeConstraintsOf(constraints), ...(network ? { network } : {}) },
  };
}
