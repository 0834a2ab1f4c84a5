/** The files that a program has left, as they are kept with its task. */
import { keyOf, type Store, type TaskRef, type TaskRow } from '@fermata/protocol';

export async function storeOutputs(store: Store, ref: TaskRef, files: readonly { path: string; data: Uint8Array }[]): Promise<TaskRow['files']> {
  const stored: TaskRow['files'] = [];
  for (const [index, { path, data }] of files.entries()) {
    const blob = `out_${keyOf(ref)}_${index}`;
    await store.putBlob(blob, data);
    stored.push({ path, bytes: data.length, blob });
  }
  return stored;
}
