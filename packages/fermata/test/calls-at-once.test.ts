/** Many calls of one program: how many are carried out together, and what is held of them. */
import { createFermata } from 'fermata';
import { afterAll, expect, test } from 'vitest';

const MiB = 1024 * 1024;
const fermata = createFermata();
afterAll(() => fermata.close());

/** A tool that is told of each begin, and whose calls end in the order in which they began, a moment later. */
function slowTool(answer: (i: number) => unknown = (i) => i) {
  const seen = { now: 0, most: 0, begun: [] as number[] };
  const execute = async ({ i }: { i: number }) => {
    seen.begun.push(i);
    seen.most = Math.max(seen.most, ++seen.now);
    await new Promise((resolve) => setTimeout(resolve, 5));
    seen.now--;
    return answer(i);
  };
  return { seen, tool: { name: 'slow', execute: execute as never } };
}

const GATHER = `import asyncio
async def main():
    return await asyncio.gather(*[tools.slow(i=i) for i in range(N)])
asyncio.run(main())`;

test('of many calls so many are carried out at once as the limit says, in their order, and the program gets all answers', async () => {
  for (const maxCallsAtOnce of [1, 3, undefined]) {
    const { seen, tool } = slowTool();
    const result = await fermata.run({ language: 'python', code: GATHER.replace('N', '40'), tools: [tool], limits: { maxCallsAtOnce } });
    expect(result.output).toEqual(Array.from({ length: 40 }, (_, i) => i));
    expect(seen.begun).toEqual(result.output);
    expect(seen.most).toBe(maxCallsAtOnce ?? 16);
  }
});

test('a call that waits for its turn is begun while the program computes', async () => {
  const { seen, tool } = slowTool();
  const code = 'const all = [0, 1, 2, 3].map((i) => tools.slow({ i })); let n = 0; while (n < 30_000_000) n++; return (await Promise.all(all)).length';
  expect(await fermata.run({ language: 'javascript', code, tools: [tool], limits: { maxCallsAtOnce: 1 } })).toMatchObject({ output: 4 });
  expect(seen.begun).toEqual([0, 1, 2, 3]);
});

test('calls that a program leaves behind when it ends are begun nevertheless', async () => {
  const { seen, tool } = slowTool(() => new Uint8Array(9 * MiB));
  const code = 'for (let i = 0; i < 9; i++) tools.slow({ i }); return "over"';
  expect(await fermata.run({ language: 'javascript', code, tools: [tool], limits: { maxCallsAtOnce: 2 } })).toMatchObject({ output: 'over' });
  expect(seen.begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
});

test('while a program takes no answers, no more calls are begun than fill the bound', async () => {
  const { seen, tool } = slowTool(() => new Uint8Array(9 * MiB));
  await using task = await fermata.start({
    language: 'javascript',
    code: 'const all = []; for (let i = 0; i < 30; i++) all.push(tools.slow({ i })); for (;;);',
    tools: [tool],
    limits: { maxCpuMs: 1500, maxCallsAtOnce: 2 },
  });
  expect((await task.run()).error?.code).toBe('cpu_limit');
  // Four answers are more than the bound; one call may have been under way by then.
  expect(seen.begun.length).toBeLessThanOrEqual(5);
});

test('calls that wait for their turn are in a snapshot, and are carried out where it is restored', async () => {
  const { seen, tool } = slowTool();
  await using task = await fermata.start({ language: 'python', code: GATHER.replace('N', '6'), tools: [tool], limits: { maxCallsAtOnce: 1 } });
  await task.next();
  const snapshot = await task.snapshot();
  expect(seen.begun).toEqual([]);
  await using restored = await fermata.restore(snapshot, { tools: [tool], trust: true });
  expect((await restored.run()).output).toEqual([0, 1, 2, 3, 4, 5]);
  expect(seen.most).toBe(1);
});
