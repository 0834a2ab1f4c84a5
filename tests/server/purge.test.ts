/** What is left in the data folder of a server when a task was deleted: nothing of what it held. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@fermata/client';
import { createServer } from '@fermata/server';
import { openEngine } from 'fermata';
import { expect, test } from 'vitest';

const SECRET = 'hunter2-correct-horse';

/** Files under `folder` in which the secret stands. */
function filesWith(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => join(parentPath, name)).filter((path) => readFileSync(path).includes(SECRET));
}

test('a secret in code, input, arguments, results, output, files and checkpoints of a deleted task is found nowhere in the data folder', { timeout: 300_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fermata-purge-'));
  const { engine, store, registry, close } = await openEngine({ folder });
  const server = createServer({ engine, store, tools: registry, close, development: true });
  try {
    const client = createClient({ url: await server.listen({ port: 0 }), key: server.developmentKey as string });
    await client.tools.add({ kind: 'code', name: 'echo', language: 'javascript', code: 'return input.text' });
    await client.tools.add({ kind: 'client', name: 'ask', parameters: { type: 'object' } });
    const large = `${SECRET} `.repeat(20_000);
    const file = await client.files.put('in.txt', new TextEncoder().encode(large));
    const code = `# ${SECRET}
kept = open('/work/in.txt').read() + task_input['text']
print(kept[:200])
said = tools.echo(text=kept[:500])
answer = tools.ask(about=said)
open('/work/out.txt', 'w').write(kept + answer)
kept[:1000] + answer`;
    const task = {
      task_id: 'one',
      session_id: 's',
      language: 'python' as const,
      code,
      input: { text: SECRET },
      stdin: SECRET,
      files: [{ file_id: file.file_id, path: '/work/in.txt' }],
    };
    const waiting = await client.tasks.create({ ...task, metadata: { note: SECRET }, wait_seconds: 120 });
    const [call] = 'waiting_for' in waiting ? (waiting.waiting_for ?? []) : [];
    expect(call, JSON.stringify(waiting).slice(0, 2000)).toMatchObject({ tool: 'ask' });
    await client.calls.result('one', call?.call_id ?? '', { output: SECRET });
    expect(await client.tasks.wait('one', { timeoutSeconds: 120 })).toMatchObject({ status: 'succeeded', result: { output: expect.stringContaining(SECRET) } });
    // Otherwise its absence would say nothing.
    expect(filesWith(folder)).toContain(join(folder, 'store.db-wal'));

    await client.tasks.purge('one');
    await client.files.remove(file.file_id);
    await expect(client.files.get(file.file_id)).rejects.toMatchObject({ code: 'not_found' });
    expect(filesWith(folder)).toEqual([]);
    expect((await client.tasks.list()).items).toEqual([]);
  } finally {
    await server.close({ drainMs: 1000 });
  }
  expect(filesWith(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});
