/** Tasks and calls as their owners see them: made of what is durable, and of what passes while a task runs. */
import { type CallRow, ENDED, type Store, type TaskRow } from '@fermata/protocol';
import type { CallView, InFlightCall, TaskView, WaitingCall } from './engine-api.ts';
import { bodyOf } from './journal.ts';
import type { Lease } from './lease.ts';
import { bytesOfOutput } from './output-text.ts';
import type { Queue } from './queue.ts';
import { readJournal } from './replay.ts';

export interface ViewSources {
  queue: Queue;
  /** The lease of a task that runs here. */
  runOf: (row: TaskRow) => Lease | undefined;
  /** What holds a pending task up besides its place in the queue. */
  heldUpBy: (row: TaskRow) => string | null;
}

export function taskView(row: TaskRow, calls: readonly CallRow[], output: { stdout: string; stderr: string }, { queue, runOf, heldUpBy }: ViewSources): TaskView {
  const { seed: _seed, hash: _hash, mark: _mark, round: _round, ...rest } = row;
  const run = row.status === 'running' ? runOf(row) : undefined;
  const place = row.status === 'pending' ? queue.placeOf(row) : undefined;
  const ended = ENDED.includes(row.status);
  return {
    ...rest,
    ...(run ? { usage: run.usage, line: run.line } : {}),
    waitingFor: ended ? [] : waitingFor(row, calls),
    inFlight: ended ? [] : calls.filter(({ status }) => status === 'started').map(inFlight),
    queuePosition: row.status === 'pending' ? (place?.position ?? 0) : null,
    queueReason: row.status === 'pending' ? (heldUpBy(row) ?? place?.reason ?? null) : null,
    resumable: row.status === 'paused' ? true : null,
    resumableReason: null,
    ...output,
  };
}

function waitingFor(row: TaskRow, calls: readonly CallRow[]): WaitingCall[] {
  const waits = calls.flatMap((call): WaitingCall[] =>
    call.status === 'waiting' && call.waitsFor
      ? [{ callId: call.callId, tool: call.tool, arguments: JSON.parse(call.args), kind: call.waitsFor, expiresAt: call.expiresAt, createdAt: call.createdAt }]
      : [],
  );
  if (row.timerAt !== null) waits.push({ callId: null, tool: null, arguments: null, kind: 'timer', expiresAt: row.timerAt, createdAt: row.updatedAt });
  return waits;
}

function inFlight({ callId, tool, createdAt, tries }: CallRow): InFlightCall {
  return { callId, tool, startedAt: createdAt, tries };
}

export function callView(call: CallRow): CallView {
  const { callId, tool, status, waitsFor, tries, delivered, createdAt, settledAt, expiresAt, by } = call;
  const wire = call.result === null ? undefined : (JSON.parse(call.result) as { ok: unknown } | { error: { name: string; message: string; data?: unknown } });
  return {
    ...{ callId, tool, arguments: JSON.parse(call.args), status, waitsFor, tries, delivered, createdAt, settledAt, expiresAt, by },
    ...(call.editedArgs === null ? {} : { editedArguments: JSON.parse(call.editedArgs) }),
    ...(wire === undefined ? {} : { result: 'ok' in wire ? { output: wire.ok } : wire }),
  };
}

/** A task's output so far; that of an attempt that failed and was begun anew is left out. */
export async function readOutput(store: Store, row: TaskRow): Promise<{ stdout: string; stderr: string }> {
  let chunks: { stream: 'stdout' | 'stderr'; bytes: Buffer }[] = [];
  if (row.mark.outputBytes > 0) {
    for await (const entry of readJournal(store, row)) {
      if (entry.kind === 'begun') chunks = [];
      const output = bodyOf(entry, 'output');
      if (output) chunks.push({ stream: output.stream, bytes: bytesOfOutput(output) });
    }
  }
  const text = (wanted: string) => Buffer.concat(chunks.filter(({ stream }) => stream === wanted).map(({ bytes }) => bytes)).toString('utf8');
  return { stdout: text('stdout'), stderr: text('stderr') };
}
