/** Carries out the calls of client-side tools here, and posts their results. */
import type { TaskWire, WaitingForWire } from '@fermata/protocol/wire';
import { FermataApiError } from './api-error.ts';
import type { Calls } from './calls.ts';
import { sleep } from './sleep.ts';
import type { Tasks } from './tasks.ts';

/** By name. `args` and what is returned are JSON; what JSON lacks stands as `{"$fermata": [...]}`. What is thrown, the program sees as an exception. */
export type ClientTools = Record<string, (args: Record<string, unknown>, call: { callId: string; taskId: string }) => unknown>;

export interface AnswerOptions {
  signal?: AbortSignal;
  /** How often to look while only somebody else can go on. Default: 500 ms. */
  pollMs?: number;
}

/** Resolves with the task when it has ended or is paused. Calls of other tools, and approvals, are left to others. */
export async function answerTools(
  { tasks, calls }: { tasks: Tasks; calls: Calls },
  task: string | { task_id: string },
  tools: ClientTools,
  { signal, pollMs = 500 }: AnswerOptions = {},
): Promise<TaskWire> {
  const taskId = typeof task === 'string' ? task : task.task_id;
  const answering = new Map<string, Promise<void>>();
  const faults: unknown[] = [];
  for (;;) {
    const now = await tasks.wait(taskId, signal ? { signal } : {});
    if (now.status !== 'waiting') return now;
    for (const wait of now.waiting_for ?? []) {
      const { call_id: callId, tool } = wait;
      if (wait.kind !== 'client_tool' || callId === null || tool === null || !Object.hasOwn(tools, tool) || answering.has(callId)) continue;
      const work = answer(calls, taskId, callId, wait, tools[tool] as ClientTools[string]).catch((fault: unknown) => void faults.push(fault));
      answering.set(
        callId,
        work.finally(() => answering.delete(callId)),
      );
    }
    await Promise.race([...answering.values(), sleep(pollMs, signal)]);
    if (faults.length > 0) throw faults[0];
  }
}

async function answer(calls: Calls, taskId: string, callId: string, wait: WaitingForWire, tool: ClientTools[string]): Promise<void> {
  const result = await carryOut(tool, wait.arguments as Record<string, unknown>, { callId, taskId });
  try {
    await calls.result(taskId, callId, result);
  } catch (error) {
    // Somebody else was faster, or the task has ended: the next look at it tells.
    if (!(error instanceof FermataApiError && error.status === 409)) throw error;
  }
}

async function carryOut(tool: ClientTools[string], args: Record<string, unknown>, call: { callId: string; taskId: string }) {
  try {
    return { output: (await tool(args, call)) ?? null };
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return { error: { name, message } };
  }
}
