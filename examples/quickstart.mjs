// The main job in one go: a model-written program calls tools, is stopped in the middle of a busy loop, its process is
// killed, and a new process carries on where it was. Run with: npm run quickstart
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { createFermata, defineTool } from 'fermata';

const weather = defineTool({
  name: 'weather',
  description: 'Temperature of a city, in degrees Celsius',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  execute: ({ city }) => ({ Oslo: -4, Rome: 14, Lima: 19 })[city],
});

const program = `
import asyncio

async def main():
    cities = ["Oslo", "Rome", "Lima"]
    temperatures = await asyncio.gather(*[tools.weather(city=c) for c in cities])
    print(dict(zip(cities, temperatures)))
    return sum(temperatures)

total = asyncio.run(main())

count = 0                       # a busy loop: nothing here asks to be paused
while count < 6_000_000:
    count += 1
{"total": total, "count": count}
`;

const file = fileURLToPath(new URL('./quickstart.snap', import.meta.url));

if (process.argv[2] === 'resume') {
  await using fermata = createFermata({ tools: [weather] });
  const task = await fermata.restore(await readFile(file), { trust: true });
  console.log(`3. process ${process.pid} has restored it at line ${task.position.line} and runs on ...`);
  const { status, output, calls } = await task.run();
  console.log(`4. ${status}: ${JSON.stringify(output)} - with ${calls.length} tool calls in all, none made twice`);
} else if (process.argv[2] === 'start') {
  await using fermata = createFermata({ tools: [weather] });
  let task;
  const pauseSoon = ({ type }) => type === 'output' && setTimeout(() => task.pause(), 100);
  task = await fermata.start({ language: 'python', code: program, onEvent: pauseSoon });
  const { stdout } = await task.run();
  const bytes = await task.snapshot();
  await writeFile(file, bytes);
  console.log(`1. process ${process.pid} ran the program until it was paused at line ${task.position.line}; it had printed ${stdout.trim()}`);
  console.log(`2. its whole state is ${(bytes.length / 1024).toFixed(1)} KB; now the process is killed`);
  process.kill(process.pid, 'SIGKILL');
} else {
  for (const step of ['start', 'resume']) await once(spawn(process.execPath, [fileURLToPath(import.meta.url), step], { stdio: 'inherit' }), 'exit');
  await rm(file, { force: true });
}
