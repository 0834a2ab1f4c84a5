/** Attempts that go on from where the task was, and rounds that begin from the start. */
import { FermataError, type Host, type HostedMachine } from '@fermata/protocol';
import { expect, test } from 'vitest';
import { premises, sharedHost, type TestTool } from './premises.ts';

/** Its first machine breaks down when it is advanced for the `n`th time. */
function breakingHost(n: number): Host {
  const host = sharedHost();
  let left = n;
  const breaking = (machine: HostedMachine): HostedMachine =>
    new Proxy(machine, {
      get: (target, name) => {
        const own = Reflect.get(target, name);
        if (typeof own !== 'function') return own;
        return (...args: unknown[]) => {
          if (name === 'advance' && left-- === 1) return Promise.reject(new FermataError('sandbox_lost', 'the machine broke down'));
          return own.apply(target, args);
        };
      },
    });
  return new Proxy(host, {
    get: (target, name) => {
      const own = Reflect.get(target, name);
      if (name === 'create') return async (...args: Parameters<Host['create']>) => breaking(await target.create(...args));
      return typeof own === 'function' ? own.bind(target) : own;
    },
  });
}

test.each([3, 4])('a next attempt after a machine that broke down at advance %i goes on with the calls that were made', async (n) => {
  const called: number[] = [];
  const add: TestTool = {
    name: 'add',
    execute: ({ n }: { n: number }) => {
      called.push(n);
      return n + 1;
    },
  };
  const { run, engine, ref } = await premises([add], { host: breakingHost(n) });
  const code = 'let n = 0; for (let i = 0; i < 4; i++) n = await tools.add({ n }); return n';
  const task = await run({ code, retry: { maxAttempts: 2, backoffMs: 1 } });
  expect(task).toMatchObject({ status: 'succeeded', attempt: 2, output: 4 });
  expect(called).toEqual([0, 1, 2, 3]);
  expect(await engine.verify(ref(task.taskId))).toMatchObject({ verified: true, differences: [] });
});
