/**
 * The process that the crash suite kills: a server and its engine on a data folder, whose methods its parent calls by messages.
 *
 *     FERMATA_CRASH_FOLDER   the data folder; effects of tools are lines of the file `effects` beside it
 *     FERMATA_CRASH_AT       moment:count, at which it kills itself with -9; absent: it waits for its parent to do so
 *     FERMATA_CRASH_HOST     threads or processes
 *     FERMATA_CRASH_SLOW_MS  how long a commit takes longer than it has to, at most, as on a disk that is busy
 */
import { appendFileSync } from 'node:fs';
import type { Moment } from '@fermata/engine';
import { createServer, type WebhookMoment } from '@fermata/server';
import { FermataError, openEngine } from 'fermata';
import { byHeart } from './model.ts';
import { effectsFile, tools } from './tools.ts';

const { FERMATA_CRASH_FOLDER: folder = '', FERMATA_CRASH_AT: at, FERMATA_CRASH_HOST: host, FERMATA_CRASH_SLOW_MS: slowMs } = process.env;
const [label, count] = at?.split(':') ?? [];
let left = Number(count ?? 0);

const stall = new Int32Array(new SharedArrayBuffer(4));
const moment = (name: Moment | WebhookMoment) => {
  // The disk is waited for in this thread, so nothing else happens in it meanwhile.
  if (slowMs && name === 'commit.before') Atomics.wait(stall, 0, 0, Math.random() * Number(slowMs));
  if (name === label && --left <= 0) process.kill(process.pid, 'SIGKILL');
};
const model = byHeart(folder);
const began = performance.now();
const { engine, store, registry, close } = await openEngine({
  ...{ folder, moment, models: { defaultName: model.name, find: () => model }, tools: tools((line) => appendFileSync(effectsFile(folder), `${line}\n`)) },
  ...{ host: host === 'processes' ? 'processes' : 'threads', threads: 2, keepForTimerMs: 30, checkpointEveryCpuMs: 40, cancelGraceMs: 100, maxRunning: 12 },
});
const server = createServer({ engine, store, tools: registry, close, moment, webhooks: { network: { allowPrivate: true }, pollMs: 20 } });
await server.listen({ port: 0 });
type Request = { id: number; method: keyof typeof engine; args: unknown[] };

process.on('message', async ({ id, method, args }: Request) => {
  try {
    const value = await (engine[method] as (...args: unknown[]) => Promise<unknown>)(...args);
    process.send?.({ id, value });
  } catch (error) {
    const { code, message } = error instanceof FermataError ? error : { code: 'internal', message: String(error) };
    process.send?.({ id, error: { code, message } });
  }
});
process.on('disconnect', () => process.exit());
process.send?.({ ready: performance.now() - began });
