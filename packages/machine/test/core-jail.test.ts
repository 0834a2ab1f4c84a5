/** What a child process can reach, as it is started: measured by a script in the child's place that tries. */
import { spawn, spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { jailed, jailObstacle, nodeCommand } from '../src/hosts/jail.ts';

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

  test('finds nothing of the host, even without the permission model', () => {
    const inside = (...args: string[]) => {
      const { command, args: all } = jailed({ command: '/bin/sh', args: ['-c', ...args] }, []);
      return spawnSync(command, all, { encoding: 'utf8', env: { PATH: process.env.PATH } });
    };
    expect(inside('ls /etc').stdout.trim()).toBe('ld.so.cache');
    expect(inside('cat /etc/passwd').status).not.toBe(0);
    expect(inside('ls / | grep -E "home|root|work|var|srv|mnt"').stdout).toBe('');
    expect(inside('touch /usr/probe || touch /probe').status).not.toBe(0);
    expect(inside('cat /proc/net/tcp | wc -l').stdout.trim()).toBe('1');
    expect(Number(inside('ls -d /proc/[0-9]* | wc -l').stdout)).toBeLessThan(8);
  });
});
