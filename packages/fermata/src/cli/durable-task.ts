/**
 * A durable task of the command line, whatever it is to do: it is submitted with the tools, files and limits that the command was
 * given, and followed.
 */
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { FermataClient } from '@fermata/client';
import { FermataError, type LimitsInput, toWire, type Value } from '@fermata/protocol';
import type { CreateTaskWire } from '@fermata/protocol/wire';
import { type Connection, connect } from './connection.ts';
import { followTask } from './follow-task.ts';
import { limitsOf } from './limit-options.ts';
import type { ToolsFile } from './load-tools-file.ts';
import type { LocalOptions } from './local-server.ts';
import type { Progress } from './progress.ts';
import { readFileFor, readInput } from './read-input.ts';
import { approvalOf, type RunOptions } from './task-options.ts';
import { refuseOtherTools, rememberTools } from './task-tools.ts';
import { tellTask } from './tell-task.ts';
import { readToolsFile } from './tools-file.ts';

const MiB = 1024 * 1024;

export interface Given {
  input: Value;
  files: { path: string; data: Uint8Array }[];
  equipment: ToolsFile;
}

/** What the options name is read before anything begins. */
export async function readGiven({ input, file = [], tools }: Pick<RunOptions, 'input' | 'file' | 'tools'>): Promise<Given> {
  return { input: await readInput(input), files: await Promise.all(file.map(readFileFor)), equipment: await readToolsFile(tools) };
}

/** `what`: the program or the instruction. Resolves with the exit code. */
export async function keepAndFollow(
  what: Partial<CreateTaskWire>,
  given: Given,
  options: RunOptions,
  progress: Progress,
  local: Pick<LocalOptions, 'models'> = {},
): Promise<number> {
  const { input, files, equipment } = given;
  const json = options.json === true;
  const constraints = constraintsOfOptions(options);
  await using connection = await connect(options, { ...local, ...equipment, toolsFile: options.tools, sourcesMustConnect: true });
  refuseOtherTools(connection, options.tools);
  if (options.detach) mustStay(connection);
  const task: CreateTaskWire & { task_id: string } = {
    ...what,
    task_id: newTaskId(),
    ...(input === undefined ? {} : { input: toWire(input) }),
    ...(files.length === 0 ? {} : { files: await uploaded(connection.client, files) }),
    ...(Object.keys(constraints).length === 0 ? {} : { tool_constraints: constraints }),
    ...(options.tools === undefined ? {} : { metadata: { tools_file: resolve(options.tools) } }),
  };
  const created = await submit(connection, task, options.tools);
  if (options.detach) {
    process.stdout.write(json ? `${JSON.stringify(created)}\n` : `${created.task_id}\n`);
    return 0;
  }
  const asked = what.instruction !== undefined;
  const ended = await followTask(connection, created.task_id, { json, progress, asked, approve: approvalOf(options.approve), pauseAfterMs: options.pauseAfter });
  return tellTask(ended, { json, progress, connection });
}

function constraintsOfOptions(options: RunOptions): NonNullable<CreateTaskWire['tool_constraints']> {
  const constraints = constraintsOf(limitsOf(options));
  if (options.allowLibrary) constraints.allowed_libraries = options.allowLibrary;
  if (options.requireLibrary) constraints.required_libraries = options.requireLibrary;
  if (options.blockCommand) constraints.blocked_commands = options.blockCommand;
  if (options.strict) constraints.strict = true;
  if (options.allowNet) constraints.network_access = options.allowNet;
  return constraints;
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
