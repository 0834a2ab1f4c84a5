/** What survives the death of the process that runs tasks, one promise at a time; each death is a kill -9 of a real process. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TaskView } from 'fermata';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { EngineUnderFire } from './engine-under-fire.ts';

// Each life of a process takes seconds where the machine is busy.
vi.setConfig({ testTimeout: 600_000 });

const TENANT = 'acme';
let root: string;
let engine: EngineUnderFire;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'fermata-restarts-'));
  await live();
});
afterEach(async () => {
  await engine.kill();
  rmSync(root, { recursive: true });
});

const folder = () => join(root, 'data');
const ref = (taskId: string) => ({ tenant: TENANT, taskId });

async function live(): Promise<void> {
  engine = new EngineUnderFire({ folder: folder(), host: 'threads' });
  await engine.ready;
}
async function dieAndLive(): Promise<void> {
  await engine.kill();
  await live();
}
async function submit(code: string, taskId = 'one'): Promise<void> {
  await engine.call('submit', TENANT, { language: 'javascript', code }, { taskId });
}
async function until(holds: (view: TaskView) => boolean, taskId = 'one'): Promise<TaskView> {
  for (;;) {
    const view = await engine.call('task', ref(taskId));
    if (holds(view)) return view;
    await sleep(10);
  }
}
const ended = () => until(({ endedAt }) => endedAt !== null);

test('a busy loop is paused, killed, and resumed ten times, and comes to its result', async () => {
  await submit('let sum = 0; for (let i = 0; i < 60_000_000; i++) sum = (sum + i) % 1_000_003; return sum');
  let last = 0;
  for (let round = 0; round < 10; round++) {
    await until(({ status, usage }) => status === 'running' && usage.fuel > last);
    const paused = await engine.call('pause', ref('one'));
    expect(paused.status).toBe('paused');
    expect(paused.usage.fuel).toBeGreaterThan(last);
    last = paused.usage.fuel;
    await dieAndLive();
    expect(await engine.call('task', ref('one'))).toMatchObject({ status: 'paused', checkpointId: paused.checkpointId });
    await engine.call('resume', ref('one'));
  }
  let sum = 0;
  for (let i = 0; i < 60_000_000; i++) sum = (sum + i) % 1_000_003;
  expect(await ended()).toMatchObject({ status: 'succeeded', output: sum });
});

test('ten calls that wait at the same time are answered in reverse, with a death before each answer', async () => {
  await submit('const got = []; await Promise.all(Array.from({ length: 10 }, (_, n) => tools.ask({ n }).then((a) => got.push(a)))); return got');
  await until(({ waitingFor }) => waitingFor.length === 10);
  for (let n = 9; n >= 0; n--) {
    if (n % 3 === 0) await dieAndLive();
    const { waitingFor } = await until(({ status, waitingFor }) => status === 'waiting' && waitingFor.length === n + 1);
    const call = waitingFor.find((one) => (one.arguments as { n: number }).n === n);
    await engine.call('decide', ref('one'), call?.callId, { action: 'result', output: n }, 'me');
  }
  expect(await ended()).toMatchObject({ status: 'succeeded', output: [9, 8, 7, 6, 5, 4, 3, 2, 1, 0] });
});

test('the winner of a race survives a death', async () => {
  await submit('const first = await Promise.race([tools.ask({ n: 1 }), tools.ask({ n: 2 })]); const last = await tools.ask({ n: 3 }); return [first, last]');
  const two = (await until(({ status }) => status === 'waiting')).waitingFor.find((one) => (one.arguments as { n: number }).n === 2);
  await engine.call('decide', ref('one'), two?.callId, { action: 'result', output: 'second' }, 'me');
  const three = (await until(({ waitingFor }) => waitingFor.some((one) => (one.arguments as { n: number }).n === 3))).waitingFor;
  await dieAndLive();
  for (const n of [1, 3]) {
    const call = three.find((one) => (one.arguments as { n: number }).n === n);
    await engine.call('decide', ref('one'), call?.callId, { action: 'result', output: n }, 'me');
  }
  expect(await ended()).toMatchObject({ status: 'succeeded', output: ['second', 3] });
});

test('an approval that was given while nobody lived is no loss: a decision is durable before it is answered', async () => {
  await submit("return await tools.pay({ key: 'k', ms: 1 })");
  const { waitingFor } = await until(({ status }) => status === 'waiting');
  await engine.call('decide', ref('one'), waitingFor[0]?.callId, { action: 'approve' }, 'me');
  await dieAndLive();
  const view = await until(({ endedAt, waitingFor }) => endedAt !== null || waitingFor.length > 0);
  if (view.endedAt === null) {
    // The death fell between the start of the tool and its result.
    expect(view.waitingFor).toMatchObject([{ kind: 'outcome_unknown' }]);
    await engine.call('decide', ref('one'), view.waitingFor[0]?.callId, { action: 'result', output: 'done k' }, 'me');
  }
  expect(await ended()).toMatchObject({ status: 'succeeded', output: 'done k' });
});

test.each(['changed', 'cut', 'of another task'])('a checkpoint that is %s is refused, and the one before it is used', async (how) => {
  await submit('let n = await tools.ask({ n: 1 }); n += await tools.ask({ n: 2 }); return n + await tools.ask({ n: 3 })');
  await submit('return await tools.ask({ n: 9 })', 'other');
  await until(({ status }) => status === 'waiting', 'other');
  for (const n of [1, 2]) {
    const { waitingFor } = await until(({ waitingFor }) => waitingFor.some((one) => (one.arguments as { n: number }).n === n));
    await engine.call('decide', ref('one'), waitingFor[0]?.callId, { action: 'result', output: n }, 'me');
  }
  await until(({ status, waitingFor }) => status === 'waiting' && waitingFor.some((one) => (one.arguments as { n: number }).n === 3));
  await engine.kill();
  spoil(how);
  await live();
  const { waitingFor } = await until(({ status }) => status === 'waiting');
  await engine.call('decide', ref('one'), waitingFor[0]?.callId, { action: 'result', output: 3 }, 'me');
  expect(await ended()).toMatchObject({ status: 'succeeded', output: 6 });
  const journal = await engine.call('journal', ref('one'));
  expect(journal.filter(({ kind }) => kind === 'finding').map(({ body }) => body)).toEqual([expect.stringContaining('cannot be used')]);
});

const MUCH = `
const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, name: 'row ' + id }));
let sum = 0;
for (let n = 1; n <= 4; n++) {
  sum += await tools.ask({ n });
  for (const row of rows.slice(n * 100, n * 200)) row.name = 'changed';
}
return [sum, rows.filter(({ name }) => name === 'changed').length]`;

/** Answers the call with this number as soon as the task waits for nothing but it. */
async function answerAsk(n: number): Promise<void> {
  const { waitingFor } = await until(({ status, waitingFor }) => status === 'waiting' && waitingFor.some((one) => (one.arguments as { n: number }).n === n));
  await engine.call('decide', ref('one'), waitingFor[0]?.callId, { action: 'result', output: n }, 'me');
}

test('a task that holds much is kept as a full checkpoint and small increments on it, across deaths', async () => {
  await submit(MUCH);
  for (const n of [1, 2, 3]) {
    await answerAsk(n);
    await until(({ status, waitingFor }) => status === 'waiting' && waitingFor.some((one) => (one.arguments as { n: number }).n === n + 1));
    await dieAndLive();
  }
  const [newest, before, ground, ...more] = await engine.call('checkpoints', ref('one'));
  expect(more).toEqual([]);
  expect([newest?.ground, before?.ground, ground?.ground]).toEqual([ground?.checkpointId, ground?.checkpointId, undefined]);
  for (const increment of [newest, before]) expect(increment?.bytes).toBeLessThan(0.1 * (ground?.bytes ?? 0));
  await answerAsk(4);
  expect(await ended()).toMatchObject({ status: 'succeeded', output: [10, 700] });
  expect(await engine.call('verify', ref('one'))).toMatchObject({ verified: true, differences: [] });
});

test('where the ground of its increments is damaged a task goes on from its journal', async () => {
  await submit(MUCH);
  for (const n of [1, 2]) await answerAsk(n);
  await until(({ status, waitingFor }) => status === 'waiting' && waitingFor.some((one) => (one.arguments as { n: number }).n === 3));
  const [newest] = await engine.call('checkpoints', ref('one'));
  await engine.kill();
  spoilFile(newest?.ground as string);
  await live();
  for (const n of [3, 4]) await answerAsk(n);
  expect(await ended()).toMatchObject({ status: 'succeeded', output: [10, 700] });
  const findings = (await engine.call('journal', ref('one'))).filter(({ kind }) => kind === 'finding').map(({ body }) => body);
  expect(findings.length).toBeGreaterThan(0);
  for (const finding of findings) expect(finding).toContain('cannot be used');
});

/** Changes a byte in the file of a checkpoint; the store's own sum is made to fit. */
function spoilFile(checkpointId: string): void {
  const db = new DatabaseSync(join(folder(), 'store.db'));
  const { key, file } = db.prepare('SELECT payloads.key, file FROM payloads JOIN checkpoints ON payload = payloads.key WHERE checkpoint_id = ?').get(checkpointId) as {
    key: number;
    file: string;
  };
  const path = join(folder(), 'blobs', file.slice(0, 2), file);
  const data = readFileSync(path);
  data[data.length >> 1] = (data[data.length >> 1] as number) ^ 1;
  writeFileSync(path, data);
  db.prepare('UPDATE payloads SET sha256 = ? WHERE key = ?').run(createHash('sha256').update(data).digest(), key);
  db.close();
}

/** Does to the bytes of the newest checkpoint of task `one` what a fault or an attacker would do; the store's own sum is made to fit. */
function spoil(how: string): void {
  const db = new DatabaseSync(join(folder(), 'store.db'));
  const newest = 'SELECT payload FROM checkpoints JOIN tasks ON tasks.key = checkpoints.task WHERE task_id = ? ORDER BY checkpoints.key DESC LIMIT 1';
  const payloadOf = (taskId: string) => (db.prepare(newest).get(taskId) as { payload: number }).payload;
  const read = (key: number) => Buffer.from((db.prepare('SELECT data FROM payloads WHERE key = ?').get(key) as { data: Uint8Array }).data);
  const key = payloadOf('one');
  let data = read(key);
  if (how === 'changed') data[data.length >> 1] = (data[data.length >> 1] as number) ^ 1;
  else if (how === 'cut') data = data.subarray(0, data.length >> 1);
  else data = read(payloadOf('other'));
  const sha256 = createHash('sha256').update(data).digest();
  db.prepare('UPDATE payloads SET data = ?, bytes = ?, sha256 = ? WHERE key = ?').run(data, data.length, sha256, key);
  db.close();
}
