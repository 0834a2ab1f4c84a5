/** BullMQ on a Redis of its own that writes every change to the disk before it answers (appendfsync always). */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { peerModule } from './peer-module.ts';

interface Job {
  waitUntilFinished(events: object): Promise<unknown>;
}
interface Module {
  Queue: new (name: string, options: object) => { add(name: string, data: object, options: object): Promise<Job>; close(): Promise<void> };
  Worker: new (name: string, handler: (job: { data: { n: number } }) => Promise<number>, options: object) => { close(): Promise<void> };
  QueueEvents: new (name: string, options: object) => { waitUntilReady(): Promise<unknown>; close(): Promise<void> };
}

export async function openBullmq() {
  const { Queue, Worker, QueueEvents } = await peerModule<Module>('bullmq');
  const folder = mkdtempSync(join(tmpdir(), 'fermata-bench-redis-'));
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
  const redis = spawn('redis-server', args, { stdio: 'ignore' });
  const failed = new Promise<never>((_, reject) => redis.once('error', () => reject(new Error('there is no redis-server here'))));
  await Promise.race([sleep(500), failed]);
  const { Redis } = await peerModule<{ Redis: new (options: object) => { quit(): Promise<unknown> } }>('ioredis');
  const connection = new Redis({ host: '127.0.0.1', port, maxRetriesPerRequest: null });
  const queue = new Queue('bench', { connection });
  const events = new QueueEvents('bench', { connection });
  const worker = new Worker('bench', async ({ data }) => data.n * 2, { connection, concurrency: 100 });
  await events.waitUntilReady();
  return {
    run: async (n: number) => (await queue.add('double', { n }, { removeOnComplete: true })).waitUntilFinished(events),
    close: async () => {
      await Promise.all([worker.close(), queue.close(), events.close()]);
      await connection.quit().catch(() => {});
      redis.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
