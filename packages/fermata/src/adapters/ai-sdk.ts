/**
 * Vercel AI SDK: `codeTool(tools)` is one tool in place of the tools of `generateText`, `streamText` or an agent.
 *
 * A program that must wait makes the tool's output; its state stands in the provider options of the tool's result, which the
 * model is not sent, so the messages of the conversation are all that has to be kept. `resume` takes them and gives them back
 * with the program's result.
 */
import { FermataError } from '@fermata/protocol';
import { defineTool, type Tool as FermataTool, ToolError } from '@fermata/tools';
import {
  asSchema,
  type GenericToolApprovalFunction,
  jsonSchema,
  type ModelMessage,
  type Tool,
  type ToolApprovalConfiguration,
  type ToolApprovalStatus,
  type ToolExecutionOptions,
  type ToolSet,
} from 'ai';
import type { WaitingFor } from '../task-result.ts';
import { codeApprovals } from './ai-sdk-approvals.ts';
import { codeWaits, idsIn, isContinuing, modelOutput, type ResultPart, resultToContinue, stateOf, type WaitingCodeCall, waitingCode, waitingOf } from './ai-sdk-messages.ts';
import type { CodeOutcome, WaitingCall } from './code-outcome.ts';
import { type CallVerdict, type CodeAnswer, type CodeProgram, type CodeToolOptions, createCodePrograms, type ToolsAtWork } from './code-programs.ts';

export type { CodeAnswer, CodeOutcome, CodeProgram, CodeToolOptions, WaitingCall, WaitingCodeCall };
export { codeApprovals, codeWaits, waitingCode };

/** By the name of each tool that has a context, that context. */
type ToolsContext<TOOLS extends ToolSet> =
  Extract<ToolApprovalConfiguration<TOOLS, unknown>, (...args: never[]) => unknown> extends GenericToolApprovalFunction<TOOLS, infer CONTEXT, unknown> ? CONTEXT : never;

export interface AiCodeToolOptions<TOOLS extends ToolSet> extends CodeToolOptions {
  /** What the SDK knows as `toolApproval`, for the tools inside of programs. A tool's own `needsApproval` holds where it says nothing. */
  toolApproval?: ToolApprovalConfiguration<TOOLS, unknown>;
}

export interface ResumeOptions<TOOLS extends ToolSet> {
  messages: readonly ModelMessage[];
  /** By {@link WaitingCodeCall.id}; what is not answered is waited for again. */
  answers: Readonly<Record<string, CodeAnswer>>;
  abortSignal?: AbortSignal;
  /** For tools with a `contextSchema`, as the SDK's `toolsContext`. */
  toolsContext?: ToolsContext<TOOLS>;
}

export type CodeTool<TOOLS extends ToolSet> = {
  type?: undefined;
  execute: (input: CodeProgram, options: ToolExecutionOptions<ToolsContext<TOOLS>>) => Promise<CodeOutcome>;
  /** Goes on with the programs whose calls are answered; gives the messages with what came of them in the place of what said that they wait. */
  resume(options: ResumeOptions<TOOLS>): Promise<ModelMessage[]>;
} & Tool<CodeProgram, CodeOutcome, ToolsContext<TOOLS>>;

/** One tool whose input is a program that calls these tools. */
export function codeTool<TOOLS extends ToolSet>(tools: TOOLS, { toolApproval, ...options }: AiCodeToolOptions<TOOLS> = {}): CodeTool<TOOLS> {
  const programs = createCodePrograms(options);
  const names = Object.keys(tools);
  const atWork = (given: ToolExecutionOptions<ToolsContext<TOOLS>>): ToolsAtWork => ({
    tools: names.map((name) => definitionOf(name, tools[name] as Tool, given, { required: toolApproval !== undefined })),
    judge: (call) => verdictOn(call, tools, toolApproval, given),
    signal: given.abortSignal,
  });
  return {
    description: programs.describe(names.map((name) => definitionOf(name, tools[name] as Tool))),
    inputSchema: jsonSchema<CodeProgram>(programs.inputSchema),
    ...(names.some((name) => tools[name]?.contextSchema) ? { contextSchema: jsonSchema<ToolsContext<TOOLS>>({ type: 'object' }) } : {}),
    /** Only for what `codeApprovals` asks in the model's place; a model that says the same has to be approved, too. */
    needsApproval: (input: unknown) => isContinuing(input) && input.denied === undefined,
    execute: (input: unknown, given: ToolExecutionOptions<ToolsContext<TOOLS>>) => {
      if (!isContinuing(input)) return programs.start(input as CodeProgram, atWork(given));
      const { state, call } = resultToContinue(given, input);
      const answer: CodeAnswer = input.denied === undefined ? { approve: true } : { approve: false, reason: input.denied };
      return programs.resume(state, new Map([[call.callId, { ...answer, of: call }]]), atWork(given));
    },
    toModelOutput: ({ output }: { output: CodeOutcome }) => modelOutput(output),
    async resume({ messages, answers, abortSignal, toolsContext }: ResumeOptions<TOOLS>) {
      const left = new Set(Object.keys(answers));
      const waitedFor = new Set(waitingCode(messages).map(({ id }) => id));
      const unknown = [...left].filter((id) => !waitedFor.has(id));
      // Before any program goes on: what it does then is lost with the messages that are not given back.
      if (unknown.length > 0) throw new FermataError('invalid_request', `no program in these messages waits for ${unknown.join(', ')}; they wait for ${idsIn(messages)}`);
      const goOn = async (part: ResultPart): Promise<ResultPart> => {
        const waiting = waitingOf(part);
        const answered = waiting.flatMap((call) => (left.delete(call.id) ? [[call.callId, { ...(answers[call.id] as CodeAnswer), of: call }] as const] : []));
        if (answered.length === 0) return part;
        const given = { toolCallId: part.toolCallId, messages: [...messages], context: toolsContext as ToolsContext<TOOLS>, ...(abortSignal ? { abortSignal } : {}) };
        return { ...part, output: modelOutput(await programs.resume(stateOf(part) as string, new Map(answered), atWork(given))) };
      };
      return Promise.all(
        messages.map(async (message) =>
          message.role === 'tool' ? { ...message, content: await Promise.all(message.content.map((part) => (part.type === 'tool-result' ? goOn(part) : part))) } : message,
        ),
      );
    },
  } as unknown as CodeTool<TOOLS>;
}

/** `given`: of the code tool's call, in which the tool is called; absent where it is only described. */
function definitionOf(name: string, tool: Tool, given?: ToolExecutionOptions<unknown>, { required } = { required: false }): FermataTool {
  if (tool.type === 'provider' && tool.isProviderExecuted)
    throw new FermataError('invalid_request', `tool ${name}: its provider carries it out, so no program can call it; give it to the model beside the code tool`);
  const schema = asSchema(tool.inputSchema);
  const { execute, description } = tool;
  const made = defineTool({
    name,
    ...(typeof description === 'string' ? { description } : {}),
    parameters: jsonOf(schema, name),
    requiresApproval: execute !== undefined && (required || Boolean(tool.needsApproval)),
    ...(execute
      ? {
          execute: async (args: Record<string, unknown>, { callId, signal }) => {
            if (!given) return undefined;
            const checked = (await schema.validate?.(args)) ?? { success: true, value: args };
            if (!checked.success) throw new ToolError(`invalid arguments for ${name}: ${checked.error.message}`, { name: 'InvalidArguments' });
            const options = { ...given, toolCallId: `${given.toolCallId}:${callId}`, context: await contextOf(name, tool, given), abortSignal: signal };
            await tool.onInputAvailable?.({ ...options, input: checked.value });
            return lastOf(await execute(checked.value, options));
          },
        }
      : {}),
  });
  // Told to the model, and not checked, as the SDK has it.
  return tool.outputSchema ? { ...made, result: jsonOf(asSchema(tool.outputSchema), name) } : made;
}

function jsonOf(schema: ReturnType<typeof asSchema>, name: string): Record<string, unknown> {
  const json = schema.jsonSchema;
  if ('then' in json) throw new FermataError('invalid_request', `tool ${name}: its JSON Schema is not there yet; await it and give it by jsonSchema()`);
  return json as Record<string, unknown>;
}

async function contextOf(name: string, { contextSchema }: Tool, given: ToolExecutionOptions<unknown>): Promise<unknown> {
  const context = (given.context as Record<string, unknown> | undefined)?.[name];
  if (!contextSchema) return context;
  const checked = (await asSchema(contextSchema).validate?.(context)) ?? { success: true, value: context };
  if (!checked.success)
    throw new FermataError('invalid_request', `the context of the tool ${name}: ${checked.error.message}; give it in toolsContext under the code tool's name, by the tool's`);
  return checked.value;
}

/** A tool may answer by a stream, of which the last value counts. */
async function lastOf(output: unknown): Promise<unknown> {
  if (output === null || typeof output !== 'object' || !(Symbol.asyncIterator in output)) return output;
  let last: unknown;
  for await (const value of output as AsyncIterable<unknown>) last = value;
  return last;
}

async function verdictOn<TOOLS extends ToolSet>(
  { tool: name, callId, arguments: input }: WaitingFor,
  tools: TOOLS,
  toolApproval: ToolApprovalConfiguration<TOOLS, unknown> | undefined,
  given: ToolExecutionOptions<ToolsContext<TOOLS>>,
): Promise<CallVerdict> {
  const tool = tools[name] as Tool;
  const toolCallId = `${given.toolCallId}:${callId}`;
  const { messages } = given;
  if (typeof toolApproval === 'function') {
    const toolCall = { type: 'tool-call', toolCallId, toolName: name, input } as never;
    return verdictOf(await toolApproval({ toolCall, tools, toolsContext: given.context as never, messages, runtimeContext: undefined }));
  }
  const toolContext = await contextOf(name, tool, given);
  const set =
    toolApproval && Object.hasOwn(toolApproval, name)
      ? (toolApproval[name] as ToolApprovalStatus | ((input: unknown, options: object) => ToolApprovalStatus | PromiseLike<ToolApprovalStatus>))
      : undefined;
  if (set !== undefined) return verdictOf(typeof set === 'function' ? await set(input, { toolCallId, messages, toolContext, runtimeContext: undefined }) : set);
  const { needsApproval } = tool;
  const asks = typeof needsApproval === 'function' ? await needsApproval(input, { toolCallId, messages, context: toolContext }) : needsApproval;
  return asks ? { act: 'ask' } : { act: 'go' };
}

function verdictOf(status: ToolApprovalStatus): CallVerdict {
  const { type, reason } = typeof status === 'object' ? { reason: undefined, ...status } : { type: status, reason: undefined };
  if (type === 'denied') return { act: 'reject', reason };
  return type === 'user-approval' ? { act: 'ask' } : { act: 'go' };
}
