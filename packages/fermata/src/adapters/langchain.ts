/**
 * LangChain.js and LangGraph: `codeTool(tools)` is one tool in place of an agent's tools.
 *
 * In a graph each stretch of a program and each of its calls is a task of LangGraph's, so what has been done stands in the
 * checkpointer and is done once, whatever becomes of the process. A call that needs approval, or a tool that calls `interrupt`
 * itself, interrupts the graph, and `Command({ resume })` goes on where the program was. Outside of a graph it just runs.
 */
import { FermataError } from '@fermata/protocol';
import type { ToolCallInfo, ToolDefinition } from '@fermata/tools';
import { type DynamicStructuredTool, tool as makeTool, type StructuredToolInterface } from '@langchain/core/tools';
import { toJsonSchema } from '@langchain/core/utils/json_schema';
import { z } from 'zod';
import { LANGUAGES } from './code-description.ts';
import type { CodeOutcome, WaitingCall } from './code-outcome.ts';
import { answerOf, type CodeAnswer, type CodeProgram, type CodeToolOptions, createCodePrograms } from './code-programs.ts';

export type { CodeProgram, CodeToolOptions };

type Decision = 'approve' | 'edit' | 'reject' | 'respond';

export interface LangChainCodeToolOptions extends CodeToolOptions {
  /** Default: `code`. */
  name?: string;
  /** By the name of a tool: whether somebody is asked before each of its calls, and what may be decided. As in `humanInTheLoopMiddleware`. */
  interruptOn?: Readonly<Record<string, boolean | { allowedDecisions?: readonly Decision[]; description?: string }>>;
}

/** What interrupts the graph: the calls that wait, in their order. The form of `humanInTheLoopMiddleware`. */
export interface CodeInterrupt {
  actionRequests: { name: string; args: Record<string, unknown>; description: string }[];
  reviewConfigs: { actionName: string; allowedDecisions: Decision[] }[];
  /** What was wrong with the decisions that were given before. */
  problem?: string;
}

/** What `Command({ resume })` gives: one decision for each of the calls, in their order. */
export interface CodeDecisions {
  decisions: (
    | { type: 'approve' }
    | { type: 'edit'; editedAction: { name: string; args: Record<string, unknown> } }
    | { type: 'reject'; message?: string }
    | { type: 'respond'; message: unknown }
  )[];
}

type Config = Record<string, unknown> & { configurable?: Record<string, unknown>; signal?: AbortSignal; toolCallId?: string; toolCall?: { id?: string } };

/** One tool whose input is a program that calls these tools. */
export function codeTool(tools: readonly StructuredToolInterface[], { name = 'code', interruptOn = {}, ...options }: LangChainCodeToolOptions = {}): DynamicStructuredTool {
  const programs = createCodePrograms(options);
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const unknown = Object.keys(interruptOn).find((key) => !byName.has(key));
  if (unknown !== undefined) throw new FermataError('invalid_request', `interruptOn: there is no tool ${unknown}`);
  const asks = (tool: string) => Object.hasOwn(interruptOn, tool) && interruptOn[tool] !== false;
  const definitions = tools.map((tool): ToolDefinition => ({ name: tool.name, description: tool.description, parameters: toJsonSchema(tool.schema) as Record<string, unknown> }));

  const call = (called: string, args: Record<string, unknown>, config: Config, callId: number | string) => {
    const toolCallId = `${config.toolCallId ?? config.toolCall?.id ?? name}:${callId}`;
    return (byName.get(called) as StructuredToolInterface).invoke(args as never, { ...config, toolCallId, toolCall: undefined } as never);
  };

  /** With nobody to ask. */
  const runAlone = (program: CodeProgram, config: Config): Promise<CodeOutcome> => {
    const atWork = definitions.map((definition) => ({
      ...definition,
      requiresApproval: asks(definition.name),
      execute: (args: unknown, { callId, signal }: ToolCallInfo) => call(definition.name, args as Record<string, unknown>, { ...config, signal }, callId),
    }));
    const judge = () => ({ act: 'reject' as const, reason: 'nobody can be asked outside of a graph with a checkpointer' });
    return programs.start(program, { tools: atWork, judge, signal: config.signal });
  };

  const runInGraph = async (program: CodeProgram, config: Config): Promise<CodeOutcome> => {
    const { getConfig, interrupt, isGraphBubbleUp, task } = await import('@langchain/langgraph');
    const atWork = { tools: definitions, signal: config.signal };
    const start = task(`${name}: start`, async () => programs.start(program, atWork));
    const resume = task(`${name}: resume`, async (state: string, answers: Answered[]) => programs.resume(state, new Map(answers), atWork));
    const carryOut = task(
      `${name}: call`,
      async (called: string, args: Record<string, unknown>, callId: number): Promise<CodeAnswer> =>
        answerOf(
          () => call(called, args, { ...config, ...getConfig() }, callId),
          (error) => isGraphBubbleUp(error as Error) || config.signal?.aborted === true,
        ),
    );
    // An interrupt of a task of its own takes no answer that was given to another.
    const ask = task(`${name}: ask`, async (request: CodeInterrupt) => interrupt<CodeInterrupt, CodeDecisions>(request));
    const whole = task(name, async (): Promise<CodeOutcome> => {
      let outcome = await start();
      while (outcome.status === 'waiting') {
        const { waitingFor } = outcome;
        const asked = waitingFor.filter(({ tool }) => asks(tool));
        const free = waitingFor.filter(({ tool }) => !asks(tool));
        const agreed = async (): Promise<Answered[]> => {
          const request = interruptOf(asked, interruptOn);
          let given = await ask(request);
          for (let problem = problemOf(given, request); problem !== undefined; problem = problemOf(given, request)) given = await ask({ ...request, problem });
          const { decisions } = given;
          return allOf(asked.map(async (call, i): Promise<Answered> => [call.callId, await decided(call, decisions[i] as Made, carryOut)]));
        };
        // One after the other: of interrupts side by side LangGraph tells one, and gives its answer to all.
        const answers = await allOf(free.map(async ({ callId, tool, arguments: args }): Promise<Answered> => [callId, await carryOut(tool, args, callId)]));
        if (asked.length > 0) answers.push(...(await agreed()));
        outcome = await resume(outcome.state, answers);
      }
      return outcome;
    });
    return whole();
  };

  return makeTool(
    async (program: CodeProgram, runtime: unknown) => {
      const config = runtime as Config;
      const inGraph = config.configurable !== undefined && '__pregel_call' in config.configurable;
      return (await (inGraph ? runInGraph(program, config) : runAlone(program, config))).text;
    },
    {
      name,
      description: programs.describe(definitions),
      schema: z.object({ language: z.enum((options.languages ?? LANGUAGES) as ['python']), code: z.string().describe('The program.') }),
    } as never,
  ) as unknown as DynamicStructuredTool;
}

function interruptOf(calls: readonly WaitingCall[], interruptOn: NonNullable<LangChainCodeToolOptions['interruptOn']>): CodeInterrupt {
  const configOf = (tool: string) => (typeof interruptOn[tool] === 'object' ? interruptOn[tool] : {});
  const allowed = (tool: string): Decision[] => [...(configOf(tool).allowedDecisions ?? (['approve', 'edit', 'reject', 'respond'] as const))];
  return {
    actionRequests: calls.map(({ tool, arguments: args }) => ({
      name: tool,
      args,
      description: configOf(tool).description ?? `A program calls ${tool} with ${JSON.stringify(args)}`,
    })),
    reviewConfigs: [...new Set(calls.map(({ tool }) => tool))].map((tool) => ({ actionName: tool, allowedDecisions: allowed(tool) })),
  };
}

/** Decisions that do not fit are asked for again, as what they were to decide still waits. */
function problemOf(given: CodeDecisions | undefined, { actionRequests, reviewConfigs }: CodeInterrupt): string | undefined {
  const decisions = given?.decisions;
  if (!Array.isArray(decisions) || decisions.length !== actionRequests.length)
    return `resume with { decisions: [...] }, one for each of ${actionRequests.map(({ name }) => name).join(', ')}, in this order`;
  for (const [i, decision] of decisions.entries()) {
    const { name } = actionRequests[i] as CodeInterrupt['actionRequests'][number];
    const allowed = reviewConfigs.find(({ actionName }) => actionName === name)?.allowedDecisions ?? [];
    if (!allowed.includes(decision?.type)) return `decision ${i + 1}, on ${name}, is to be ${allowed.join(' or ')}`;
    if (decision.type === 'edit' && decision.editedAction?.name !== name)
      return `decision ${i + 1}: a call of ${name} cannot become another; its editedAction is to have that name, and args`;
  }
  return undefined;
}

type Made = CodeDecisions['decisions'][number];
type Answered = [callId: number, CodeAnswer];
type CarryOut = (tool: string, args: Record<string, unknown>, callId: number) => Promise<CodeAnswer | Promise<CodeAnswer>>;

/** What was begun comes to its end, and is kept, before anything interrupts the graph. */
async function allOf<T>(calls: Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(calls);
  return settled.map((call) => {
    if (call.status === 'rejected') throw call.reason;
    return call.value;
  });
}

async function decided({ callId, tool, arguments: args }: WaitingCall, decision: Made, carryOut: CarryOut): Promise<CodeAnswer> {
  switch (decision.type) {
    case 'approve':
      return carryOut(tool, args, callId);
    case 'edit':
      return carryOut(tool, decision.editedAction.args, callId);
    case 'reject':
      return { error: { name: 'ApprovalRejected', message: `the call of ${tool} was rejected${decision.message ? `: ${decision.message}` : ''}` } };
    case 'respond':
      return { output: decision.message };
  }
}
