/** The texts of a task: its result as JSON, what it printed, its program. */
import type { FermataClient } from '@fermata/client';
import { FermataError } from '@fermata/protocol';
import type { TaskPart } from './resource-uri.ts';

/** Of a task that goes on: as far as it is. Throws `invalid_state` for the result of one that has none. */
export async function taskText({ tasks }: FermataClient, taskId: string, part: TaskPart): Promise<string> {
  if (part === 'code') return (await tasks.code(taskId)).code ?? '';
  if (part !== 'result') return (await tasks.log(taskId))[part];
  const task = await tasks.get(taskId);
  if (task.status !== 'succeeded')
    throw new FermataError('invalid_state', `the task has no result: it is ${task.status}`, { hint: 'get_task with wait_seconds waits for its end.' });
  return JSON.stringify(task.result.output);
}
