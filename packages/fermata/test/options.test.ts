/** Options that are mistyped or of the wrong kind are refused where they are given, with the right name. */
import { createFermata, defineTool, FermataError } from 'fermata';
import { afterAll, describe, expect, test } from 'vitest';

const fermata = createFermata();
afterAll(() => fermata.close());

const program = { language: 'javascript', code: '1' };
// biome-ignore lint/suspicious/noExplicitAny: what is refused here is what the types already refuse
type Loose = any;

async function refusal(attempt: () => unknown): Promise<string> {
  try {
    await attempt();
  } catch (error) {
    if (error instanceof FermataError && error.code === 'invalid_request') return error.message;
    throw error;
  }
  return 'accepted';
}

describe('a name that does not exist is refused with the one that was meant', () => {
  test.each<[string, () => unknown, string]>([
    ['createFermata', () => createFermata({ sealkey: { id: 'a', key: new Uint8Array(32) } } as Loose), '"sealKey"'],
    ['limits of createFermata', () => createFermata({ limits: { timeout: 5 } } as Loose), '"timeoutMs"'],
    ['a sealKey', () => createFermata({ sealKey: { keyId: 'a', key: new Uint8Array(32) } } as Loose), '"keyId"'],
    ['run', () => fermata.run({ ...program, allowLibraries: [] } as Loose), '"allowedLibraries"'],
    ['run', () => fermata.run({ language: 'python', source: '1' } as Loose), '"source"'],
    ['start', () => fermata.start({ ...program, onevent: () => {} } as Loose), '"onEvent"'],
    ['start, which takes no signal', () => fermata.start({ ...program, signal: new AbortController().signal } as Loose), '"signal"'],
    ['limits', () => fermata.run({ ...program, limits: { maxMemory: 5 } } as Loose), '"maxMemoryBytes"'],
    ['files', () => fermata.run({ ...program, files: [{ path: '/work/a', content: '' }] } as Loose), '"content"'],
    ['toolCall', () => fermata.run({ toolCall: { name: 'a', args: {} } } as Loose), '"args"'],
    ['defineTool', () => defineTool({ name: 'a', handler: () => 1 } as Loose), '"handler"'],
    ['defineTool', () => defineTool({ name: 'a', excute: () => 1 } as Loose), '"execute"'],
    ['a tool of a task', () => fermata.run({ ...program, tools: [{ name: 'a', require_approval: true }] } as Loose), '"requiresApproval"'],
    ['restore', () => fermata.restore(new Uint8Array(), { trusted: true } as Loose), '"trust"'],
  ])('%s', async (_where, attempt, named) => {
    expect(await refusal(attempt)).toContain(named);
  });
  test('snapshot, and fail', async () => {
    await using task = await fermata.start({ language: 'javascript', code: 'await tools.ask({})', tools: [{ name: 'ask' }] });
    await task.next();
    expect(await refusal(() => task.snapshot({ bindTo: 'x' } as Loose))).toContain('"boundTo"');
    expect(await refusal(() => task.fail(1, { name: 'E', mesage: 'x' } as Loose))).toContain('"message"');
    expect(task.pending).toHaveLength(1);
  });
});

describe('a value of the wrong kind is refused with its place', () => {
  test.each<[string, () => unknown, RegExp]>([
    ['nothing at all', () => fermata.run(undefined as Loose), /object/],
    ['a listener', () => fermata.run({ ...program, onEvent: 'log' } as Loose), /^onEvent: a function/],
    ['an approver', () => fermata.run({ ...program, approve: true } as Loose), /^approve: a function/],
    ['a list of tools', () => fermata.run({ ...program, tools: {} } as Loose), /^tools: a list/],
    ['a tool', () => fermata.run({ ...program, tools: [5] } as Loose), /^tool: /],
    ['execute', () => defineTool({ name: 'a', execute: 'rm' } as Loose), /^tool a\.execute: a function/],
    ['a file', () => fermata.run({ ...program, files: [{ path: '/work/a', data: 5 }] } as Loose), /^files\.0\.data: /],
    ['threads', () => createFermata({ threads: 0 }), /^threads: /],
    ['a limit of all', () => createFermata({ limits: { maxCpuMs: 1 } }), /^limits\.maxCpuMs: /],
    ['a short key', () => createFermata({ sealKey: { id: 'a', key: new Uint8Array(16) } }), /^sealKey\.key: 32 bytes/],
    ['a short old key', () => createFermata({ oldKeys: [{ id: 'a', key: new Uint8Array(16) }] }), /^oldKeys\.0\.key: 32 bytes/],
    ['a snapshot', () => fermata.restore('file.snap' as Loose), /^snapshot: a Uint8Array/],
    ['input for a toolCall', () => fermata.run({ toolCall: { name: 'a' }, input: 5 } as Loose), /^input: .*toolCall/],
  ])('%s', async (_what, attempt, told) => {
    expect(await refusal(attempt)).toMatch(told);
  });
});

test('what is undefined is absent, and hides no limit of createFermata', async () => {
  await using strict = createFermata({ limits: { maxToolCalls: 0 }, tools: [{ name: 'ping', execute: () => 1 }], cacheDir: undefined } as Loose);
  const options = { language: 'javascript', code: 'await tools.ping({})', limits: { maxToolCalls: undefined }, stdin: undefined } as Loose;
  expect(await strict.run(options)).toMatchObject({ error: { code: 'tool_call_limit' } });
});
