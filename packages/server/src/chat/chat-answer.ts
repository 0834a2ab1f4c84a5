/**
 * Waits for the end of a turn: the next calls of the client, or the end of the task; and makes the answer of it.
 *
 * A task that waits for somebody else - an approval, a resume - is waited for, too, up to a bound; then the answer is an error
 * that names the task, and the same request goes on waiting. Nothing here ends or changes a task.
 */
import type { Engine, TaskView } from '@fermata/engine';
import { ENDED, FermataError, fromWire, type TaskRef } from '@fermata/protocol';
import { plainJson } from '@fermata/tools/registry';
import type { ServerContext } from '../server-options.ts';
import { showOutput } from '../show/task.ts';
import { type ChatStand, toolCallOf } from './chat-task.ts';
import { type ChatTurn, TURN_KINDS, type TurnEntry, turnOf } from './chat-turn.ts';
import type { ChatAnswer, ChatToolCall } from './completion.ts';
import { ChatRefusal } from './openai-error.ts';
import { cutAt } from './streamed-text.ts';

export interface TurnEnd {
  task: TaskView;
  turn: ChatTurn;
}

export interface AnswerOptions {
  stops: readonly string[];
  /** One call in each answer. */
  oneByOne: boolean;
}

const JOURNAL_PAGE = 1000;
const LONG_MS = 3_600_000;

/** Throws {@link ChatRefusal} where it waits for somebody else for too long, and `resources_exhausted` where the server closes. */
export async function turnEnd({ engine, draining, chatWaitMs }: ServerContext, { ref, answered }: ChatStand, gone: AbortSignal): Promise<TurnEnd> {
  let leftMs = chatWaitMs;
  const signal = AbortSignal.any([gone, draining]);
  for (;;) {
    // The journal is no older than the task, so it has whatever the task waits for.
    const task = await engine.task(ref);
    const turn = turnOf(await journalOf(engine, ref), answered);
    const waits = task.status === 'waiting' && task.waitingFor.some(({ kind }) => kind === 'client_tool');
    if (turn.isPast || ENDED.includes(task.status) || waits) return { task, turn };
    if (draining.aborted) throw new FermataError('resources_exhausted', 'the server is closing; the task goes on when it is there again', { hint: 'Send the request again.' });
    if (gone.aborted) throw new ChatRefusal('the client has gone', { status: 499, code: 'client_gone' });
    if (!isHeldUp(task)) await engine.wait(ref, LONG_MS, signal);
    else if (leftMs <= 0) throw heldUp(task);
    else {
      const since = performance.now();
      await nextEntry(engine, task, AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(leftMs))]));
      leftMs -= performance.now() - since;
    }
  }
}

/** What is answered. Throws where the task has failed or was cancelled. */
export async function chatAnswer({ engine }: ServerContext, { task, turn }: TurnEnd, { stops, oneByOne }: AnswerOptions): Promise<ChatAnswer> {
  const { usage } = turn;
  if (turn.open.length > 0) {
    const calls = new Map((await engine.calls(task)).map((call) => [call.callId, call]));
    const open = turn.open.slice(0, oneByOne ? 1 : undefined).flatMap((callId) => calls.get(callId) ?? []);
    return { text: null, toolCalls: open.map((call) => plainCall(toolCallOf(task, call))), finish: 'tool_calls', usage };
  }
  if (task.status !== 'succeeded') throw failure(task);
  const { kept, isCut } = cutAt(textOfEnd(task), stops);
  return { text: kept, toolCalls: [], finish: turn.isCut && !isCut ? 'length' : 'stop', usage };
}

/** What the model says of the result; where it could not be asked, the result itself. */
function textOfEnd({ answer, output }: TaskView): string {
  if (answer !== null) return answer;
  const shown = showOutput(output);
  return typeof shown === 'string' ? shown : JSON.stringify(shown);
}

/** Its arguments as these clients take them, which know only JSON. */
function plainCall({ arguments: args, ...call }: ReturnType<typeof toolCallOf>): ChatToolCall {
  return { ...call, arguments: JSON.stringify(plainJson(fromWire(args))) };
}

function isHeldUp({ status, waitingFor }: TaskView): boolean {
  return status === 'paused' || (status === 'waiting' && waitingFor.some(({ kind }) => kind !== 'timer'));
}

function heldUp({ taskId, status, pauseReason, waitingFor }: TaskView): ChatRefusal {
  const what = waitingFor.filter(({ kind }) => kind !== 'timer').map(({ kind, tool }) => (kind === 'approval' ? `the approval of ${tool}` : `${kind} of ${tool}`));
  const waits = status === 'paused' ? `is paused (${pauseReason})` : `waits for ${what.join(', ')}`;
  return new ChatRefusal(`the task ${taskId} ${waits}; send the same request again to go on waiting for it`, {
    status: 409,
    code: status === 'paused' ? 'task_paused' : 'task_waiting',
  });
}

function failure({ taskId, status, error }: TaskView): ChatRefusal {
  if (status === 'cancelled') return new ChatRefusal(`the task ${taskId} was cancelled`, { status: 409, code: 'task_cancelled' });
  const { code = 'internal', message = 'for a reason that was not recorded' } = error ?? {};
  return new ChatRefusal(`the task ${taskId} failed: ${message}`, { status: code === 'model_error' ? 502 : 500, code });
}

/** What of it turns are made of. */
async function journalOf(engine: Engine, ref: TaskRef): Promise<TurnEntry[]> {
  const found: TurnEntry[] = [];
  for (let last = 0; ; ) {
    const page = await engine.journal(ref, last, JOURNAL_PAGE);
    for (const { kind, body } of page) if (TURN_KINDS.has(kind)) found.push({ kind, data: JSON.parse(body) });
    if (page.length < JOURNAL_PAGE) return found;
    last = page.at(-1)?.seq ?? last;
  }
}

/** Until anything is recorded of the task. */
async function nextEntry(engine: Engine, task: TaskView, signal: AbortSignal): Promise<void> {
  for await (const _ of engine.events(task, { after: task.seq, live: false, signal })) return;
}
