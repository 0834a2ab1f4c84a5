/** A new task: its first row and the first entry of its journal. */
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Entry, TaskRef, TaskRequest, TaskRow } from '@fermata/protocol';
import { nextEntry } from './journal.ts';

export function newTask({ tenant, taskId }: TaskRef, request: TaskRequest, now: number, by: string | null): { row: TaskRow; entry: Entry } {
  const entry = nextEntry({ seq: 0, hash: '' }, now, 'submitted', { request, by });
  const row: TaskRow = {
    ...{ tenant, taskId, status: 'pending', desired: 'run', seq: entry.seq, hash: entry.hash, epoch: 0, attempt: 0, round: 0, worker: null },
    ...{ createdAt: now, updatedAt: now, startedAt: null, endedAt: null, priority: request.priority ?? 0 },
    ...{ sessionId: request.sessionId ?? null, batchId: request.batchId ?? null, dueAt: null, timerAt: null, notBefore: null, parked: false },
    ...{ request, authored: null, seed: randomBytes(32).toString('hex'), origin: null, mark: { outputBytes: 0, calls: 0, notes: 0 } },
    usage: { wallMs: 0, cpuMs: 0, memoryBytes: 0, peakMemoryBytes: 0, diskBytes: 0, outputBytes: 0, toolCalls: 0, fuel: 0 },
    ...{ step: null, progress: null, line: null, checkpointId: null, pauseReason: null, output: null, answer: null, files: [], truncated: false, error: null },
  };
  return { row, entry };
}

/** Whether two requests ask for the same. */
export function sameRequest(a: TaskRequest, b: TaskRequest): boolean {
  return isDeepStrictEqual(plain(a), plain(b));
}

/** As it is stored: what is undefined is not there. */
function plain(request: TaskRequest): unknown {
  return JSON.parse(JSON.stringify(request));
}
