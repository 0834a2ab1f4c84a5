/** A batch with what its tasks have come to. */
import type { BatchView, Engine } from '@fermata/engine';
import type { BatchWire } from '@fermata/protocol/wire';
import { showBatch } from './parts.ts';
import { showFault, showOutput } from './task.ts';

/** The batch with one page of what its tasks have come to, in their order. */
export async function shownBatch(
  engine: Pick<Engine, 'tasks'>,
  tenant: string,
  batch: BatchView,
  page: { cursor?: string | undefined; limit?: number | undefined } = {},
): Promise<BatchWire> {
  const { items, cursor } = await engine.tasks(tenant, {
    batchId: batch.batchId,
    oldestFirst: true,
    limit: page.limit ?? 200,
    ...(page.cursor === undefined ? {} : { cursor: page.cursor }),
  });
  const results = items.map(({ taskId, status, output, error }) => ({
    task_id: taskId,
    status,
    ...(status === 'succeeded' ? { output: showOutput(output) } : {}),
    ...(error ? { error: showFault(error) } : {}),
  }));
  return { ...showBatch(batch), results, ...(cursor === undefined ? {} : { cursor }) };
}
