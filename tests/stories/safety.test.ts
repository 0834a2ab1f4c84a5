/** Story 1: code that reads the host's files, starts processes or removes things is stopped by name, and nothing outside changes. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { processesUnder } from '../player/processes.ts';
import { StoryServer } from './story-server.ts';

const CANARY = 'nobody has touched this';
let server: StoryServer;
let host: string;
let passwords: string;

beforeAll(async () => {
  server = await StoryServer.start({ host: 'processes' });
  host = mkdtempSync(join(tmpdir(), 'fermata-canary-'));
  mkdirSync(join(host, 'below'));
  writeFileSync(join(host, 'below/canary.txt'), CANARY);
  passwords = existsSync('/etc/passwd') ? readFileSync('/etc/passwd', 'utf8') : '';
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(host, { recursive: true });
});

interface Attack {
  what: string;
  language: 'python' | 'javascript';
  code: (folder: string) => string;
  name: string;
  /** What its message says. */
  says: RegExp;
  constraints?: { allowed_libraries?: string[] };
  errorCode?: string;
}

const ATTACKS: Attack[] = [
  { what: 'reads /etc/passwd', language: 'python', code: () => "open('/etc/passwd').read()", name: 'FileNotFoundError', says: /No such file or directory: '\/etc\/passwd'/ },
  { what: 'reads a file of the host', language: 'python', code: (folder) => `open('${folder}/below/canary.txt').read()`, name: 'FileNotFoundError', says: /No such file/ },
  { what: 'reads by a way round', language: 'python', code: () => "open('/work/../../../etc/passwd').read()", name: 'FileNotFoundError', says: /No such file/ },
  {
    what: 'starts a shell',
    language: 'python',
    code: () => "import subprocess\nsubprocess.run('id > /tmp/pwned', shell=True)",
    name: 'OSError',
    says: /this machine has no other processes/,
  },
  { what: 'starts a shell by os.system', language: 'python', code: () => "import os\nos.system('rm -rf /')", name: 'OSError', says: /this machine has no other processes/ },
  { what: 'removes files', language: 'python', code: (folder) => `import shutil\nshutil.rmtree('${folder}')`, name: 'FileNotFoundError', says: /No such file/ },
  {
    what: 'imports what is not allowed',
    language: 'python',
    code: () => 'import os\nos.listdir("/")',
    name: 'ImportError',
    says: /os/,
    constraints: { allowed_libraries: ['math'] },
    errorCode: 'library_not_allowed',
  },
  {
    what: 'reads /etc/passwd',
    language: 'javascript',
    code: () => "const fs = await import('fs'); return fs.readFileSync('/etc/passwd', 'utf8')",
    name: 'ReferenceError',
    says: /import\('fs'\) is not available here/,
  },
  { what: 'starts a shell', language: 'javascript', code: () => "return require('child_process').execSync('id')", name: 'ReferenceError', says: /require/ },
  {
    what: 'removes files',
    language: 'javascript',
    code: (folder) => `return require('node:fs').rmSync('${folder}', { recursive: true })`,
    name: 'ReferenceError',
    says: /require/,
  },
  { what: 'reaches for the process', language: 'javascript', code: () => 'return process.kill(process.ppid, 9)', name: 'ReferenceError', says: /process/ },
];

test.for(ATTACKS)('$language that $what fails by name, and the host is as it was', async ({ language, code, name, says, constraints, errorCode = 'guest_error' }) => {
  const { pid } = server;
  const { status, body } = await server.fetch('POST', '/tasks', { language, code: code(host), wait_seconds: 100, ...(constraints ? { tool_constraints: constraints } : {}) });
  expect(status).toBe(201);
  expect(body).toMatchObject({ status: 'failed', error: { code: errorCode, message: expect.stringMatching(says) }, result: { output: null } });
  if (errorCode === 'guest_error') expect(body.error).toMatchObject({ name });

  expect(readdirSync(host)).toEqual(['below']);
  expect(readFileSync(join(host, 'below/canary.txt'), 'utf8')).toBe(CANARY);
  expect(existsSync('/tmp/pwned')).toBe(false);
  if (passwords) expect(readFileSync('/etc/passwd', 'utf8')).toBe(passwords);
  expect(processesUnder(pid).filter(({ command }) => !/hosts\/child\.js/.test(command))).toEqual([]);

  const after = await server.fetch('POST', '/tasks', { language, code: language === 'python' ? '6 * 7' : 'return 6 * 7', wait_seconds: 100 });
  expect(after.body).toMatchObject({ status: 'succeeded', result: { output: 42 } });
  expect(server.pid).toBe(pid);
  process.kill(pid, 0);
});
