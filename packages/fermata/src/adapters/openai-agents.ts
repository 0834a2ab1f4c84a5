/**
 * OpenAI Agents SDK: `codeTool(tools)` is one tool in place of an agent's function tools.
 *
 * It is an agent as a tool whose model is the program: what a program calls reaches the SDK as the function calls of a reply, so the
 * SDK itself carries them out, side by side, with their guardrails, approvals and traces, and a call that needs approval is an
 * interruption of the run that carries its own name and arguments. The state of a program stands in its calls, sealed, and so in
 * the `RunState`: nothing of it is kept here, and a run that is restored elsewhere goes on where the program was.
 */
import { FermataError } from '@fermata/protocol';
import type { ToolDefinition } from '@fermata/tools';
import { Agent, type FunctionTool, type Model, type ModelRequest, type ModelResponse, type StreamEvent, type Tool, Usage } from '@openai/agents';
import { z } from 'zod';
import { LANGUAGES } from './code-description.ts';
import type { CodeOutcome } from './code-outcome.ts';
import { answerOf, type CodeAnswer, type CodeProgram, type CodePrograms, type CodeToolOptions, createCodePrograms, type ToolsAtWork } from './code-programs.ts';

export type { CodeProgram, CodeToolOptions };

export interface AgentsCodeToolOptions extends CodeToolOptions {
  /** Default: `code`. */
  name?: string;
}

type Item = Exclude<ModelRequest['input'], string>[number];
type CallItem = Extract<Item, { type: 'function_call' }>;
type ResultItem = Extract<Item, { type: 'function_call_result' }>;

/** What a tool says whose own `errorFunction` is the SDK's: its error is not told, so that is all there is. */
const FAILED = 'An error occurred while running the tool. Please try again.';

/** One tool whose input is a program that calls these tools. */
export function codeTool<Context>(tools: readonly Tool<Context>[], { name = 'code', ...options }: AgentsCodeToolOptions = {}) {
  const programs = createCodePrograms(options);
  const functions = tools.map(mustBeFunction);
  const definitions = functions.map(
    (tool): ToolDefinition => ({ name: tool.name, description: tool.description, parameters: tool.parameters as unknown as Record<string, unknown> }),
  );
  const program = new Agent<Context>({ name, instructions: '', model: new ProgramModel(programs, definitions), tools: functions.map(enveloped) });
  return program.asTool({
    toolName: name,
    toolDescription: programs.describe(definitions),
    parameters: z.object({ language: z.enum((options.languages ?? LANGUAGES) as ['python']), code: z.string().describe('The program.') }),
    inputBuilder: ({ params }) => JSON.stringify(params),
    runOptions: { maxTurns: null },
  });
}

function mustBeFunction<Context>(tool: Tool<Context>): FunctionTool<Context> {
  if (tool.type === 'function') return tool as FunctionTool<Context>;
  throw new FermataError('invalid_request', `tool ${tool.name}: a program can call function tools only; give this one to the agent beside the code tool`);
}

/** The tool, with what comes of it told apart from what the SDK says in its place. */
function enveloped<Context>(tool: FunctionTool<Context>): FunctionTool<Context> {
  const { outputSchema: _, errorFunction: __, ...rest } = tool;
  return {
    ...rest,
    invoke: async (runContext, input, details) =>
      JSON.stringify(
        await answerOf(
          async () => {
            const output: unknown = await tool.invoke(runContext, input, details);
            if (output === FAILED) throw new Error('the tool failed, and does not tell why; give it `errorFunction: null`, and programs see its errors');
            return output;
          },
          (error) => details?.signal?.aborted === true || error === details?.signal?.reason,
        ),
      ),
    timeoutErrorFunction: (_context, { message }) => JSON.stringify({ error: { name: 'Timeout', message } }),
  };
}

class ProgramModel implements Model {
  readonly #programs: CodePrograms;
  readonly #tools: readonly ToolDefinition[];

  constructor(programs: CodePrograms, tools: readonly ToolDefinition[]) {
    this.#programs = programs;
    this.#tools = tools;
  }

  async getResponse({ input, tools, signal }: ModelRequest): Promise<ModelResponse> {
    const outcome = await this.#advanced(input, new Set(tools.map(({ name }) => name)), signal);
    return { usage: new Usage(), output: outcome.status === 'waiting' ? callsOf(outcome) : [messageOf(outcome.text)] };
  }

  async *getStreamedResponse(request: ModelRequest): AsyncIterable<StreamEvent> {
    const { output } = await this.getResponse(request);
    const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
    yield { type: 'response_done', response: { id: 'program', output, usage } } as StreamEvent;
  }

  /** `enabled`: names of the tools that this run has. */
  async #advanced(input: ModelRequest['input'], enabled: ReadonlySet<string>, signal: AbortSignal | undefined): Promise<CodeOutcome> {
    const atWork: ToolsAtWork = { tools: this.#tools, signal };
    try {
      let outcome = await this.#next(typeof input === 'string' ? [] : input, typeof input === 'string' ? input : textOf(input[0]), atWork);
      for (;;) {
        const gone = outcome.status === 'waiting' ? outcome.waitingFor.filter(({ tool }) => !enabled.has(tool)) : [];
        if (outcome.status !== 'waiting' || gone.length === 0) return outcome;
        const refused = gone.map(({ callId, tool }): [number, CodeAnswer] => [callId, { error: { name: 'UnknownTool', message: `the tool ${tool} is not enabled` } }]);
        outcome = await this.#programs.resume(outcome.state, new Map(refused), atWork);
      }
    } catch (error) {
      if (signal?.aborted || !(error instanceof FermataError)) throw error;
      // The SDK would hide the reason, and ask the model to try again.
      const message = `${error.message}. What the program had called has taken effect; do not run it again`;
      return { status: 'failed', text: `The program cannot go on: ${error.code}: ${message}.`, error: { code: error.code, message } };
    }
  }

  async #next(items: readonly Item[], program: string, atWork: ToolsAtWork): Promise<CodeOutcome> {
    const calls = items.filter((item): item is CallItem => item.type === 'function_call');
    const at = calls.findLastIndex(({ providerData }) => providerData?.fermata !== undefined);
    const held = calls[at]?.providerData?.fermata as { state: string } | undefined;
    if (!held) return this.#programs.start(JSON.parse(program) as CodeProgram, atWork);
    const results = new Map(items.flatMap((item) => (item.type === 'function_call_result' ? [[item.callId, item] as const] : [])));
    const answers = calls.slice(at).flatMap(({ callId }): [number, CodeAnswer][] => {
      const result = results.get(callId);
      return result ? [[Number(callId.slice(callId.lastIndexOf(':') + 1)), answerIn(result)]] : [];
    });
    return this.#programs.resume(held.state, new Map(answers), atWork);
  }
}

/** The first of them has the state. */
function callsOf({ taskId, state, waitingFor }: Extract<CodeOutcome, { status: 'waiting' }>): ModelResponse['output'] {
  return waitingFor.map(({ callId, tool, arguments: args }, i) => ({
    type: 'function_call' as const,
    callId: `${taskId}:${callId}`,
    name: tool,
    arguments: JSON.stringify(args),
    status: 'completed' as const,
    ...(i === 0 ? { providerData: { fermata: { state } } } : {}),
  }));
}

function messageOf(text: string): ModelResponse['output'][number] {
  return { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] };
}

/** What is no envelope is the SDK's word on a call that it has not let through. */
function answerIn({ output }: ResultItem): CodeAnswer {
  const text = typeof output === 'string' ? output : textIn(output);
  const said = parsed(text);
  if (said !== null && typeof said === 'object' && ('output' in said || 'error' in said)) return said as CodeAnswer;
  return { error: { name: 'ApprovalRejected', message: text } };
}

function textIn(output: unknown): string {
  const parts = Array.isArray(output) ? output : [output];
  return parts.map((part: { text?: unknown }) => (typeof part?.text === 'string' ? part.text : JSON.stringify(part))).join('');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function textOf(item: Item | undefined): string {
  const content = item && 'content' in item ? item.content : '';
  return typeof content === 'string' ? content : textIn(content);
}
