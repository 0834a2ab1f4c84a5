/**
 * Checkpoints of tasks: a stopped machine as sealed bytes, bound to its tenant, its task, its own name and the place in the
 * journal up to which the machine has been given everything.
 *
 * The two newest of a task are kept, and what they are increments on. One that cannot be opened is passed over for the one before
 * it, and without any the task is replayed from its start.
 */
import { randomBytes } from 'node:crypto';
import {
  type CheckpointRow,
  FermataError,
  type Host,
  type HostedMachine,
  INLINE_BYTES,
  LIMITS,
  type Limits,
  type Mark,
  type Restored,
  type Store,
  type TaskRef,
} from '@fermata/protocol';
import { type EngineOptions, openingKeys } from './engine-options.ts';
import type { LiveTask } from './live-task.ts';

const KEPT = 2;

export interface CheckpointsOptions extends Pick<EngineOptions, 'sealKey' | 'oldKeys' | 'moment'> {
  store: Store;
  host: Host;
  limits: (live: LiveTask) => Limits;
  now: () => number;
}

export interface OpenedCheckpoint {
  row: CheckpointRow;
  machine: HostedMachine;
  restored: Restored;
}

export class Checkpoints {
  readonly #options: CheckpointsOptions;

  constructor(options: CheckpointsOptions) {
    this.#options = options;
  }

  /**
   * Stores where the machine stands. `then` changes the task further, with the checkpoint's name, in the commit that names it.
   * Durable when it resolves. Throws `checkpoint_too_large` or `checkpoint_failed`; nothing has changed then.
   */
  async take(live: LiveTask, machine: HostedMachine, mark: Mark, reason: string, then: (checkpointId: string) => void = () => {}): Promise<CheckpointRow> {
    const { sealKey, moment, now } = this.#options;
    const { maxCheckpointBytes } = this.#options.limits(live);
    const { seq, hash } = live.row;
    const checkpointId = `ckpt_${randomBytes(10).toString('hex')}`;
    const named = { checkpointId, seq, hash };
    const before = await this.#options.store.checkpoints(live.ref);
    const ground = groundOf(before[0], before);
    const { data, increment, content } = await machine.checkpoint({ key: sealKey, boundTo: boundTo(live.ref, named) }, ground?.content ?? null);
    if (data.length > maxCheckpointBytes) {
      throw new FermataError('checkpoint_too_large', `the checkpoint has ${data.length} bytes, more than the ${maxCheckpointBytes} that it may have`, {
        hint: LIMITS.checkpoint.advice('max_checkpoint_mb'),
      });
    }
    const row: CheckpointRow = {
      ...{ ...named, createdAt: now(), reason, bytes: data.length, mark },
      ...(increment && ground ? { ground: ground.checkpointId } : {}),
      ...(content === null ? {} : { content }),
    };
    moment?.('checkpoint.before');
    const large = data.length > INLINE_BYTES;
    if (large) await live.store({ row, data }).catch((error: unknown) => Promise.reject(notStored(error)));
    live.record('checkpoint', { checkpoint_id: checkpointId, reason, bytes: data.length, seq });
    live.change({ checkpointId });
    then(checkpointId);
    await live.flush({ ...(large ? {} : { checkpoint: { row, data } }), dropCheckpoints: superfluous([row, ...before]) });
    moment?.('checkpoint.after');
    return row;
  }

  /** The newest that can be opened, from `from` back; what is wrong with those before it goes to `refused`. */
  async open(
    ref: TaskRef,
    from: string | null,
    place: { onQueued: (reason: string) => void },
    refused: (row: CheckpointRow, why: FermataError) => void = () => {},
  ): Promise<OpenedCheckpoint | undefined> {
    if (from === null) return undefined;
    const rows = await this.#options.store.checkpoints(ref);
    const at = rows.findIndex(({ checkpointId }) => checkpointId === from);
    for (const row of rows.slice(Math.max(at, 0))) {
      try {
        return { row, ...(await this.openOne(ref, row, place)) };
      } catch (error) {
        if (!(error instanceof FermataError) || (error.code !== 'checkpoint_invalid' && error.code !== 'environment_mismatch')) throw error;
        refused(row, error);
      }
    }
    return undefined;
  }

  /** Newest first. */
  ofTask(ref: TaskRef): Promise<CheckpointRow[]> {
    return this.#options.store.checkpoints(ref);
  }

  /** Throws `checkpoint_invalid` or `environment_mismatch`. */
  async openOne(ref: TaskRef, row: CheckpointRow, place: { onQueued: (reason: string) => void }): Promise<{ machine: HostedMachine; restored: Restored }> {
    const { store, host } = this.#options;
    const data = await store.checkpointData(ref, row.checkpointId);
    const open = { ...openingKeys(this.#options), boundTo: boundTo(ref, row), ...(row.ground === undefined ? {} : { ground: await this.#ground(ref, row.ground) }) };
    return host.restore(data, open, { tenant: ref.tenant, ...place });
  }

  async #ground(ref: TaskRef, checkpointId: string): Promise<{ data: Uint8Array; boundTo: string }> {
    const { store } = this.#options;
    const row = (await store.checkpoints(ref)).find((one) => one.checkpointId === checkpointId);
    if (!row) throw new FermataError('checkpoint_invalid', `the checkpoint is an increment on ${checkpointId}, which is gone`);
    return { data: await store.checkpointData(ref, checkpointId), boundTo: boundTo(ref, row) };
  }
}

/** The full checkpoint that a machine which comes from `row` may make increments on. */
function groundOf(row: CheckpointRow | undefined, all: readonly CheckpointRow[]): CheckpointRow | undefined {
  return row?.ground === undefined ? row : all.find(({ checkpointId }) => checkpointId === row.ground);
}

/** Those, of all from the newest back, that are not kept. */
function superfluous(all: readonly CheckpointRow[]): string[] {
  const kept = new Set(all.slice(0, KEPT).flatMap(({ checkpointId, ground = checkpointId }) => [checkpointId, ground]));
  return all.map(({ checkpointId }) => checkpointId).filter((id) => !kept.has(id));
}

/** What the seal of a checkpoint holds it to. */
export function boundTo({ tenant, taskId }: TaskRef, { checkpointId, seq, hash }: Pick<CheckpointRow, 'checkpointId' | 'seq' | 'hash'>): string {
  return [tenant, taskId, checkpointId, seq, hash].join('\n');
}

function notStored(error: unknown): FermataError {
  if (error instanceof FermataError && error.code === 'checkpoint_failed') return error;
  return new FermataError('checkpoint_failed', `the checkpoint could not be stored: ${error instanceof Error ? error.message : error}`, {
    hint: 'See that the data folder has room and can be written.',
    cause: error,
  });
}
