/** asyncio over a machine: calls overlap, time passes only in waits, and answers come in the host's order. */
import { describe, expect, test } from 'vitest';
import { echo, errorOf, lateEcho, resultOf, runPython, START_MS } from './run-python.ts';

const tools = { echo, late: lateEcho };
const asyncMain = (body: string) => `import asyncio\nasync def main():\n${body.replace(/^/gm, '    ')}\n__result__ = asyncio.run(main())`;

test('calls that are gathered are all started before the first answer', () => {
  let most = 0;
  const ran = runPython(asyncMain('return await asyncio.gather(*(tools.echo(i=i) for i in range(5)))'), {
    with: tools,
    onStop: (machine) => {
      most = Math.max(most, machine.pending.length);
      return machine;
    },
  });
  expect(ran.outcome).toMatchObject({ kind: 'done', value: [0, 1, 2, 3, 4].map((i) => ({ i })) });
  expect(most).toBe(5);
});

test.each([
  ['a task of a call', 't = asyncio.create_task(tools.echo(a=1)); return await t'],
  ['a task group', 'async with asyncio.TaskGroup() as g:\n    t = g.create_task(tools.echo(a=1))\nreturn t.result()'],
  ['wait', 'done, _ = await asyncio.wait([tools.echo(a=1)]); return done.pop().result()'],
  ['as_completed', 'for f in asyncio.as_completed([tools.echo(a=1)]): return await f'],
  ['wait_for', 'return await asyncio.wait_for(tools.late(a=1), 5)'],
  ['shield', 'return await asyncio.shield(tools.echo(a=1))'],
  ['to_thread', 'return await asyncio.to_thread(tools.echo, a=1)'],
  ['run_in_executor', 'return await asyncio.get_running_loop().run_in_executor(None, lambda: tools.echo(a=1))'],
  ['a queue', 'q = asyncio.Queue(1)\nasync def put():\n    await q.put(await tools.echo(a=1))\nt = asyncio.create_task(put()); return await q.get()'],
])('%s gives the answer', (_, body) => {
  expect(resultOf(asyncMain(body), { with: { echo, late: { ...lateEcho, late: false } } })).toEqual({ a: 1 });
});

test('top-level await runs the whole program in a loop', () => {
  expect(resultOf('import asyncio\na = await tools.echo(a=1)\nb, c = await asyncio.gather(tools.echo(b=2), asyncio.sleep(1, 3))\n[a, b, c]', { with: tools })).toEqual([
    { a: 1 },
    { b: 2 },
    3,
  ]);
});

test('time passes in waits alone, and a month of sleep is one wait', () => {
  const ran = runPython(asyncMain('await asyncio.gather(asyncio.sleep(30 * 86400), asyncio.sleep(5))\nimport time\ntime.sleep(1)\nreturn time.time()'));
  expect(ran.waitedMs).toBeGreaterThanOrEqual(30 * 86_400_000 + 1000);
  expect(ran.outcome).toMatchObject({ kind: 'done' });
  expect((ran.outcome as { value: number }).value).toBeGreaterThanOrEqual(START_MS / 1000 + 30 * 86_400 + 1);
});

test('a timeout leaves the call behind; its late answer changes nothing, and the program ends after it', () => {
  const code = asyncMain('try:\n    async with asyncio.timeout(2):\n        await tools.late(a=1)\nexcept TimeoutError:\n    return "timeout"');
  const ran = runPython(code, { with: tools });
  expect(ran.outcome).toMatchObject({ kind: 'done', value: 'timeout' });
  expect(ran.machine.pending).toEqual([]);
});

test('polling with sleep(0) ends when the answer is there', () => {
  const polls = asyncMain('t = asyncio.ensure_future(tools.echo(a=1)); n = 0\nwhile not t.done():\n    n += 1; await asyncio.sleep(0)\nreturn n');
  expect(resultOf(polls, { with: tools })).toBeGreaterThan(50);
});

test('blocking in a loop keeps the answers that came meanwhile, in order', () => {
  const code = asyncMain(
    'import time\nseen = []\nfor i in range(3): tools.echo(i=i).add_done_callback(lambda f: seen.append(f.result()["i"]))\ntime.sleep(1)\nassert seen == []\nawait asyncio.sleep(1)\nreturn seen',
  );
  expect(resultOf(code, { with: tools })).toEqual([0, 1, 2]);
});

describe('what is wrong with waiting is said', () => {
  test('tasks that wait for each other are a deadlock, with the lines', () => {
    expect(errorOf(asyncMain('await asyncio.Event().wait()'))).toMatchObject({ name: 'RuntimeError', message: expect.stringMatching(/^deadlock: .*main at line 3/) });
  });

  test('a call that is used without await says so', () => {
    expect(errorOf(asyncMain('r = tools.echo(a=1)\nreturn r["a"]'), { with: tools }).message).toBe('tools.echo(...) was not awaited: write `await tools.echo(...)`');
  });

  test('a call that is never awaited is a finding with its line, and is waited for', () => {
    const ran = runPython(asyncMain('tools.late(a=1)'), { with: tools });
    expect(ran.outcome.kind).toBe('done');
    expect(ran.notes).toEqual([{ note: 'finding', message: expect.stringContaining('tools.late was started and never awaited'), line: 3 }]);
  });
});

test('cancelled, failed and grouped calls raise what asyncio raises', () => {
  const failing = {
    call: () => {
      throw Object.assign(new Error('no'), { name: 'KeyError' });
    },
  };
  const body = `
out = []
t = asyncio.create_task(tools.late(a=1)); await asyncio.sleep(1); t.cancel()
try: await t
except asyncio.CancelledError: out.append("cancelled")
try: await tools.fail()
except KeyError as e: out.append(str(e))
try:
    async with asyncio.TaskGroup() as g:
        g.create_task(tools.fail()); g.create_task(tools.fail())
except* KeyError as e: out.append(len(e.exceptions))
return out`;
  expect(resultOf(asyncMain(body), { with: { ...tools, fail: failing } })).toEqual(['cancelled', 'no', 1]);
});
