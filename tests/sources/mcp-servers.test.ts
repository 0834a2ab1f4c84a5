/** The MCP servers that the protocol's own project publishes, used by durable programs in both languages. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pythonStubs, typescriptStubs } from '@fermata/tools/registry';
import { defineTool, type Language, type OpenEngine, openEngine, type ToolSourcesOptions } from 'fermata';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const TENANT = 'default';
const bin = (name: string) => fileURLToPath(new URL(`../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url));

let folder: string;
let shared: string;
let opened: OpenEngine;
let count = 0;
const sources = (): ToolSourcesOptions => ({
  mcp: {
    everything: { command: process.execPath, args: [bin('everything')] },
    files: { command: process.execPath, args: [bin('filesystem'), shared] },
    memory: { command: process.execPath, args: [bin('memory')], env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } },
  },
});
const start = () =>
  openEngine({ folder: join(folder, 'data'), sources: sources(), tools: [{ name: 'ask', description: 'asks a person' }], policy: [{ tool: 'files.*', action: 'allow' }] });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fermata-mcp-'));
  shared = mkdtempSync(join(tmpdir(), 'fermata-files-'));
  opened = await start();
});
afterAll(async () => {
  await opened.close();
  for (const one of [folder, shared]) rmSync(one, { recursive: true, force: true });
});

async function submit(language: Language, code: string, input?: unknown) {
  const ref = { tenant: TENANT, taskId: `task-${count++}` };
  await opened.engine.submit(TENANT, { language, code, input, limits: {} }, { taskId: ref.taskId });
  return { ref, view: await opened.engine.wait(ref, 60_000) };
}
async function run(language: Language, code: string, input?: unknown) {
  const { view } = await submit(language, code, input);
  expect(view.error ?? null).toBeNull();
  return view.output;
}

test('their tools are there, with what their hints say', async () => {
  const sources = await opened.registry.sources(TENANT);
  expect(sources.map(({ name, state, fault }) => [name, state, fault])).toEqual(['everything', 'files', 'memory'].map((name) => [name, 'connected', undefined]));
  const tools = new Map((await opened.registry.list(TENANT)).map((registered) => [registered.tool.name, registered]));
  expect(tools.get('everything.get_sum')).toMatchObject({ kind: 'mcp', source: 'everything', originalName: 'get-sum' });
  expect(tools.get('files.read_text_file')?.tool).toMatchObject({ idempotent: true, requiresApproval: false });
  expect(tools.get('files.write_file')?.tool).toMatchObject({ idempotent: true, requiresApproval: true });
  expect(tools.get('files.move_file')?.tool).toMatchObject({ idempotent: false, requiresApproval: true });
});

test('their stubs compile strictly as TypeScript and parse as Python', async () => {
  const tools = (await opened.registry.list(TENANT)).map(({ tool }) => tool);
  writeFileSync(join(folder, 'stubs.ts'), typescriptStubs(tools));
  const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
  expect(spawnSync(process.execPath, [tsc, '--strict', '--noEmit', '--ignoreConfig', '--target', 'es2023', 'stubs.ts'], { cwd: folder, encoding: 'utf8' }).stdout).toBe('');
  const code = 'import ast\nsum(isinstance(node, ast.FunctionDef) for node in ast.walk(ast.parse(task_input)))';
  expect(await run('python', code, pythonStubs(tools))).toBe(tools.length);
  const odd = ['class', 'a.def', 'a', 'x-y'].map((name) => defineTool({ name, parameters: { type: 'object', properties: { 'a-b': {}, from: {} } }, execute: () => 1 }));
  expect(await run('python', code, pythonStubs(odd))).toBe(4);
});

describe('everything', () => {
  test('Python calls it in sequence and in parallel', async () => {
    const code = `
import asyncio
first = tools.everything.echo(message="hi")
async def many():
    return await asyncio.gather(*[tools.everything.get_sum(a=n, b=1) for n in range(5)])
sums = asyncio.run(many())
image = tools.everything.get_tiny_image()
weather = tools.everything.get_structured_content(location="Chicago")
try:
    tools.everything.get_sum(a="x", b=1)
    wrong = None
except Exception as e:
    wrong = type(e).__name__ + ": " + str(e)
[first, [s.split()[-1] for s in sums], [part["mimeType"] + " " + str(type(part["data"]).__name__) for part in image if isinstance(part, dict)], sorted(weather), wrong]`;
    expect(await run('python', code)).toEqual([
      'Echo: hi',
      ['1.', '2.', '3.', '4.', '5.'],
      ['image/png bytes'],
      ['conditions', 'humidity', 'temperature'],
      expect.stringContaining('a must be number'),
    ]);
  });

  test('JavaScript calls it in sequence and in parallel', async () => {
    const code = `
const first = await tools.everything.echo({ message: 'hi' });
const sums = await Promise.all([...Array(5).keys()].map((a) => tools.everything.get_sum({ a, b: 1 })));
const image = (await tools.everything.get_tiny_image()).find((part) => part.type === 'image');
const long = await tools.everything.trigger_long_running_operation({ duration: 1, steps: 2 });
return [first, sums.map((sum) => sum.split(' ').at(-1)), image.data instanceof Uint8Array && image.data[1], long];`;
    expect(await run('javascript', code)).toEqual(['Echo: hi', ['1.', '2.', '3.', '4.', '5.'], 0x50, expect.stringContaining('completed')]);
  });

  test('a tool that the server carries out as a task is a call like any other', async () => {
    const code = 'found = tools.everything.simulate_research_query(topic="tea")\n"tea" in str(found)';
    expect(await run('python', code)).toBe(true);
  });

  test('resources and links are values', async () => {
    const code = `return [await tools.everything.get_resource_reference({ resourceType: 'Text', resourceId: 1 }), await tools.everything.get_resource_links({ count: 2 })]`;
    const [reference, links] = (await run('javascript', code)) as [unknown[], unknown[]];
    expect(reference).toContainEqual(expect.objectContaining({ type: 'resource', uri: expect.stringContaining('text'), text: expect.any(String) }));
    expect(links.filter((link) => (link as { type?: string }).type === 'resource_link')).toHaveLength(2);
  });
});

describe('filesystem', () => {
  test.each<[Language, string]>([
    [
      'python',
      `
root = fermata.input
tools.files.write_file(path=root + "/py.txt", content="from python")
tools.files.create_directory({"path": root + "/py"})
text = tools.files.read_text_file(path=root + "/py.txt")
try:
    tools.files.read_text_file(path="/etc/passwd")
    refused = ""
except Exception as e:
    refused = str(e)
[text["content"], "py" in tools.files.list_directory(path=root)["content"], "Access denied" in refused]`.replace(/^/, 'import fermata\n'),
    ],
    [
      'javascript',
      `
await tools.files.write_file({ path: input + '/js.txt', content: 'from javascript' });
const [text, list] = await Promise.all([tools.files.read_text_file({ path: input + '/js.txt' }), tools.files.list_directory({ path: input })]);
const refused = await tools.files.read_text_file({ path: '/etc/passwd' }).catch((error) => error.message);
return [text.content, list.content.includes('js.txt'), refused.includes('Access denied')];`,
    ],
  ])('%s writes, reads and lists files, and what the server refuses is an error that it catches', async (language, code) => {
    expect(await run(language, code, shared)).toEqual([`from ${language}`, true, true]);
  });

  test('bytes of a media file come as bytes', async () => {
    writeFileSync(join(shared, 'a.png'), new Uint8Array([0x89, 0x50, 0x4e, 0x47]));
    const code = `const got = await tools.files.read_media_file({ path: input + '/a.png' }); const [part] = got.content; return [part.mimeType, [...part.data]]`;
    expect(await run('javascript', code, shared)).toEqual(['image/png', [0x89, 0x50, 0x4e, 0x47]]);
  });
});

test('memory: what one language writes the other one reads, in parallel', async () => {
  await run('javascript', `for (const name of ['ann', 'bob']) await tools.memory.create_entities({ entities: [{ name, entityType: 'person', observations: ['likes tea'] }] });`);
  await run('python', `tools.memory.create_relations(relations=[{"from": "ann", "to": "bob", "relationType": "knows"}])`);
  const code = `const [graph, found] = await Promise.all([tools.memory.read_graph({}), tools.memory.search_nodes({ query: 'bob' })]); return [graph.entities.length, graph.relations.length, found.entities.map((e) => e.name)]`;
  expect(await run('javascript', code)).toEqual([2, 1, ['bob']]);
});

test.each<[Language, string]>([
  [
    'python',
    `
root = task_input
before = tools.everything.get_sum(a=1, b=2)
tools.files.write_file(path=root + "/kept.txt", content=before)
tools.memory.create_entities(entities=[{"name": "cat", "entityType": "animal", "observations": ["sleeps"]}])
answer = tools.ask(question="go on?")
after = tools.everything.echo(message=answer)
known = tools.memory.open_nodes(names=["cat"])["entities"]
[before.split()[-1], after, tools.files.read_text_file(path=root + "/kept.txt")["content"] == before, [one["name"] for one in known]]`,
  ],
  [
    'javascript',
    `
const before = await tools.everything.get_sum({ a: 1, b: 2 });
await tools.files.write_file({ path: input + '/kept.txt', content: before });
await tools.memory.create_entities({ entities: [{ name: 'cat', entityType: 'animal', observations: ['sleeps'] }] });
const answer = await tools.ask({ question: 'go on?' });
const [after, kept, known] = await Promise.all([
  tools.everything.echo({ message: answer }),
  tools.files.read_text_file({ path: input + '/kept.txt' }),
  tools.memory.open_nodes({ names: ['cat'] }),
]);
return [before.split(' ').at(-1), after, kept.content === before, known.entities.map(({ name }) => name)];`,
  ],
])('%s goes on after a pause, a restart of everything, and an answer', async (language, code) => {
  const { ref, view } = await submit(language, code, shared);
  expect(view.status).toBe('waiting');
  await opened.engine.pause(ref);
  await opened.close();
  opened = await start();
  await opened.engine.resume(ref);
  const waiting = await opened.engine.wait(ref, 60_000);
  const [call] = waiting.waitingFor;
  await opened.engine.decide(ref, call?.callId as string, { action: 'result', output: 'yes' }, 'test');
  const ended = await opened.engine.wait(ref, 60_000);
  expect([ended.status, ended.output]).toEqual(['succeeded', ['3.', 'Echo: yes', true, ['cat']]]);
  expect(readFileSync(join(shared, 'kept.txt'), 'utf8')).toContain('3');
});
