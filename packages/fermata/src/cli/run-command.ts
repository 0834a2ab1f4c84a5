/** `fermata run` and `fermata resume`. */
import { readFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { confirm, isCancel } from '@clack/prompts';
import { FermataError, fromWire, type Language, type Value } from '@fermata/protocol';
import { type Command, Option } from 'commander';
import { createFermata, type Fermata } from '../fermata.ts';
import type { Task } from '../task.ts';
import type { Approver } from '../tool-runner.ts';
import { driveTask, showEvents } from './drive.ts';
import { sealKey } from './key-file.ts';
import { Progress } from './progress.ts';
import { loadToolsFile } from './tools-file.ts';
import { parseCount, parseDuration, parseMebibytes } from './units.ts';

const LANGUAGES: Record<string, Language> = { '.py': 'python', '.js': 'javascript', '.mjs': 'javascript', '.ts': 'typescript', '.mts': 'typescript' };

interface CommonOptions {
  tools?: string;
  approve: 'ask' | 'auto' | 'deny';
  pauseAfter?: number;
  json?: boolean;
  quiet?: boolean;
}

interface RunOptions extends CommonOptions {
  eval?: string;
  lang?: Language;
  input?: string;
  file?: string[];
  allowLibrary?: string[];
  timeout?: number;
  cpu?: number;
  memory?: number;
  disk?: number;
  maxOutput?: number;
  maxCalls?: number;
}

interface ResumeOptions extends CommonOptions {
  trust?: boolean;
  redo?: boolean;
}

/** `done` is told the exit code. */
export function addRunCommands(program: Command, done: (exitCode: number) => void): void {
  common(
    program
      .command('run')
      .description('run a program in a sandbox; its output and result go to stdout, all else to stderr')
      .argument('[file]', 'the program, or - for standard input')
      .option('-e, --eval <code>', 'the program itself, in place of a file')
      .addOption(new Option('-l, --lang <language>', 'its language; default: by the ending of the file').choices(['python', 'javascript', 'typescript']))
      .option('-i, --input <json>', 'what the program sees as its input')
      .option('-f, --file <path=file>', 'put a file into /work or /tmp (repeatable)', collect)
      .option('--allow-library <module>', 'modules the program may import; default: all (repeatable)', collect)
      .addOption(new Option('--sandbox <kind>', 'where it runs; auto takes the lightest that can do it').choices(['auto', 'wasm']).default('auto'))
      .option('--timeout <duration>', 'wall time, e.g. 30s', parseDuration)
      .option('--cpu <duration>', 'processor time, e.g. 10s', parseDuration)
      .option('--memory <MiB>', 'memory of the program', parseMebibytes)
      .option('--disk <MiB>', 'files of the program', parseMebibytes)
      .option('--max-output <bytes>', 'what it may print', parseCount)
      .option('--max-calls <n>', 'tool calls it may start', parseCount),
  )
    .option('--ephemeral', 'keep nothing but the snapshot file of a pause (what this version always does)')
    .action(async (file: string | undefined, options: RunOptions) => done(await run(file, options)));

  common(
    program
      .command('resume')
      .description('go on with a program from its snapshot file')
      .argument('<file>', 'a file that a pause has written')
      .option('--trust', 'accept a snapshot that is not sealed, and believe what it says; its tools must be given with --tools')
      .option('--redo', 'carry out again the calls whose outcome is unknown; their effects may happen twice'),
  ).action(async (file: string, options: ResumeOptions) => done(await resume(file, options)));
}

function common(command: Command): Command {
  return command
    .option('-t, --tools <file>', 'module whose default export is an array of tools')
    .addOption(new Option('--approve <how>', 'calls of tools that require approval').choices(['ask', 'auto', 'deny']).default('ask'))
    .option('--pause-after <duration>', 'pause and save a snapshot after so long', parseDuration)
    .option('-q, --quiet', 'say nothing on stderr but errors')
    .option('--json', 'print one JSON object in place of output and result');
}

async function run(file: string | undefined, options: RunOptions): Promise<number> {
  const { code, language } = await readProgram(file, options);
  const toolsFile = options.tools === undefined ? undefined : resolve(options.tools);
  const tools = toolsFile === undefined ? [] : await loadToolsFile(toolsFile);
  const progress = new Progress(options.quiet === true || options.json === true);
  await using fermata = createFermata({ sealKey: sealKey() });
  const task = await fermata.start({
    language,
    code,
    input: parseInput(options.input),
    tools,
    files: await Promise.all((options.file ?? []).map(readInputFile)),
    ...(options.allowLibrary ? { allowedLibraries: options.allowLibrary } : {}),
    ...approver(options.approve),
    limits: {
      timeoutMs: options.timeout,
      maxCpuMs: options.cpu,
      maxMemoryBytes: options.memory,
      maxDiskBytes: options.disk,
      maxOutputBytes: options.maxOutput,
      maxToolCalls: options.maxCalls,
    },
    onEvent: showEvents({ json: options.json === true, progress }),
    label: { tools: toolsFile ?? null },
  });
  return await driveTask(task, { json: options.json === true, pauseAfterMs: options.pauseAfter, progress });
}

async function resume(file: string, options: ResumeOptions): Promise<number> {
  const bytes = await readBytes(file);
  const progress = new Progress(options.quiet === true || options.json === true);
  const common = { ...approver(options.approve), trust: options.trust === true };
  await using fermata = createFermata({ sealKey: sealKey() });
  const toolsFile = options.tools ?? (common.trust ? undefined : await sealedToolsFile(fermata, bytes));
  const task = await fermata.restore(bytes, {
    ...common,
    tools: toolsFile === undefined ? [] : await loadToolsFile(toolsFile),
    onEvent: showEvents({ json: options.json === true, progress }),
  });
  if (toolsFile === undefined) refuseMissingTools(task);
  if (options.redo) for (const { callId } of task.waitingFor) task.retry(callId);
  return await driveTask(task, { json: options.json === true, pauseAfterMs: options.pauseAfter, progress });
}

/** The tools file that a sealed snapshot was made with. It is only known once the snapshot is open. */
async function sealedToolsFile(fermata: Fermata, bytes: Uint8Array): Promise<string | undefined> {
  await using task = await fermata.restore(bytes);
  return toolsFileOf(task);
}

/** A snapshot that is not sealed must not choose code that is loaded into this process. */
function refuseMissingTools(task: Task): void {
  const named = toolsFileOf(task);
  if (named === undefined) return;
  throw new FermataError('invalid_request', 'the snapshot wants tools, and with --trust their file is not taken from it', {
    hint: `Say --tools <file>; the snapshot names ${JSON.stringify(named)}.`,
  });
}

function toolsFileOf({ label }: Task): string | undefined {
  const tools = (label as { tools?: unknown } | null)?.tools;
  return typeof tools === 'string' ? tools : undefined;
}

async function readProgram(file: string | undefined, { eval: code, lang }: RunOptions): Promise<{ code: string; language: Language }> {
  if ((file === undefined) === (code === undefined)) throw new FermataError('invalid_request', 'give a file, - for standard input, or -e with code');
  const language = lang ?? LANGUAGES[extname(file ?? '')];
  if (!language) throw new FermataError('invalid_request', 'which language is it?', { hint: 'Say --lang python, javascript or typescript.' });
  if (code !== undefined) return { code, language };
  if (file === '-') return { code: await readAll(process.stdin), language };
  return { code: (await readBytes(file as string)).toString(), language };
}

function readBytes(file: string): Promise<Buffer> {
  return readFile(file).catch((cause: NodeJS.ErrnoException) => {
    throw new FermataError('invalid_request', `${file} cannot be read: ${cause.message}`, { cause });
  });
}

async function readInputFile(spec: string): Promise<{ path: string; data: Uint8Array }> {
  const at = spec.indexOf('=');
  const [path, file] = [spec.slice(0, Math.max(at, 0)), spec.slice(at + 1)];
  if (!path || !file) throw new FermataError('invalid_request', `${spec} is not of the form /work/name=file`);
  return { path, data: await readBytes(file) };
}

function parseInput(json: string | undefined): Value {
  if (json === undefined) return undefined;
  try {
    return fromWire(JSON.parse(json));
  } catch (cause) {
    throw new FermataError('invalid_request', `--input is not JSON: ${(cause as Error).message}`, { cause });
  }
}

function approver(how: CommonOptions['approve']): { approve?: Approver } {
  if (how === 'auto') return { approve: () => ({ approve: true }) };
  if (how === 'deny') return { approve: () => ({ approve: false, reason: 'approvals are off (--approve deny)' }) };
  if (!process.stdin.isTTY || !process.stderr.isTTY) return {};
  return {
    approve: async (call) => {
      const answer = await confirm({ message: `Allow ${call.name}(${JSON.stringify(call.args)})?`, output: process.stderr });
      return isCancel(answer) || !answer ? { approve: false, reason: 'refused at the terminal' } : { approve: true };
    },
  };
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}
