/** A program that is wrong in three ways ends right though its process is killed again and again; no reply is paid for twice. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EngineUnderFire } from './engine-under-fire.ts';
import { billed } from './model.ts';
import { effectsFile } from './tools.ts';

const ref = { tenant: 'acme', taskId: 'one' };
/** Each is counted from the start of its process. */
const DEATHS = ['model.after:1', 'model.before:2', 'model.after:2', 'deliver.after:1', 'commit.before:4'];

test('an instruction ends right over kills at its requests, replies, programs and commits', { timeout: 600_000 }, async () => {
  const root = mkdtempSync(join(tmpdir(), 'fermata-authored-'));
  const folder = join(root, 'data');
  try {
    for (const at of DEATHS) {
      const engine = new EngineUnderFire({ folder, host: 'threads', at });
      await engine.ready.catch(() => {});
      if (at === DEATHS[0]) await engine.call('submit', 'acme', { instruction: 'Do it' }, { taskId: 'one' }).catch(() => {});
      await engine.died;
    }
    const engine = new EngineUnderFire({ folder, host: 'threads' });
    await engine.ready;
    const task = await engine.call('wait', ref, 300_000);
    expect(task).toMatchObject({ status: 'succeeded', output: 'done a', answer: 'It is done.', authored: { version: 4 }, usage: { modelTokens: 55 } });
    const entries = await engine.call('journal', ref);
    const numbers = (kind: string) => entries.filter((entry) => entry.kind === kind).map(({ body }) => JSON.parse(body).n);
    expect([numbers('model_asked'), numbers('model_replied')]).toEqual([
      [1, 2, 3, 4, 5],
      [1, 2, 3, 4, 5],
    ]);
    expect(entries.filter(({ kind }) => kind === 'repair').map(({ body }) => JSON.parse(body).error.code)).toEqual(['syntax_error', 'unknown_tool', 'guest_error']);
    expect(new Set(billed(folder)).size).toBe(5);
    expect(billed(folder)).toHaveLength(5);
    // A lost call of a tool that is idempotent is made again, under its key; no program makes a second one.
    expect(new Set(readFileSync(effectsFile(folder), 'utf8').trim().split('\n')).size).toBe(1);
    await engine.kill();
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
