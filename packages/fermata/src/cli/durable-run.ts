/**
 * `fermata run`: a durable task. It is kept in the data folder from the moment at which it is submitted; whatever happens to
 * this process, `fermata resume` goes on with it.
 */

import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { FermataClient } from '@fermata/client';
import { FermataError, type LimitsInput, toWire } from '@fermata/protocol';
import type { CreateTaskWire } from '@fermata/protocol/wire';
import { type Connection, connect } from './connection.ts';
import { followTask } from './follow-task.ts';
import { limitsOf } from './limit-options.ts';
import { Progress } from './progress.ts';
import { readFileFor, readInput, readProgram, readStdin } from './read-input.ts';
import { approvalOf, type RunOptions } from './task-options.ts';
import { refuseOtherTools, rememberTools } from './task-tools.ts';
import { tellTask } from './tell-task.ts';
import { readToolsFile } from './tools-file.ts';

const MiB = 1024 * 1024;

/** Resolves with the exit code. */
export async function runDurably(file: string | undefined, options: RunOptions): Promise<number> {
  const json = options.json === true;
  const program = await readProgram(file, options);
  const input = await readInput(options.input);
  const files = await Promise.all((options.file ?? []).map(readFileFor));
  const equipment = await readToolsFile(options.tools);
  const progress = new Progress(options.quiet === true || json);
  const stdin = await readStdin(program, (text) => progress.line(text));
  const constraints = constraintsOf(limitsOf(options));
  if (options.allowLibrary) constraints.allowed_libraries = options.allowLibrary;
  if (options.requireLibrary) constraints.required_libraries = options.requireLibrary;
  if (options.blockCommand) constraints.blocked_commands = options.blockCommand;
  if (options.strict) constraints.strict = true;
  if (options.allowNet) constraints.network_access = options.allowNet;
  await using connection = await connect(options, { ...equipment, toolsFile: options.tools, sourcesMustConnect: true });
  refuseOtherTools(connection, options.tools);
  if (options.detach) mustStay(connection);
  const task: CreateTaskWire & { task_id: string } = {
    ...{ task_id: newTaskId(), language: program.language, code: program.code },
    ...(options.session === undefined ? {} : { session_id: options.session, shared_interpreter: true }),
    ...(input === undefined ? {} : { input: toWire(input) }),
    ...(stdin === undefined ? {} : { stdin: toWire(textOf(stdin)) as NonNullable<CreateTaskWire['stdin']> }),
    ...(program.file === undefined ? {} : { file_name: program.file }),
    ...(files.length === 0 ? {} : { files: await uploaded(connection.client, files) }),
    ...(Object.keys(constraints).length === 0 ? {} : { tool_constraints: constraints }),
    ...(options.tools === undefined ? {} : { metadata: { tools_file: resolve(options.tools) } }),
  };
  const created = await submit(connection, task, options.tools);
  if (options.detach) {
    process.stdout.write(json ? `${JSON.stringify(created)}\n` : `${created.task_id}\n`);
    return 0;
  }
  const ended = await followTask(connection, created.task_id, { json, progress, approve: approvalOf(options.approve), pauseAfterMs: options.pauseAfter });
  return tellTask(ended, { json, progress, connection });
}

/** The file of its tools is remembered before there is a task that could need it. */
export async function submit(connection: Connection, task: CreateTaskWire & { task_id: string }, toolsFile: string | undefined) {
  const store = connection.store();
  if (store && toolsFile !== undefined) await rememberTools(store, task.task_id, toolsFile);
  return connection.client.tasks.create(task);
}

export function newTaskId(): string {
  return `task_${randomBytes(10).toString('hex')}`;
}

function mustStay(connection: Connection): void {
  if (!connection.store()) return;
  throw new FermataError('invalid_request', 'nobody would run it: no server has the data folder, and this process is about to end', {
    hint: 'Start one with fermata serve, name one with --url, or leave --detach out.',
  });
}

async function uploaded(client: FermataClient, files: { path: string; data: Uint8Array }[]): Promise<{ file_id: string; path: string }[]> {
  return Promise.all(files.map(async ({ path, data }) => ({ file_id: (await client.files.put(path.slice(path.lastIndexOf('/') + 1), new Uint8Array(data))).file_id, path })));
}

export function constraintsOf(limits: LimitsInput): NonNullable<CreateTaskWire['tool_constraints']> {
  const asked = {
    timeout_seconds: part(limits.timeoutMs, 1000),
    max_cpu_seconds: part(limits.maxCpuMs, 1000),
    max_memory_mb: part(limits.maxMemoryBytes, MiB),
    max_disk_mb: part(limits.maxDiskBytes, MiB),
    max_output_bytes: limits.maxOutputBytes,
    max_tool_calls: limits.maxToolCalls,
    max_calls_at_once: limits.maxCallsAtOnce,
    max_journal_mb: part(limits.maxJournalBytes, MiB),
    max_checkpoint_mb: part(limits.maxCheckpointBytes, MiB),
  };
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
}

const part = (value: number | undefined, whole: number) => (value === undefined ? undefined : value / whole);

/** Text where it is text: so it is readable in the journal. */
function textOf(bytes: Uint8Array): string | Uint8Array {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return bytes;
  }
}
