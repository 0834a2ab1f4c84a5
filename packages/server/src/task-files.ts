/** Files by their ids: those that a tenant has put in, and those that its tasks have left. */
import { fileBlob, type TaskView } from '@fermata/engine';
import { FermataError } from '@fermata/protocol';
import type { ServerContext } from './server-options.ts';

type Needed = Pick<ServerContext, 'engine' | 'store'>;

/** Says which file of which task it is, so that nothing more is kept of it. */
export const outputFileId = (taskId: string, index: number) => `out_${index}_${taskId}`;

export async function fileNamed({ engine, store }: Needed, tenant: string, fileId: string): Promise<{ name: string; data: Uint8Array } | undefined> {
  const output = await outputNamed({ engine, store }, tenant, fileId);
  if (!output) return engine.file(tenant, fileId);
  const data = await store.blob(output.blob);
  return data && { name: output.path.slice(output.path.lastIndexOf('/') + 1), data };
}

/** The blob that a request of this tenant names for the file. */
export async function blobNamed(server: Needed, tenant: string, fileId: string): Promise<string | undefined> {
  const output = await outputNamed(server, tenant, fileId);
  if (output) return output.blob;
  return (await server.engine.file(tenant, fileId)) && fileBlob(tenant, fileId);
}

async function outputNamed({ engine }: Needed, tenant: string, fileId: string): Promise<TaskView['files'][number] | undefined> {
  const [, index, taskId] = /^out_(\d+)_(.+)$/.exec(fileId) ?? [];
  if (taskId === undefined) return undefined;
  try {
    return (await engine.task({ tenant, taskId })).files[Number(index)];
  } catch (error) {
    if (error instanceof FermataError && error.code === 'not_found') return undefined;
    throw error;
  }
}
