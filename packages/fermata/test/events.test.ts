/** Events come in order and while the program runs, each output once. */
import { createFermata, type TaskEvent } from 'fermata';
import { afterAll, expect, test } from 'vitest';

const fermata = createFermata({ tools: [{ name: 'echo', execute: (args) => args }, { name: 'ask' }] });
afterAll(() => fermata.close());

/** What happened, without positions, and with adjacent output joined. */
function story(events: TaskEvent[]): string[] {
  const lines: string[] = [];
  for (const event of events) {
    if (event.type === 'position') continue;
    if (event.type === 'output') {
      const text = `${event.stream}: ${event.text}`;
      if (lines.at(-1)?.startsWith(`${event.stream}: `)) lines[lines.length - 1] += event.text;
      else lines.push(text);
    } else if (event.type === 'status') lines.push(event.status);
    else if (event.type === 'call') lines.push(`call ${event.call.id}`);
    else if (event.type === 'call_settled') lines.push(`settled ${event.call.id}`);
    else if (event.type === 'step') lines.push(`step ${event.name}`);
    else if (event.type === 'progress') lines.push(`progress ${event.value}`);
    else lines.push(event.type);
  }
  return lines;
}

const PROGRAMS = {
  python: 'from fermata import step, progress, checkpoint\nstep("load")\nprint("one")\ntools.echo(n=1)\nprogress(0.5)\ncheckpoint()\nprint("two")\nx = step("sum", lambda: 3)',
  javascript: 'step("load");\nconsole.log("one");\nawait tools.echo({ n: 1 });\nprogress(0.5);\nawait checkpoint();\nconsole.log("two");\nconst x = await step("sum", () => 3);',
} as const;

test.each(['python', 'javascript'] as const)('a program in %s is told step by step, in the order in which things happen', async (language) => {
  const events: TaskEvent[] = [];
  await fermata.run({ language, code: PROGRAMS[language], onEvent: (event) => events.push(event) });
  expect(story(events)).toEqual(['running', 'step load', 'stdout: one\n', 'call 1', 'settled 1', 'progress 0.5', 'checkpoint', 'stdout: two\n', 'step sum', 'succeeded']);
});

test('output is told while the program still runs', async () => {
  const printed = Promise.withResolvers<string>();
  await using task = await fermata.start({
    language: 'python',
    code: 'print("early")\nwhile True:\n    pass',
    onEvent: (event) => event.type === 'output' && printed.resolve(event.text),
  });
  const run = task.run();
  expect(await printed.promise).toBe('early\n');
  expect(task.status).toBe('running');
  await task.cancel();
  expect(await run).toMatchObject({ status: 'cancelled', stdout: 'early\n' });
});

test('a restored task tells only what comes after', async () => {
  await using task = await fermata.start({ language: 'javascript', code: 'console.log("before"); await tools.ask({}); console.log("after");' });
  await task.run();
  const events: TaskEvent[] = [];
  await using later = await fermata.restore(await task.snapshot(), { trust: true, onEvent: (event) => events.push(event) });
  later.answer(1, 1);
  expect(await later.run()).toMatchObject({ stdout: 'before\nafter\n' });
  expect(story(events)).toEqual(['settled 1', 'running', 'stdout: after\n', 'succeeded']);
});

test('a call that nobody awaited is a finding', async () => {
  const events: TaskEvent[] = [];
  const code = 'import asyncio\nasync def main():\n    tools.echo(n=1)\nasyncio.run(main())';
  await fermata.run({ language: 'python', code, onEvent: (event) => events.push(event) });
  expect(events).toContainEqual({ type: 'finding', message: expect.stringContaining('echo'), line: 3 });
});

test('characters that are cut between writes come out whole', async () => {
  const events: TaskEvent[] = [];
  const code = 'import sys\nfor byte in "\\u20ac\\U0001f680".encode():\n    sys.stdout.buffer.write(bytes([byte]))\n    sys.stdout.flush()';
  const { stdout } = await fermata.run({ language: 'python', code, onEvent: (event) => events.push(event) });
  expect(stdout).toBe('\u20ac\u{1f680}');
  expect(story(events)).toContain('stdout: \u20ac\u{1f680}');
});
