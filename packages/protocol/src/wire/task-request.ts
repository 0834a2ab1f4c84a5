/** The body that asks for a task, and what the engine makes of it. */
import { z } from 'zod';
import { FermataError } from '../errors.ts';
import { strictOptions } from '../strict-options.ts';
import { type AuthorOptions, CALL_PROGRAM, type TaskRequest } from '../task.ts';
import { fromWire } from '../values.ts';
import { codeConstraintsOf, constraintsSchema, limitsOf, networkOf, policyRuleOf, policyRuleSchema } from './constraints.ts';
import { idSchema, metadataSchema, nameSchema, recordSchema, valueSchema, waitSecondsSchema } from './scalars.ts';

export const languageSchema = z.enum(['python', 'javascript', 'typescript']);
const webAddress = z.url({ protocol: /^https?$/, error: 'an http or https address is wanted' }).max(2000);
export const callbackUrlSchema = webAddress.meta({ description: 'Told by a signed webhook when it has ended or is paused' });

const requestShape = {
  task_id: idSchema.optional().meta({ description: 'Unique per tenant; the same id with the same body is a repeat' }),
  instruction: z.string().min(1).optional(),
  code: z.string().max(10_000_000).optional(),
  language: languageSchema.optional(),
  tool_call: strictOptions({ name: nameSchema, arguments: recordSchema.optional() }).optional(),
  session_id: nameSchema.optional(),
  shared_interpreter: z.boolean().optional(),
  sandbox: z.enum(['auto', 'wasm', 'jail', 'gvisor', 'docker']).optional(),
  image: z.string().nullable().optional(),
  tools: z.array(nameSchema).max(1000).optional().meta({ description: 'Patterns of names; absent: all tools of the tenant' }),
  input: valueSchema.optional(),
  stdin: z
    .union([z.string(), z.strictObject({ $fermata: z.tuple([z.literal('bytes'), z.base64()]) })])
    .optional()
    .meta({ description: 'A text, or bytes as {"$fermata": ["bytes", "<base64>"]}' }),
  file_name: z.string().min(1).max(255).optional().meta({ description: 'The name of the program in its tracebacks (Python)' }),
  files: z
    .array(strictOptions({ file_id: nameSchema, path: z.string().regex(/^\/(work|tmp)(\/(?!\.{1,2}(\/|$))[^/\0]+)+$/, 'files go into /work or /tmp') }))
    .max(1000)
    .optional(),
  tool_constraints: constraintsSchema.optional(),
  policy: z.array(policyRuleSchema).max(1000).optional(),
  model: strictOptions({
    name: nameSchema.optional().meta({ description: '<provider>/<model>; default: that of the server' }),
    max_repairs: z.int().min(0).max(20).optional().meta({ description: 'How often what is wrong with a program goes back to the model. Default: 3' }),
    max_tokens: z.int().min(1).optional().meta({ description: 'Tokens after which the task pauses; a resume gives it as many again' }),
    approve_plan: z.boolean().optional().meta({ description: 'Each program waits for a person before it runs' }),
  }).optional(),
  retry: strictOptions({ max_attempts: z.int().min(1).max(100).default(1), backoff_seconds: z.number().min(0).max(86_400).default(1) }).optional(),
  priority: z.int().min(-1000).max(1000).optional(),
  metadata: metadataSchema.optional(),
  callback_url: callbackUrlSchema.optional(),
};

/** A task of a batch: everything but waiting. */
export const taskRequestSchema = strictOptions(requestShape).meta({ id: 'TaskRequest', description: 'Exactly one of code, instruction, tool_call' });
export const createTaskSchema = strictOptions({ ...requestShape, wait_seconds: waitSecondsSchema.optional() }).meta({
  id: 'CreateTask',
  description: 'Exactly one of code, instruction, tool_call',
});
export const executeSchema = strictOptions({
  call_id: idSchema.optional(),
  query: z.string().min(1).optional(),
  code: requestShape.code,
  tool_call: requestShape.tool_call,
  language: languageSchema.optional().meta({ description: 'Default: python' }),
  input: requestShape.input,
  model: requestShape.model,
  session_id: requestShape.session_id,
  tools: requestShape.tools,
  tool_constraints: requestShape.tool_constraints,
  wait_seconds: waitSecondsSchema.optional().meta({ description: 'Default: 300' }),
}).meta({ id: 'Execute', description: 'Exactly one of code, query, tool_call' });

export type TaskRequestWire = z.input<typeof taskRequestSchema>;
export type CreateTaskWire = z.input<typeof createTaskSchema>;
export type ExecuteWire = z.input<typeof executeSchema>;
type Given = z.output<typeof taskRequestSchema>;

/** The request that the engine takes; throws where a body asks for what cannot be had. `files`: the blob of each file id. */
export function toTaskRequest(given: Given, files: ReadonlyMap<string, string> = new Map()): TaskRequest {
  refuseImpossible(given);
  const request: TaskRequest = { ...programOf(given) };
  const constraints = given.tool_constraints ?? {};
  const limits = limitsOf(constraints);
  if (Object.keys(limits).length > 0) request.limits = limits;
  const network = networkOf(constraints);
  if (network) request.network = network;
  Object.assign(request, codeConstraintsOf(constraints));
  if (given.files?.length) request.files = given.files.map(({ file_id, path }) => ({ path, blob: files.get(file_id) ?? file_id }));
  if (given.tools) request.tools = given.tools;
  if (given.policy) request.policy = given.policy.map(policyRuleOf);
  if (given.retry) request.retry = { maxAttempts: given.retry.max_attempts, backoffMs: Math.round(given.retry.backoff_seconds * 1000) };
  if (given.priority !== undefined) request.priority = given.priority;
  if (given.session_id !== undefined) request.sessionId = given.session_id;
  if (given.shared_interpreter) request.sharedInterpreter = true;
  if (given.metadata) request.metadata = given.metadata;
  if (given.callback_url !== undefined) request.callbackUrl = given.callback_url;
  return request;
}

function programOf(given: Given): TaskRequest {
  if (given.tool_call) {
    const { name, arguments: args = {} } = given.tool_call;
    checkValue(args, 'tool_call.arguments');
    return { language: 'javascript', code: CALL_PROGRAM, input: { name, arguments: args }, toolCall: { name, arguments: args } };
  }
  const request: TaskRequest = {};
  if (given.language !== undefined) request.language = given.language;
  if (given.code !== undefined) request.code = given.code;
  if (given.instruction !== undefined) request.instruction = given.instruction;
  if (given.model) request.model = authorOf(given.model);
  if (given.input !== undefined) {
    checkValue(given.input, 'input');
    request.input = given.input;
  }
  if (given.stdin !== undefined) request.stdin = given.stdin;
  if (given.file_name !== undefined) request.fileName = given.file_name;
  return request;
}

function authorOf({ name, max_repairs, max_tokens, approve_plan }: NonNullable<Given['model']>): AuthorOptions {
  return {
    ...(name === undefined ? {} : { name }),
    ...(max_repairs === undefined ? {} : { maxRepairs: max_repairs }),
    ...(max_tokens === undefined ? {} : { maxTokens: max_tokens }),
    ...(approve_plan === undefined ? {} : { approvePlan: approve_plan }),
  };
}

function refuseImpossible(given: Given): void {
  const ways = (['code', 'instruction', 'tool_call'] as const).filter((key) => given[key] !== undefined);
  if (ways.length !== 1) throw invalid(`give exactly one of code, instruction and tool_call${ways.length ? `, not ${ways.join(' and ')}` : ''}`);
  if (given.model && given.instruction === undefined) throw invalid('model: goes with an instruction, and has no meaning otherwise');
  if (given.code !== undefined && given.language === undefined) throw invalid('code needs a language: python, javascript or typescript');
  const idle = (['language', 'input', 'stdin', 'file_name', 'files', 'shared_interpreter'] as const).find((key) => given.tool_call !== undefined && given[key] !== undefined);
  if (idle) throw invalid(`${idle}: goes with code, and has no meaning for a tool_call`);
  if (given.shared_interpreter && given.session_id === undefined) throw invalid('shared_interpreter: needs a session_id');
  if (given.shared_interpreter && given.language === undefined) throw invalid('shared_interpreter: needs a language, which is that of the interpreter');
  if (given.sandbox !== undefined && given.sandbox !== 'auto' && given.sandbox !== 'wasm') {
    throw new FermataError('sandbox_unavailable', `sandbox: ${given.sandbox} cannot be had here`, { hint: 'Use "wasm", or leave it out.' });
  }
  if (given.image != null) throw new FermataError('sandbox_unavailable', 'image: the sandbox wasm has one image for each language', { hint: 'Leave it out.' });
}

function checkValue(value: unknown, at: string): void {
  try {
    fromWire(value, at);
  } catch (error) {
    throw invalid((error as Error).message);
  }
}

const invalid = (message: string) => new FermataError('invalid_request', message);
