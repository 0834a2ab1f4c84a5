/**
 * A long task in two sittings. The first run starts it, waits until it has cleaned its data and trains a model, and pauses it.
 * Kill the server, start it again on the same data folder, run this again: it goes on, and nothing is cleaned twice.
 */
import { client } from './client.mjs';

const id = 'long-task-example';
const code = `
from fermata import step, progress
step('clean')
rows = [(x, 3 * x + 1) for x in range(1000) if x % 7]
print('cleaned', len(rows))
step('train')
a = b = 0.0
for n in range(4000):
    progress(n / 4000)
    for x, y in rows:
        off = a * x / 1000 + b - y / 1000
        a, b = a - 0.1 * off * x / 1000, b - 0.1 * off
step('evaluate')
[round(a, 2), round(1000 * b, 1)]`;

const before = await client.tasks.get(id).catch(() => undefined);
if (!before) {
  await client.tasks.create({ task_id: id, language: 'python', code, tool_constraints: { timeout_seconds: 600, max_cpu_seconds: 600 } });
  for await (const { kind, data } of client.tasks.events(id)) if (kind === 'step' && data.name === 'train') break;
  const { status, current_step: step } = await client.tasks.pause(id);
  console.log(`${status} in ${step}`);
} else {
  console.log(`found ${before.status}`);
  if (before.status === 'paused') await client.tasks.resume(id);
  const { status, result } = await client.tasks.wait(id);
  console.log(`${status} ${JSON.stringify(result.output)} ${JSON.stringify(result.stdout)}`);
}
