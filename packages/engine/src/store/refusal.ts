/** The errors of a commit that all stores throw in the same words. */
import { type Commit, FermataError, type TaskRef } from '@fermata/protocol';

export function taskConflict({ tenant, taskId }: TaskRef, expect: number, found: number | undefined): FermataError {
  const is = found === undefined ? 'there is no such task' : `its newest entry is ${found}`;
  return new FermataError('conflict', `task ${taskId} of ${tenant} was to be at entry ${expect}, but ${is}`);
}

export function documentConflict({ kind, tenant, id }: { kind: string; tenant: string; id: string }, expect: number, found: number | undefined): FermataError {
  const is = found === undefined ? 'there is none' : `it is at ${found}`;
  return new FermataError('conflict', `${kind} ${id} of ${tenant} was to be at version ${expect}, but ${is}`);
}

export function entryConflict({ tenant, taskId }: TaskRef, seq: number): FermataError {
  return new FermataError('conflict', `task ${taskId} of ${tenant} has an entry ${seq} already`);
}

export function checkpointConflict({ tenant, taskId }: TaskRef, checkpointId: string): FermataError {
  return new FermataError('conflict', `task ${taskId} of ${tenant} has a checkpoint ${checkpointId} already`);
}

export function noCheckpoint(checkpointId: string): FermataError {
  return new FermataError('checkpoint_invalid', `the bytes of checkpoint ${checkpointId} are not in the store`, {
    hint: 'use an older checkpoint of the task, or run it again from its journal',
  });
}

export function storeClosed(): FermataError {
  return new FermataError('store_failed', 'the store is closed');
}

/** Journal, calls and checkpoints have their task's row beside them; names can be written as UTF-8, so that two are never taken for one. */
export function checkWhole({ task, entries, calls, checkpoint, dropCheckpoints, documents }: Commit): void {
  if (!task && (entries?.length || calls?.length || checkpoint || dropCheckpoints?.length))
    throw new FermataError('internal', "entries, calls and checkpoints are committed together with their task's row");
  if (task) checkNames(task.row.tenant, task.row.taskId);
  for (const { row } of documents ?? []) checkNames(row.kind, row.tenant, row.id);
}

function checkNames(...names: string[]): void {
  for (const name of names)
    if (!name.isWellFormed()) throw new FermataError('invalid_request', `the name ${JSON.stringify(name)} holds half a character`, { hint: 'choose another name' });
}
