/** Two documents of real services, of hundreds of operations: each is called as the document says, and stubs of all are sound. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pythonStubs, typescriptStubs } from '@fermata/tools/registry';
import { createFermata, type Fermata, type OpenToolSources, openEngine, openToolSources } from 'fermata';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type DocumentServer, documentServer } from './document-server.ts';
import { sample } from './sample.ts';

const module = (path: string) => fileURLToPath(new URL(`../../node_modules/${path}`, import.meta.url));
const DOCUMENTS = [
  { name: 'gitbook', file: module('@gitbook/api/spec/openapi.json'), operations: 377 },
  { name: 'figma', file: module('@figma/rest-api-spec/openapi/openapi.yaml'), operations: 54 },
];
let fermata: Fermata;
let folder: string;
beforeAll(() => {
  fermata = createFermata();
  folder = mkdtempSync(join(tmpdir(), 'fermata-openapi-'));
});
afterAll(async () => {
  await fermata.close();
  rmSync(folder, { recursive: true, force: true });
});

describe.each(DOCUMENTS)('$name', ({ name, file, operations }) => {
  let server: DocumentServer;
  let sources: OpenToolSources;
  beforeAll(async () => {
    server = await documentServer(parse(readFileSync(file, 'utf8')), { token: 't0ken', prefix: '/base' });
    sources = await openToolSources({ openapi: { [name]: { file, baseUrl: server.url, auth: { bearer: { secret: 'token' } } } }, secret: () => 't0ken' });
  });
  afterAll(async () => {
    await sources.close();
    server.close();
  });

  test('every operation is a tool', () => {
    expect(sources.tools).toHaveLength(operations);
    for (const tool of sources.tools) expect(tool.name).toMatch(new RegExp(`^${name}\\.[A-Za-z_][A-Za-z0-9_]*$`));
  });

  test('a call of every operation is what the document says', async () => {
    const failed: unknown[] = [];
    for (const { name: tool, parameters, check, execute } of sources.tools) {
      const args = sample(parameters, parameters) as Record<string, string>;
      try {
        await (execute as (args: unknown, info: object) => Promise<unknown>)(check(args), { idempotencyKey: 'k', signal: new AbortController().signal });
      } catch (error) {
        failed.push([tool, (error as Error).message, (error as { data?: { body?: string } }).data?.body?.slice(0, 300)]);
      }
    }
    expect(failed).toEqual([]);
    expect(new Set(server.served).size).toBe(operations);
  });

  test('its stubs compile strictly as TypeScript', () => {
    writeFileSync(join(folder, `${name}.ts`), typescriptStubs(sources.tools));
    const tsc = module('typescript/bin/tsc');
    expect(spawnSync(process.execPath, [tsc, '--strict', '--noEmit', '--ignoreConfig', '--target', 'es2023', `${name}.ts`], { cwd: folder, encoding: 'utf8' }).stdout).toBe('');
  });

  test('its stubs parse as Python, and can be loaded', async () => {
    const code =
      'import ast\ntree = ast.parse(task_input)\nexec(compile(tree, "stubs", "exec"), {"__name__": "stubs"})\nsum(isinstance(node, ast.FunctionDef) for node in ast.walk(tree))';
    const result = await fermata.run({ language: 'python', code, input: pythonStubs(sources.tools), limits: { maxCpuMs: 60_000, timeoutMs: 120_000 } });
    expect([result.status, result.status === 'failed' ? result.error : null, result.output]).toEqual(['succeeded', null, operations]);
  });
});

test('programs of both languages call them, durably, and never see the token', async () => {
  const [gitbook, figma] = DOCUMENTS as [(typeof DOCUMENTS)[0], (typeof DOCUMENTS)[0]];
  const servers = await Promise.all([gitbook, figma].map(({ file }) => documentServer(parse(readFileSync(file, 'utf8')), { token: 't0ken' })));
  const openapi = Object.fromEntries(
    [gitbook, figma].map(({ name, file }, i) => [name, { file, baseUrl: (servers[i] as DocumentServer).url, auth: { bearer: { secret: 'token' } } }]),
  );
  await using opened = await openEngine({ sources: { openapi }, secret: () => 't0ken' });
  const run = async (language: 'python' | 'javascript', code: string) => {
    const { taskId } = await opened.engine.submit('t', { language, code, limits: {} });
    const ref = { tenant: 't', taskId };
    const view = await opened.engine.wait(ref, 60_000);
    expect(JSON.stringify([view, await opened.engine.journal(ref)])).not.toContain('t0ken');
    return view;
  };
  const python = `
file = tools.figma.getFile(file_key="abc", depth=1)
tools.figma.postComment(file_key="abc", body={"message": "hi"})
try:
    tools.figma.postComment(file_key="abc", body={"massage": "hi"})
except Exception as e:
    wrong = str(e)
["name" in file, wrong]`;
  expect(await run('python', python)).toMatchObject({ error: null, output: [true, expect.stringContaining("body must have required property 'message'")] });
  const javascript = `
const [user, space] = await Promise.all([tools.gitbook.getAuthenticatedUser({}), tools.gitbook.getSpaceById({ spaceId: 'a-b' })]);
const missing = await tools.gitbook.getSpaceById({}).catch((error) => error.message);
return [typeof user.id, typeof space.id, missing];`;
  expect(await run('javascript', javascript)).toMatchObject({ error: null, output: ['string', 'string', expect.stringContaining("must have required property 'spaceId'")] });
  for (const server of servers) server.close();
});
