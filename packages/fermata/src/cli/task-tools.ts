/**
 * The tools file that a task of this data folder was started with, so that it can be loaded again in another process.
 *
 * It is remembered as a document of the store that only the command line writes: what a request says in its metadata is shown
 * and compared, but never chooses code that is loaded.
 */
import { resolve } from 'node:path';
import { FermataError, type Store } from '@fermata/protocol';
import type { Connection } from './connection.ts';
import type { ToolsFile } from './load-tools-file.ts';
import { readToolsFile } from './tools-file.ts';

const KIND = 'cli_tools';
const TENANT = 'default';

export async function rememberTools(store: Store, taskId: string, file: string): Promise<void> {
  const before = await store.document(KIND, TENANT, taskId);
  const row = { kind: KIND, tenant: TENANT, id: taskId, version: (before?.version ?? 0) + 1, createdAt: Date.now(), body: JSON.stringify({ file: resolve(file) }) };
  await store.commit([{ documents: [{ row }] }]);
}

export async function forgetTools(store: Store, taskId: string): Promise<void> {
  if (await store.document(KIND, TENANT, taskId)) await store.commit([{ dropDocuments: [{ kind: KIND, tenant: TENANT, id: taskId }] }]);
}

/** Of the task, or of the one that it was forked from. */
export async function rememberedTools(store: Store, taskId: string): Promise<string | undefined> {
  const seen = new Set<string>();
  for (let id: string | undefined = taskId; id !== undefined && !seen.has(id); ) {
    seen.add(id);
    const row = await store.document(KIND, TENANT, id);
    if (row) return (JSON.parse(row.body) as { file: string }).file;
    id = (await store.task({ tenant: TENANT, taskId: id }))?.request.forkOf?.taskId;
  }
  return undefined;
}

/** Those of `given`, else of the file that is remembered. */
export async function toolsOf(store: Store, taskId: string, given: string | undefined): Promise<ToolsFile> {
  return readToolsFile(given ?? (await rememberedTools(store, taskId)));
}

/** Where another process runs the tasks, it uses tools of its own: throws `conflict` if these are not the ones that are wanted. */
export function refuseOtherTools(connection: Connection, wanted: string | undefined): void {
  if (wanted === undefined || connection.store()) return;
  if (connection.folder === undefined) {
    throw new FermataError('conflict', 'the server runs its tasks with its own tools, not with those of --tools', {
      hint: 'Start the server with them: fermata serve --tools <file>.',
    });
  }
  if (connection.toolsFile() === resolve(wanted)) return;
  throw new FermataError('conflict', `another process owns ${connection.folder}, and runs tasks with tools of its own, not with those of ${wanted}`, {
    hint: 'End that process first, or use another folder with --data.',
  });
}
