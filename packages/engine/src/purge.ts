/** Purges ended tasks: everything of one is gone but a tombstone, which says when. */
import { ENDED, FermataError, type Store, type TaskRef, type TaskRow } from '@fermata/protocol';
import { taskOfCall } from './call-desk.ts';

export interface PurgeOptions {
  store: Store;
  now: () => number;
  cancel: (ref: TaskRef, by: string | undefined) => Promise<unknown>;
}

export async function purgeTask(options: PurgeOptions, row: TaskRow, by: string | undefined): Promise<void> {
  const { store, now } = options;
  const ref = { tenant: row.tenant, taskId: row.taskId };
  const body = JSON.stringify({ status: row.status, ended_at: row.endedAt, purged_at: now(), by: by ?? null, head: row.hash });
  await store.commit([{ documents: [{ row: { kind: 'tombstone', tenant: ref.tenant, id: ref.taskId, version: 1, createdAt: now(), body } }] }]);
  for (const { callId } of await store.calls(ref)) await purgeTaskOf(options, callId, ref, by);
  for (const { blob } of row.files) await store.dropBlob(blob);
  await store.purge(ref);
}

/** What a call has run in a task of its own goes with it. */
async function purgeTaskOf(options: PurgeOptions, callId: string, { tenant }: TaskRef, by: string | undefined): Promise<void> {
  const row = await options.store.task({ tenant, taskId: taskOfCall(callId) });
  if (row && !ENDED.includes(row.status)) await options.cancel(row, by);
  const ended = row && (await options.store.task(row));
  if (ended && !ENDED.includes(ended.status)) throw new FermataError('invalid_state', `the task ${ended.taskId} of its call has not ended`, { hint: 'Ask again in a moment.' });
  if (ended) await purgeTask(options, ended, by);
}
