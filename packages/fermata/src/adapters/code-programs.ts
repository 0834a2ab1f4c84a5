/**
 * The one thing behind all adapters: runs the programs that a model writes over the tools of its agent.
 *
 * A program ends, or stops at calls that somebody must settle, and is then a sealed text. Nothing of it is kept here while it
 * waits, so it goes on in any process that has the key. What a program does wrong is a text for the model and is never thrown.
 */
import { isDeepStrictEqual } from 'node:util';
import { FermataError, fromWire, type Language, type LimitsInput, parseOptions, type SealKey, toWire, type ValueRecord } from '@fermata/protocol';
import { strictOptions } from '@fermata/protocol/schemas';
import { type Tool, type ToolDefinition, toolsByName } from '@fermata/tools';
import { z } from 'zod';
import { createFermata, type Fermata } from '../fermata.ts';
import { folderKey } from '../seal-key-file.ts';
import type { Task } from '../task.ts';
import type { EndedResult, TaskResult, WaitingFor } from '../task-result.ts';
import { codeDescription, LANGUAGES } from './code-description.ts';
import { type CodeOutcome, endedOutcome, waitingOutcome } from './code-outcome.ts';

/** What every adapter's code tool can be told. */
export interface CodeToolOptions {
  /** Runs the programs, and seals those that wait with its `sealKey`. Default: one that is made at first use. */
  fermata?: Fermata;
  /** In the place of `fermata`: seals programs that wait. Default: `FERMATA_SEAL_KEY`, else a key that this process takes with it when it ends. */
  sealKey?: SealKey;
  /** A waiting program goes on only where this is the same text: a user's or a conversation's id. */
  boundTo?: string;
  /** What programs may be written in. Default: all. */
  languages?: readonly Language[];
  limits?: LimitsInput;
  allowedLibraries?: readonly string[];
  strict?: boolean;
  /** Characters of a result or an error that the model is shown. Default: 20 000. */
  maxObservationChars?: number;
  /** Characters of the tools' declarations in the description; above, programs look tools up. Default: 24 000. */
  maxStubsChars?: number;
}

const optionsSchema = strictOptions({
  fermata: z.custom<Fermata>((value) => typeof (value as Fermata | null)?.start === 'function', 'what createFermata makes is wanted').optional(),
  sealKey: z.unknown().optional(),
  boundTo: z.string().optional(),
  languages: z.array(z.enum(LANGUAGES)).min(1).optional(),
  limits: z.unknown().optional(),
  allowedLibraries: z.array(z.string()).optional(),
  strict: z.boolean().optional(),
  maxObservationChars: z.int().min(200).optional(),
  maxStubsChars: z.int().nonnegative().optional(),
} satisfies Record<keyof CodeToolOptions, z.ZodType>);

export interface CodeProgram {
  language: Language;
  code: string;
}

/** How a call that a program waits for is settled. */
export type CodeAnswer =
  | { approve: true; arguments?: Record<string, unknown> }
  | { approve: false; reason?: string }
  | { output: unknown }
  | { error: { message: string; name?: string } };

/** `of`: the call as it was shown to who answered; the answer counts only where the program waits for just that. */
export type SettledCall = CodeAnswer & { of?: { tool: string; arguments: unknown } };

/** What is to become of a call whose tool may need approval. */
export type CallVerdict = { act: 'go' } | { act: 'ask' } | { act: 'reject'; reason?: string | undefined };

/** What a program can call this time. */
export interface ToolsAtWork {
  tools: readonly (Tool | ToolDefinition)[];
  /** Asked for each call of a tool that requires approval, before anybody else is. Absent: they all wait. */
  judge?: (call: WaitingFor) => CallVerdict | Promise<CallVerdict>;
  /** Ends the program; what was called rejects with its reason. */
  signal?: AbortSignal | undefined;
}

export interface CodePrograms {
  /** For the model. */
  describe(tools: readonly (Tool | ToolDefinition)[]): string;
  /** JSON Schema of what the model gives. */
  readonly inputSchema: Record<string, unknown>;
  start(program: CodeProgram, atWork: ToolsAtWork): Promise<CodeOutcome>;
  /** Goes on where `state` was made, with calls settled, by their ids; what was not settled is waited for again. */
  resume(state: string, answers: ReadonlyMap<number, SettledCall>, atWork: ToolsAtWork): Promise<CodeOutcome>;
}

let ours: Fermata | undefined;

/** One for all tools that were given neither a Fermata nor a key. */
function ofThisProcess(): Fermata {
  ours ??= createFermata({ sealKey: folderKey(undefined) });
  return ours;
}

/** `options`: checked here; a key that is not known is refused. */
export function createCodePrograms(options: CodeToolOptions = {}): CodePrograms {
  parseOptions(optionsSchema, options, 'codeTool');
  const { languages = LANGUAGES, maxObservationChars = 20_000, maxStubsChars = 24_000, boundTo, limits, allowedLibraries, strict } = options;
  const description = { languages, maxObservationChars, maxStubsChars };
  let made: Fermata | undefined;
  const fermata = () => {
    made ??= options.fermata ?? (options.sealKey ? createFermata({ sealKey: options.sealKey }) : ofThisProcess());
    return made;
  };
  const advance = async (task: Task, { judge, signal }: ToolsAtWork): Promise<CodeOutcome> => {
    const result = await ranUntilAsked(task, judge, signal);
    if (result.status !== 'waiting') return endedOutcome(result as EndedResult, maxObservationChars);
    const state = await task.snapshot(bound(boundTo));
    return waitingOutcome(result, Buffer.from(state).toString('base64'));
  };
  return {
    describe: (tools) => codeDescription([...toolsByName(tools).values()], description),
    inputSchema: {
      type: 'object',
      properties: { language: { type: 'string', enum: [...languages] }, code: { type: 'string', description: 'The program.' } },
      required: ['language', 'code'],
      additionalProperties: false,
    },
    async start({ language, code }, atWork) {
      atWork.signal?.throwIfAborted();
      if (!languages.includes(language)) return refused(`language is to be ${languages.join(' or ')}`);
      if (typeof code !== 'string') return refused('code is to be the text of a program');
      const given = { ...(limits ? { limits } : {}), ...(allowedLibraries ? { allowedLibraries } : {}), ...(strict ? { strict } : {}) };
      await using task = await fermata().start({ language, code, tools: atWork.tools, ...given });
      return await advance(task, atWork);
    },
    async resume(state, answers, atWork) {
      atWork.signal?.throwIfAborted();
      await using task = await fermata().restore(Buffer.from(state, 'base64'), { tools: atWork.tools, ...bound(boundTo) });
      for (const [callId, answer] of answers) settle(task, callId, answer);
      return await advance(task, atWork);
    },
  };
}

function bound(boundTo: string | undefined): { boundTo?: string } {
  return boundTo === undefined ? {} : { boundTo };
}

function refused(message: string): CodeOutcome {
  return { status: 'failed', text: `The program was not run: ${message}.`, error: { code: 'invalid_request', message } };
}

/** Runs until the program has ended, or waits for somebody that `judge` cannot speak for. */
async function ranUntilAsked(task: Task, judge: ToolsAtWork['judge'], signal: AbortSignal | undefined): Promise<TaskResult> {
  const cancel = () => void task.cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  if (signal?.aborted) cancel();
  const asked = new Set<number>();
  try {
    for (;;) {
      const result = await task.run();
      signal?.throwIfAborted();
      if (result.status !== 'waiting' || !judge) return result;
      const open = result.waitingFor.filter(({ callId, kind }) => kind === 'approval' && !asked.has(callId));
      if (open.length === 0) return result;
      await Promise.all(open.map(async (call) => (await isJudged(task, call, judge)) || asked.add(call.callId)));
    }
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}

/** Whether the call needs nobody else. */
async function isJudged(task: Task, call: WaitingFor, judge: NonNullable<ToolsAtWork['judge']>): Promise<boolean> {
  const verdict = await verdictOn(call, judge);
  if (verdict.act === 'go') task.approve(call.callId);
  if (verdict.act === 'reject') reject(task, call, verdict.reason);
  return verdict.act !== 'ask';
}

async function verdictOn(call: WaitingFor, judge: NonNullable<ToolsAtWork['judge']>): Promise<CallVerdict> {
  try {
    return await judge(call);
  } catch (error) {
    return { act: 'reject', reason: `it could not be decided whether it needs approval: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function reject(task: Task, { callId, tool }: Pick<WaitingFor, 'callId' | 'tool'>, reason?: string): void {
  task.fail(callId, { name: 'ApprovalRejected', message: `the call of ${tool} was rejected${reason ? `: ${reason}` : ''}` });
}

function settle(task: Task, callId: number, answer: SettledCall): void {
  const call = task.waitingFor.find((waiting) => waiting.callId === callId);
  if (!call) {
    const open = task.waitingFor.map((waiting) => `${waiting.callId} (${waiting.tool})`).join(', ');
    throw new FermataError('invalid_request', `the program waits for no call ${callId}; it waits for ${open || 'none'}`);
  }
  const { of } = answer;
  if (of && (of.tool !== call.tool || !isDeepStrictEqual(of.arguments, toWire(call.arguments)))) {
    throw new FermataError('invalid_request', `what was shown of call ${callId} is not what the program waits for: ${call.tool} with other arguments`);
  }
  if ('output' in answer) task.answer(callId, fromWire(answer.output ?? null));
  else if ('error' in answer) task.fail(callId, { name: answer.error.name ?? 'Error', message: answer.error.message });
  else if (!answer.approve) reject(task, call, answer.reason);
  else task.approve(callId, answer.arguments && (fromWire(answer.arguments) as ValueRecord));
}

/** What a tool of the framework's has done, as the answer to a program's call. `passes`: errors that are none of the tool's. */
export async function answerOf(call: () => unknown, passes: (error: unknown) => boolean): Promise<CodeAnswer> {
  try {
    return { output: toWire(await call()) };
  } catch (error) {
    if (passes(error)) throw error;
    return { error: error instanceof Error ? { name: error.name, message: error.message } : { message: String(error) } };
  }
}
