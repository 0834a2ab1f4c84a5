/** What callers give to a Fermata, and the check of it. A key that is not known is refused, never ignored. */

import { FermataError, type Language, type LimitsInput, parseOptions, type SealKey, type Value, type ValueRecord } from '@fermata/protocol';
import { limitsSchema, strictOptions } from '@fermata/protocol/schemas';
import type { Tool, ToolDefinition } from '@fermata/tools';
import { z } from 'zod';
import type { TaskEvent } from './task-event.ts';
import { TASK_ID } from './task-state.ts';
import type { Approver } from './tool-runner.ts';

export interface FermataOptions {
  /** Tools that every task may call. */
  tools?: readonly (Tool | ToolDefinition)[];
  /** Limits for tasks that do not say otherwise. */
  limits?: LimitsInput;
  /**
   * Where machines live: in `threads` of this process (default), or in `processes` of their own, each with the machines of
   * one tenant, no permissions, and in a jail where there is one. See docs/hosts.md.
   */
  host?: 'threads' | 'processes';
  /** Threads, or processes, for machines, at most. Default: one per core. */
  threads?: number;
  /** Whether processes live in a bubblewrap jail: where it works (`auto`, the default), never, or not without (`required`). */
  jail?: 'auto' | 'off' | 'required';
  /**
   * Bytes that the limits of all machines with a place on a thread may come to; others wait in line. Default: three quarters
   * of the memory that this process may use.
   */
  maxResidentBytes?: number;
  /** Where unpacked images are kept. Default: `FERMATA_CACHE_DIR`, else the user's cache folder. */
  cacheDir?: string;
  /**
   * Seals the snapshots of all tasks. Without it snapshots are not sealed, and restoring one needs `trust`. A function is
   * asked whenever a snapshot is made or restored, and not before.
   */
  sealKey?: SealKey | (() => SealKey | Promise<SealKey>);
  /** Keys that sealed snapshots in the past; they only open. */
  oldKeys?: readonly SealKey[];
}

interface CommonTaskOptions {
  /** Default: made up. */
  taskId?: string;
  /** More tools, for this task only. */
  tools?: readonly (Tool | ToolDefinition)[];
  limits?: LimitsInput;
  /** Decides calls of tools that require approval. Without it such calls wait. */
  approve?: Approver;
  onEvent?: (event: TaskEvent) => void;
  /** Kept with snapshots, for the caller. */
  label?: Value;
  /** Machines of different tenants never share a process of `host: 'processes'`. Default: one tenant for all. */
  tenant?: string;
}

export interface CodeOptions extends CommonTaskOptions {
  language: Language;
  code: string;
  /** What the program sees as `input` (JavaScript) or `fermata.input` (Python). */
  input?: Value;
  stdin?: string | Uint8Array;
  /** Name of the program's file, as tracebacks show it. Default: `main.py`, `main.js` or `main.ts`. */
  file?: string;
  files?: readonly { path: string; data: Uint8Array | string }[];
  /** Modules that user code may import (Python). Absent: all of the image. */
  allowedLibraries?: readonly string[];
  /** Modules without which the program is not to be run. */
  requiredLibraries?: readonly string[];
  /** Programs that it must not try to start, by name; no process can be started here at all. */
  blockedCommands?: readonly string[];
  /** Also refuses `os`, `sys`, `subprocess`, `importlib`, `ctypes`, `eval`, `exec`, `compile`, `Function` and `import()`. */
  strict?: boolean;
  /** 32 bytes from which all randomness of the task comes. Default: fresh. */
  seed?: Uint8Array;
}

/** One tool, called as a program would call it: same sandbox, same limits. */
export interface ToolCallOptions extends CommonTaskOptions {
  toolCall: { name: string; arguments?: ValueRecord };
}

export type StartOptions = CodeOptions | ToolCallOptions;

export interface RestoreOptions extends Pick<CommonTaskOptions, 'approve' | 'onEvent' | 'tenant'> {
  /** The tools that the program was given, those of `createFermata` aside. A function is told the task's label. */
  tools?: CommonTaskOptions['tools'] | ((label: Value) => CommonTaskOptions['tools'] | Promise<CommonTaskOptions['tools']>);
  /** Accept a snapshot that is not sealed. Only for bytes of your own: what it says of its calls is believed. */
  trust?: boolean;
  /** The text that the snapshot was bound to when it was made. */
  boundTo?: string;
  /** Go on under another id. */
  taskId?: string;
}

export interface SnapshotOptions {
  /** Binds the seal to this text: the snapshot opens only where `restore` is given the same. Needs a `sealKey`. */
  boundTo?: string;
}

const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'a Uint8Array is wanted');
const aFunction = z.custom<(...args: never[]) => unknown>((value) => typeof value === 'function', 'a function is wanted');
const list = z.array(z.unknown(), 'a list is wanted');
const sealKeySchema = strictOptions({ id: z.string(), key: bytes.refine((key) => key.length === 32, '32 bytes are wanted') });

const fermataSchema = strictOptions({
  tools: list.optional(),
  limits: limitsSchema.optional(),
  host: z.enum(['threads', 'processes']).optional(),
  threads: z.int().positive().optional(),
  jail: z.enum(['auto', 'off', 'required']).optional(),
  maxResidentBytes: z.int().positive().optional(),
  cacheDir: z.string().optional(),
  sealKey: z.unknown().optional(),
  oldKeys: z.array(sealKeySchema).optional(),
} satisfies Record<keyof FermataOptions, z.ZodType>);

const commonShape = {
  taskId: z.string().regex(TASK_ID, 'letters, digits, _, - and . are allowed, 128 at most').optional(),
  tools: list.optional(),
  limits: limitsSchema.optional(),
  approve: aFunction.optional(),
  onEvent: aFunction.optional(),
  label: z.unknown().optional(),
  tenant: z.string().optional(),
} satisfies Record<keyof CommonTaskOptions, z.ZodType>;

const fileSchema = strictOptions({
  path: z.string().regex(/^\/(work|tmp)(\/(?!\.{1,2}(\/|$))[^/\0]+)+$/, 'files go into /work or /tmp'),
  data: z.union([bytes, z.string()], 'a Uint8Array or a string is wanted'),
});

const codeShape = {
  language: z.enum(['python', 'javascript', 'typescript']).optional(),
  code: z.string().optional(),
  input: z.unknown().optional(),
  stdin: z.union([bytes, z.string()], 'a Uint8Array or a string is wanted').optional(),
  file: z
    .string()
    .regex(/^[^/\p{Cc}\p{Cs}]{1,255}$/u, 'the name of a file is wanted, without folders')
    .optional(),
  files: z.array(fileSchema).optional(),
  allowedLibraries: z.array(z.string()).optional(),
  requiredLibraries: z.array(z.string()).optional(),
  blockedCommands: z.array(z.string()).optional(),
  strict: z.boolean().optional(),
  seed: bytes.refine((seed) => seed.length === 32, '32 bytes are wanted').optional(),
} satisfies Record<Exclude<keyof CodeOptions, keyof CommonTaskOptions>, z.ZodType>;

const startShape = { ...commonShape, ...codeShape, toolCall: strictOptions({ name: z.string(), arguments: z.unknown().optional() }).optional() };
const startSchema = strictOptions(startShape);
const runSchema = strictOptions({ ...startShape, signal: z.instanceof(AbortSignal).optional() });

const restoreSchema = strictOptions({
  approve: commonShape.approve,
  onEvent: commonShape.onEvent,
  tenant: commonShape.tenant,
  tools: z.union([list, aFunction], 'a list or a function is wanted').optional(),
  trust: z.boolean().optional(),
  boundTo: z.string().optional(),
  taskId: commonShape.taskId,
} satisfies Record<keyof RestoreOptions, z.ZodType>);

const snapshotSchema = strictOptions({ boundTo: z.string().optional() } satisfies Record<keyof SnapshotOptions, z.ZodType>);

/** These checks throw `invalid_request`. */
export function checkFermataOptions(options: FermataOptions): void {
  parseOptions(fermataSchema, options);
  if (options.sealKey !== undefined && typeof options.sealKey !== 'function') checkSealKey(options.sealKey);
}

export function checkSealKey(key: SealKey): SealKey {
  parseOptions(sealKeySchema, key, 'sealKey');
  return key;
}

/** `kind`: `run` knows a signal besides. */
export function checkStartOptions(kind: 'run' | 'start', options: StartOptions): void {
  const given = parseOptions(kind === 'run' ? runSchema : startSchema, options);
  if ((given.code === undefined) === (given.toolCall === undefined)) throw new FermataError('invalid_request', 'give either code or toolCall');
  if (given.code !== undefined && given.language === undefined) throw new FermataError('invalid_request', 'code needs a language');
  const idle = Object.keys(codeShape).find((key) => given.toolCall !== undefined && given[key as keyof typeof codeShape] !== undefined);
  if (idle) throw new FermataError('invalid_request', `${idle}: goes with code, and has no meaning for a toolCall`);
}

export function checkRestoreOptions(snapshot: Uint8Array, options: RestoreOptions): void {
  parseOptions(bytes, snapshot, 'snapshot');
  parseOptions(restoreSchema, options, 'restore');
}

export function checkSnapshotOptions(options: SnapshotOptions): void {
  parseOptions(snapshotSchema, options, 'snapshot');
}
