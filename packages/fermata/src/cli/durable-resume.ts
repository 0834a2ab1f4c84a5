/** `fermata resume <task id>`: goes on with a task of the data folder or of a server, and follows it. */
import { resolve } from 'node:path';
import type { FermataClient } from '@fermata/client';
import { FermataError, type Store } from '@fermata/protocol';
import { connect } from './connection.ts';
import { followTask } from './follow-task.ts';
import { Progress } from './progress.ts';
import { approvalOf, type ResumeOptions } from './task-options.ts';
import { refuseOtherTools, rememberTools, toolsOf } from './task-tools.ts';
import { tellTask } from './tell-task.ts';

const PAGE = 1000;

/** Resolves with the exit code. */
export async function resumeTask(taskId: string, options: ResumeOptions): Promise<number> {
  const json = options.json === true;
  if (options.trust) throw new FermataError('invalid_request', '--trust is about snapshot files; a task in the data folder needs none');
  const progress = new Progress(options.quiet === true || json);
  const given = options.tools;
  await using connection = await connect(options, { tools: (store: Store) => toolsOf(store, taskId, given), toolsFile: given });
  const { tasks } = connection.client;
  const task = await tasks.get(taskId);
  if ('completed_at' in task) {
    progress.line(`the task has ended already, at ${task.completed_at}`);
    return tellTask(task, { json, progress, connection });
  }
  const wanted = given ?? task.metadata.tools_file;
  refuseOtherTools(connection, typeof wanted === 'string' ? wanted : undefined);
  const store = connection.store();
  if (store && given !== undefined) await rememberTools(store, taskId, resolve(given));
  const after = await lastEvent(connection.client, taskId);
  await tasks.resume(taskId);
  const approve = approvalOf(options.approve);
  const asked = (await tasks.code(taskId)).instruction !== undefined;
  const stopped = await followTask(connection, taskId, { json, progress, approve, asked, redo: options.redo === true, pauseAfterMs: options.pauseAfter, after });
  return tellTask(stopped, { json, progress, connection });
}

/** What has been told before is not shown again. */
async function lastEvent({ tasks }: FermataClient, taskId: string): Promise<number> {
  for (let last = 0; ; ) {
    const { items } = await tasks.journal(taskId, { after: last, limit: PAGE });
    last = items.at(-1)?.seq ?? last;
    if (items.length < PAGE) return last;
  }
}
