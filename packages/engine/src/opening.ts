/** Opens a machine where a task stands: of its newest checkpoint, of the interpreter that it shares, or a new one. */
import { FermataError, type HostedMachine, imageOfLanguage, type Limits, type Wait } from '@fermata/protocol';
import type { Checkpoints } from './checkpoints.ts';
import { type EngineOptions, openingKeys } from './engine-options.ts';
import type { LiveTask } from './live-task.ts';
import { type Delivery, readDeliveries } from './replay.ts';
import type { Sessions } from './sessions.ts';
import { knownProgram } from './task-program.ts';

export interface OpeningOptions extends Pick<EngineOptions, 'store' | 'host' | 'sealKey' | 'oldKeys'> {
  checkpoints: Checkpoints;
  sessions: Sessions;
  /** Told that the task has to wait for a place, and why. */
  onQueued: (reason: string) => void;
}

export interface OpenedTask {
  machine: HostedMachine;
  waits: Wait;
  /** What had come out of it. */
  emitted: { outputBytes: number; calls: number; notes: number };
  /** Deliveries that are recorded and that it has not been given. */
  recorded: Delivery[];
  checkpointId: string | null;
}

export async function openTask(options: OpeningOptions, live: LiveTask, limits: Limits): Promise<OpenedTask> {
  const { host, checkpoints, onQueued, store } = options;
  const { row } = live;
  const opened = await checkpoints.open(live.ref, row.checkpointId, { onQueued }, (refused, why) =>
    live.record('finding', { message: `checkpoint ${refused.checkpointId} cannot be used: ${why.message}`, line: null }),
  );
  if (opened) {
    const { mark, seq, checkpointId } = opened.row;
    const { outputBytes, calls, notes } = mark;
    return { machine: opened.machine, waits: opened.restored.waits, emitted: { outputBytes, calls, notes }, recorded: await readDeliveries(store, live.ref, seq), checkpointId };
  }
  const recorded = row.epoch === 0 ? [] : await readDeliveries(store, live.ref, 0);
  const place = { tenant: row.tenant, onQueued };
  const machine = row.request.sharedInterpreter ? await shared(options, live, limits) : await host.create(imageOfLanguage[knownProgram(row).language], limits, place);
  return { machine, waits: { for: 'start' }, emitted: { outputBytes: 0, calls: 0, notes: 0 }, recorded, checkpointId: null };
}

/** The interpreter of the session, as the task before this one has left it. */
async function shared(options: OpeningOptions, live: LiveTask, limits: Limits): Promise<HostedMachine> {
  const { host, sessions, onQueued } = options;
  const { row } = live;
  const { number, data, boundTo } = await sessions.head(row);
  if (row.origin && row.origin.head !== number) {
    throw new FermataError('replay_diverged', `the task began from head ${row.origin.head} of its session, which is at ${number} now`);
  }
  const place = { tenant: row.tenant, onQueued };
  const restored = data && (await host.restore(data, { ...openingKeys(options), boundTo }, place));
  const machine = restored?.machine ?? (await host.create(imageOfLanguage[knownProgram(row).language], limits, place));
  const { calls, outputBytes, fuel } = machine.report.usage;
  live.change({ origin: { head: number, calls, outputBytes, fuel } });
  return machine;
}
