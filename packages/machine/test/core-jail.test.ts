/** What a child process can reach, as it is started: measured by a script in the child's place that tries. */
import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { jailObstacle, nodeCommand } from '../src/hosts/jail.ts';

const probe = fileURLToPath(new URL('./jail-probe.mjs', import.meta.url));
const portFile = fileURLToPath(new URL('./jail-probe.port', import.meta.url));
const server = createServer((socket) => socket.destroy());
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
writeFileSync(portFile, String((server.address() as { port: number }).port));
process.env.FERMATA_PROBE_SECRET = 'swordfish';
afterAll(() => {
  server.close();
  rmSync(portFile);
});

async function probed(inJail: boolean): Promise<Record<string, unknown>> {
  const { command, args } = nodeCommand(probe, tmpdir(), inJail);
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], serialization: 'advanced', env: { PATH: process.env.PATH } });
  return new Promise((resolve, reject) => {
    child.on('message', (told) => resolve(told as Record<string, unknown>));
    child.on('exit', (code) => reject(new Error(`the probe ended with ${code}`)));
  });
}

test('the permission model keeps a child from files, programs and our environment', async () => {
  expect(await probed(false)).toMatchObject({
    passwd: { refused: 'ERR_ACCESS_DENIED' },
    write: { refused: 'ERR_ACCESS_DENIED' },
    command: { refused: 'ERR_ACCESS_DENIED' },
    secret: null,
  });
});

describe.skipIf(jailObstacle() !== undefined)('in the jail a child', () => {
  test('has no network and sees no other process, besides', async () => {
    const told = await probed(true);
    expect(told).toMatchObject({ passwd: { refused: 'ERR_ACCESS_DENIED' }, write: { refused: 'ERR_ACCESS_DENIED' }, command: { refused: 'ERR_ACCESS_DENIED' }, secret: null });
    expect(told.connection).not.toBe('connected');
    expect(told.processes).toEqual({ refused: 'ERR_ACCESS_DENIED' });
  });
});
