/**
 * The official conformance scenarios for servers, against ours.
 *
 * Most scenarios call tools, read resources and get prompts of an example server. What they say of a server that has not got those is
 * nothing, so the first test lists them as failures that are expected: one that begins to pass, and one that ceases to, fails it. Those
 * that are about what our transport has to carry - progress, log messages, requests to the client, streams that are cut - run in the
 * second test, against the example tools behind our sessions.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { McpSessions } from '../src/mcp/mcp-sessions.ts';
import { exampleServer } from './conformance-examples.ts';
import { listening } from './listening.ts';
import { listenWithKey } from './with-key.ts';

/** It has a command and no entry. */
const CLI = fileURLToPath(new URL('../../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url));
const MiB = 1024 * 1024;
/** The scenario of streams that are cut is of this version, and names an older one, for which the SDK leaves out what it looks for. */
const VERSION = '2025-11-25';

const OUR_NONE = 'Fermata offers none of it';
/** Scenarios that need what the example server has, and why they say nothing of ours. */
const NEED_EXAMPLES: Record<string, string> = {
  ...Object.fromEntries(['logging-set-level', 'completion-complete', 'resources-subscribe', 'resources-unsubscribe'].map((name) => [name, OUR_NONE])),
  ...Object.fromEntries(['list', 'get-simple', 'get-with-args', 'get-embedded-resource', 'get-with-image'].map((name) => [`prompts-${name}`, 'prompts: Fermata has none'])),
  ...Object.fromEntries(['read-text', 'read-binary', 'templates-read'].map((name) => [`resources-${name}`, 'reads test:// resources'])),
  ...Object.fromEntries(
    ['image', 'audio', 'embedded-resource', 'mixed-content', 'with-logging', 'with-progress', 'sampling', 'elicitation'].map((name) => [
      `tools-call-${name}`,
      'calls a tool of the example server',
    ]),
  ),
  'json-schema-2020-12': 'lists a tool of the example server',
  'elicitation-sep1034-defaults': 'calls a tool of the example server',
  'elicitation-sep1330-enums': 'calls a tool of the example server',
  'server-sse-polling': 'calls a tool of the example server, which closes its stream',
};
const TRANSPORT = ['tools-call-with-progress', 'tools-call-with-logging', 'tools-call-sampling', 'tools-call-elicitation', 'server-sse-polling', 'server-sse-multiple-streams'];

async function conformance(args: string[]): Promise<{ code: number | null; said: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'fermata-conformance-'));
  try {
    const baseline = join(folder, 'expected.yml');
    writeFileSync(
      baseline,
      `server:\n${Object.keys(NEED_EXAMPLES)
        .map((name) => `  - ${name}\n`)
        .join('')}`,
    );
    const child = spawn(process.execPath, [CLI, 'server', ...args.map((arg) => (arg === 'BASELINE' ? baseline : arg))], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), new Promise<number | null>((resolve) => child.once('close', resolve))]);
    return { code, said: out + err };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('every scenario that applies to any server passes, and no other does', async () => {
  const at = await listening();
  const server = await listenWithKey(at.server.fetch, at.key);
  try {
    const { code, said } = await conformance(['--url', server.url, '--suite', 'all', '--expected-failures', 'BASELINE']);
    expect(code, said).toBe(0);
    for (const name of ['server-initialize', 'ping', 'tools-list', 'resources-list', 'server-sse-multiple-streams', 'dns-rebinding-protection'])
      expect(said).toContain(`\u2713 ${name}`);
    expect(at.errors).toEqual([]);
  } finally {
    await server.close();
    await at.close();
  }
});

test('what our sessions and streams have to carry passes with the example tools', async () => {
  const sessions = new McpSessions({ newServer: exampleServer, maxBodyBytes: MiB, heartbeatMs: 15_000, retryMs: 50 });
  const server = await listenWithKey((request) => sessions.respond(request, { tenant: 't', scopes: [], by: 'test' }, 'key'), 'key', VERSION);
  try {
    for (const scenario of TRANSPORT) {
      const { code, said } = await conformance(['--url', server.url, '--scenario', scenario]);
      expect(code, said).toBe(0);
      expect(said, scenario).toContain('0 failed, 0 warnings');
    }
  } finally {
    await sessions.close();
    await server.close();
  }
});
