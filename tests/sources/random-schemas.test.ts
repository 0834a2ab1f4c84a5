/** Whatever a schema says: stubs accept what it lets through, validation agrees with ajv, and values come back as they were sent. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Value } from '@fermata/protocol';
import { pythonStubs, typescriptStubs } from '@fermata/tools/registry';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { createFermata, defineTool, type Fermata } from 'fermata';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { foreignTool } from '../../packages/tools/src/sources/foreign-tool.ts';
import { type Sample, sample } from './schemas.ts';

const TSC = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
/** Of one batch: programs with all of its tools. */
const MANY = 60;
const SEED = Number(process.env.FERMATA_SEED ?? 20_260);
let folder: string;
let fermata: Fermata;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fermata-schemas-'));
  fermata = createFermata({ limits: { maxToolCalls: 100_000 } });
});
afterAll(async () => {
  await fermata.close();
  rmSync(folder, { recursive: true });
});

const batch = (): Sample[] => fc.sample(sample, { numRuns: MANY, seed: SEED });
const echo = ({ schema }: Sample, i: number) => defineTool({ name: `t${i}`, parameters: schema, result: schema, execute: (args) => args as object });
const sent = (samples: Sample[]) => samples.flatMap(({ valid }, i) => valid.map((args) => ({ tool: `t${i}`, args })));

test('validation agrees with ajv, in tools of ours and of sources', () => {
  const fits = (check: () => unknown) => {
    try {
      check();
      return true;
    } catch (error) {
      expect(error).toMatchObject({ name: 'InvalidArguments' });
      return false;
    }
  };
  let [right, wrong] = [0, 0];
  fc.assert(
    fc.property(sample, (one) => {
      const validate = new Ajv({ strict: false, ownProperties: true }).compile(one.schema);
      const own = defineTool({ name: 'own', parameters: one.schema });
      const foreign = foreignTool({ name: 'f', description: '', parameters: one.schema, idempotent: false, requiresApproval: false, keepBytes: true, execute: async () => null });
      for (const args of one.valid) expect(fits(() => own.check(args))).toBe(true);
      for (const args of [...one.valid, ...one.any]) {
        const wanted = validate(args);
        wanted ? right++ : wrong++;
        expect(fits(() => own.check(args))).toBe(wanted);
        // A source is sent JSON, so that what is none does not go there as it is.
        if (isJson(args)) expect(fits(() => foreign.check(args))).toBe(wanted);
      }
    }),
    { numRuns: 200 },
  );
  expect(Math.min(right, wrong)).toBeGreaterThan(100);
});

test('TypeScript that calls the tools with what their schemas let through compiles, and results have their types', { timeout: 300_000 }, () => {
  const samples = batch();
  const calls = sent(samples).map(({ tool, args }, i) => `  const r${i}: NonNullable<Parameters<typeof tools.${tool}>[0]> = await tools.${tool}(${written(args)});`);
  writeFileSync(join(folder, 'stubs.d.ts'), typescriptStubs(samples.map(echo)));
  writeFileSync(join(folder, 'calls.ts'), `export async function calls(): Promise<void> {\n${calls.join('\n')}\n}\n`);
  const { status, stdout } = spawnSync(process.execPath, [TSC, '--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022', 'stubs.d.ts', 'calls.ts'], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(stdout).toBe('');
  expect(status).toBe(0);
});

test('the Python stubs parse, and their signatures take the same calls', { timeout: 300_000 }, async () => {
  const samples = batch();
  const code = `import inspect
space = {"__name__": "stubs"}
exec(compile(task_input["stubs"], "stubs", "exec"), space)
wrong = []
for call in task_input["calls"]:
    signature = inspect.signature(getattr(space["tools"], call["tool"]))
    ways = (lambda: signature.bind(call["args"]),) if "arguments" in signature.parameters and signature.parameters["arguments"].kind != inspect.Parameter.VAR_KEYWORD else (lambda: signature.bind(**call["args"]),)
    try:
        ways[0]()
    except TypeError as error:
        wrong.append([call["tool"], str(signature), str(error)])
wrong`;
  const result = await fermata.run({ language: 'python', code, input: { stubs: pythonStubs(samples.map(echo)), calls: sent(samples) as unknown as Value } });
  expect(result).toMatchObject({ status: 'succeeded', output: [] });
});

test.each([
  ['python', '[tools[call["tool"]](call["args"]) for call in task_input]'],
  ['javascript', 'const got = []; for (const { tool, args } of input) got.push(await tools[tool](args)); return got;'],
] as const)('values come back from a tool as the caller gave them: %s', { timeout: 300_000 }, async (language, code) => {
  const samples = batch();
  const calls = sent(samples);
  const seen: unknown[] = [];
  const execute = (args: never) => {
    seen.push(args);
    return args;
  };
  const tools = samples.map((one, i) => ({ ...echo(one, i), execute }));
  const result = await fermata.run({ language, code, tools, input: calls as unknown as Value });
  expect(result.error).toBeUndefined();
  expect(seen).toEqual(calls.map(({ args }) => args));
  expect(result.output).toEqual(calls.map(({ args }) => args));
});

function isJson(value: unknown): boolean {
  if (typeof value === 'bigint' || value instanceof Uint8Array || (typeof value === 'number' && !Number.isFinite(value))) return false;
  return value === null || typeof value !== 'object' || Object.values(value).every(isJson);
}

/** As a literal of TypeScript. */
function written(value: Value): string {
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Uint8Array) return `new Uint8Array([${value.join(', ')}])`;
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  if (Array.isArray(value)) return `[${value.map(written).join(', ')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'undefined';
  return `{ ${Object.entries(value)
    .map(([name, one]) => `${JSON.stringify(name)}: ${written(one as Value)}`)
    .join(', ')} }`;
}
