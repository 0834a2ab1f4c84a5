/** The examples of the adapters: a program waits for an approval, its process is killed, and a new one goes on; a third of the model calls is enough. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

test.each(['ai-sdk', 'langchain', 'openai-agents'])('%s: after kill -9 the program goes on from the state that the framework kept, and each effect happens once', (name) => {
  const { stdout, stderr, status } = spawnSync(process.execPath, [`examples/adapters/${name}.mjs`], { cwd: root, encoding: 'utf8', timeout: 100_000 });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain("asked to approve: pay { name: 'Ann', amount: 113 }\nthe process is killed");
  expect(stdout).toContain('what happened: pay 113 for Ann, notify ann@example.com\n');
  const [many, one] = [...stdout.matchAll(/: (\d+) model calls, (\d+) tokens in/g)].map(([, calls, tokens]) => [Number(calls), Number(tokens)] as const);
  expect([many?.[0], one?.[0]]).toEqual([6, 2]);
  expect(one?.[1]).toBeLessThan((many?.[1] ?? 0) / 3);
});
