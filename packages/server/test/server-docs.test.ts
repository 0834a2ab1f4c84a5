/** Every request of docs/server.md is one that the server takes, and every route is in it. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Listening, listening } from './listening.ts';

let at: Listening;
beforeAll(async () => {
  at = await listening();
});
afterAll(() => at.close());

const page = readFileSync(new URL('../../../docs/server.md', import.meta.url), 'utf8');
const script = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, code]) => code).join('');

test('the lines of the page run from top to bottom', async () => {
  const here = script.replace('http://127.0.0.1:7070', at.url);
  expect(here).toContain(at.url);
  const { status, said } = await bash(`set -euo pipefail\n${here}`, { FERMATA_KEY: at.key });
  expect(status, said).toBe(0);
  expect(said).not.toContain('"code":"internal"');
});

test('the page names every route', async () => {
  const { paths } = (await at.ask('GET', '/openapi.json')).body as { paths: Record<string, object> };
  for (const path of Object.keys(paths)) {
    const parts = path.replace('/api/v1', '').split(/\{[^}]*\}/);
    for (const part of parts) expect(page, path).toContain(part.replace(/\/$/, ''));
  }
});

function bash(code: string, env: Record<string, string>): Promise<{ status: number | null; said: string }> {
  return new Promise((resolve) => {
    const child = spawn('bash', ['-c', `exec 2>&1\n${code}`], { env: { ...process.env, ...env } });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk;
    });
    child.on('close', (status) => resolve({ status, said }));
  });
}
