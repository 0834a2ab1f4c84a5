/** Ten tasks at once, or as many as are asked for, each with its own input and the right answer. */
import { setTimeout as sleep } from 'node:timers/promises';
import { client } from './client.mjs';

const count = Number(process.argv[2] ?? 10);
const tasks = Array.from({ length: count }, (_, input) => ({ language: 'javascript', code: 'return input * input', input }));
const { batch_id: id } = await client.batches.create({ tasks });
let batch = await client.batches.get(id);
while (batch.completed_at === null) {
  await sleep(50);
  batch = await client.batches.get(id);
}
let right = 0;
for (const [n, taskId] of batch.task_ids.entries()) if ((await client.tasks.get(taskId)).result.output === n * n) right++;
console.log(`${right} of ${count} are right`);
