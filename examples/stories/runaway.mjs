/** An endless loop and a memory bomb end at their limits, beside a program that does its job. */
import { client } from './client.mjs';

const programs = {
  'an endless loop': { code: 'while True: pass', tool_constraints: { max_cpu_seconds: 0.5, timeout_seconds: 600 } },
  'a memory bomb': { code: 'all = []\nwhile True: all.append(bytearray(1 << 20))', tool_constraints: { max_memory_mb: 64 } },
  'a neighbour': { code: 'sum(range(1000))' },
};
const created = await Promise.all(Object.values(programs).map((program) => client.tasks.create({ language: 'python', ...program })));
for (const [i, what] of Object.keys(programs).entries()) {
  const task = await client.tasks.wait(created[i].task_id);
  console.log(`${what}: ${task.status} ${task.status === 'failed' ? task.error.code : task.result.output}`);
}
