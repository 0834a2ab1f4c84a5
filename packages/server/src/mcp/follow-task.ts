/**
 * Follows a task for a caller that waits: until it has ended, is paused or waits for somebody, or the time is over.
 *
 * Where the client can ask its user, a call that waits for approval is put to them, and the task goes on by what they say. Where they
 * say nothing, or the client cannot ask, the task waits and the caller is told for what.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { FermataApiError } from '@fermata/client';
import type { TaskWire, WaitingForWire } from '@fermata/protocol/wire';
import type { McpRequest } from './mcp-tool.ts';
import { tellProgress } from './progress.ts';

const LOOK_AGAIN_MS = 50;
/** Characters of a value, a program or arguments that a person is shown; they must know where that is not all. */
const MOST_ASKED = 4_000;

/** The request was aborted while the user was asked. */
export class AskingEnded extends Error {}

/** Throws where the signal of the request aborts. */
export async function followTask(request: McpRequest, taskId: string, waitSeconds: number): Promise<TaskWire> {
  const { client, signal } = request;
  const left = new AbortController();
  if (request.tell && waitSeconds > 0) tellProgress(client, taskId, request.tell, AbortSignal.any([signal, left.signal]));
  const asked = new Set<string>();
  let until = performance.now() + waitSeconds * 1000;
  try {
    for (;;) {
      const task = await client.tasks.wait(taskId, { timeoutSeconds: Math.max(0, (until - performance.now()) / 1000), signal });
      signal.throwIfAborted();
      const began = performance.now();
      if (waitSeconds > 0 && (await askUser(request, task, asked))) {
        // The time in which a person thinks is not that of the program.
        until += performance.now() - began;
        continue;
      }
      if (!goesOnAlone(task) || performance.now() >= until) return task;
      // A call that was decided on is being made; the task is still stored as one that waits, and waiting for that to change answers at once.
      if ('in_flight' in task && (task.in_flight ?? []).length > 0) await sleep(LOOK_AGAIN_MS, undefined, { signal });
    }
  } finally {
    left.abort();
  }
}

/** Whether something was decided. */
async function askUser(request: McpRequest, task: TaskWire, asked: Set<string>): Promise<boolean> {
  if (!request.ask || !request.may('approve') || task.status !== 'waiting') return false;
  let decided = false;
  for (const wait of task.waiting_for ?? []) {
    if (wait.call_id === null || (wait.kind !== 'approval' && wait.kind !== 'review') || asked.has(wait.call_id)) continue;
    asked.add(wait.call_id);
    const said = await request.ask(questionOf(wait), request.signal);
    if (request.signal.aborted) throw new AskingEnded('the request was taken back while the user was asked');
    if (!said) continue;
    await settle(request, task.task_id, wait.call_id, said);
    decided = true;
  }
  return decided;
}

async function settle({ client }: McpRequest, taskId: string, callId: string, said: Exclude<Awaited<ReturnType<NonNullable<McpRequest['ask']>>>, undefined>): Promise<void> {
  try {
    await (said.approve ? client.calls.approve(taskId, callId) : client.calls.reject(taskId, callId, { reason: said.reason }));
  } catch (error) {
    // Somebody else was faster.
    if (!(error instanceof FermataApiError && error.status === 409)) throw error;
  }
}

export function questionOf({ kind, tool, arguments: args }: Pick<WaitingForWire, 'kind' | 'tool' | 'arguments'>): string {
  if (kind !== 'review') return `A program wants to call ${tool} with ${inQuestion(JSON.stringify(args) ?? '')}. Allow it?`;
  const value = (args as { value?: unknown } | null)?.value ?? args;
  const { language, code } = (value ?? {}) as { language?: unknown; code?: unknown };
  // Reviews that programs ask for have another name.
  if (tool === 'plan' && typeof code === 'string') return `A model has written this program in ${language}. Run it?\n\n${inQuestion(code)}`;
  return `A program asks you to confirm this value: ${inQuestion(JSON.stringify(value) ?? '')}`;
}

function inQuestion(text: string): string {
  return text.length > MOST_ASKED ? `${text.slice(0, MOST_ASKED)} [cut: ${text.length - MOST_ASKED} of ${text.length} characters are not shown here]` : text;
}

/** It waits, and nobody needs to do anything: a sleep of the program goes by, or a call that somebody allowed is made. */
function goesOnAlone(task: TaskWire): boolean {
  return task.status === 'waiting' && (task.waiting_for ?? []).every(({ kind }) => kind === 'timer');
}
