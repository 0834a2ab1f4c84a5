/** The examples of the four stories say what they promise, with a kill of the server between the two sittings of the long one. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { StoryServer } from './story-server.ts';

let server: StoryServer;
beforeAll(async () => {
  server = await StoryServer.start({ host: 'processes' });
});
afterAll(() => server[Symbol.asyncDispose]());

async function run(name: string): Promise<string[]> {
  const script = fileURLToPath(new URL(`../../examples/stories/${name}.mjs`, import.meta.url));
  const env = { ...process.env, FERMATA_URL: server.url, FERMATA_KEY: server.key };
  const { stdout } = await promisify(execFile)(process.execPath, [script], { env });
  return stdout.trimEnd().split('\n');
}

test('safety', async () => {
  expect(await run('safety')).toEqual([
    'reads the password file: failed guest_error FileNotFoundError',
    'starts a shell: failed guest_error OSError',
    'removes files: failed guest_error FileNotFoundError',
    'does its job: succeeded 45',
  ]);
});

test('a long task in two sittings', async () => {
  expect(await run('long-task')).toEqual(['paused in train']);
  await server.kill();
  await server.start({ host: 'processes' });
  expect(await run('long-task')).toEqual(['found paused', expect.stringMatching(/^succeeded \[\S+,\S+\] "cleaned 857\\n"$/)]);
});

test('runaway', async () => {
  expect(await run('runaway')).toEqual(['an endless loop: failed cpu_limit', 'a memory bomb: failed memory_limit', 'a neighbour: succeeded 499500']);
});

test('many', async () => {
  expect(await run('many')).toEqual(['10 of 10 are right']);
});
