/** Limits: what a task may spend. Asked for per task; every one has a default and a minimum. */
import type { ErrorCode } from './errors.ts';

export type LimitKind = 'timeout' | 'cpu' | 'memory' | 'disk' | 'output' | 'tool_calls' | 'journal';

const MiB = 1024 * 1024;
export const UNBOUNDED = Number.MAX_SAFE_INTEGER;

/** While the program of a task has not taken more than this of answers, no further call of it is begun. */
export const HELD_ANSWER_BYTES = 32 * MiB;

/** Whole numbers: the least and the most that can be asked for, and what holds where nothing is asked. */
interface LimitBounds {
  least: number;
  most: number;
  default: number;
}

/**
 * - `timeoutMs`: wall time while the program runs, its tools included; not while it is paused or stopped, nor the sleeps of a durable task.
 * - `maxCpuMs`: measured processor time of the machine.
 * - `maxMemoryBytes`: linear memory above the image's own.
 * - `maxDiskBytes`: files in `/work` and `/tmp`. `maxOutputBytes`: stdout, stderr and notes (steps, findings) together.
 * - `maxToolCalls`: calls that the program may start. `maxCallsAtOnce`: of them, how many are carried out at the same time; the
 *   others wait for their turn.
 * - `maxJournalBytes`: what is kept of the course of a durable task. `maxCheckpointBytes`: one checkpoint of it, as it is stored.
 */
export const LIMIT_BOUNDS = {
  timeoutMs: { least: 10, most: UNBOUNDED, default: 300_000 },
  maxCpuMs: { least: 10, most: UNBOUNDED, default: 60_000 },
  maxMemoryBytes: { least: MiB, most: 3072 * MiB, default: 256 * MiB },
  maxDiskBytes: { least: 0, most: 2048 * MiB, default: 64 * MiB },
  maxOutputBytes: { least: 0, most: 1024 * MiB, default: MiB },
  maxToolCalls: { least: 0, most: UNBOUNDED, default: 1000 },
  maxCallsAtOnce: { least: 1, most: 1000, default: 16 },
  maxJournalBytes: { least: MiB, most: 64 * 1024 * MiB, default: 256 * MiB },
  maxCheckpointBytes: { least: MiB, most: 1024 * MiB, default: 256 * MiB },
} as const satisfies Record<string, LimitBounds>;

export type Limits = Record<keyof typeof LIMIT_BOUNDS, number>;
export const DEFAULT_LIMITS: Readonly<Limits> = Object.fromEntries(Object.entries(LIMIT_BOUNDS).map(([name, bounds]) => [name, bounds.default])) as Limits;

/** Limits as asked for: what is absent gets its default. */
export type LimitsInput = { [K in keyof Limits]?: Limits[K] | undefined };

/** What a limit is called by whom, and what to do where a program has met it. */
export interface LimitWords {
  /** The code of a task that has met it; null where that ends nothing. */
  code: ErrorCode | null;
  /** Its name in the library. */
  option: keyof Limits;
  /** Its name on the command line, and the unit it has there. */
  flag: string;
  unit: 'duration' | 'MiB' | 'bytes' | 'n';
  /** What it counts. */
  counts: string;
  /** What to do, with the name that the reader knows it by. */
  advice: (name: string) => string;
}

export const LIMITS = {
  timeout: {
    code: 'timeout',
    option: 'timeoutMs',
    flag: '--timeout',
    unit: 'duration',
    counts:
      'wall time while the program runs, its tools included; not while it is paused or stopped. Its sleeps count in memory, and not in a durable task, which holds nothing meanwhile',
    advice: (name) => `Give it more time (${name}), or let it do less.`,
  },
  cpu: {
    code: 'cpu_limit',
    option: 'maxCpuMs',
    flag: '--cpu',
    unit: 'duration',
    counts: 'processor time of the machine, as measured',
    advice: (name) => `Give it more processor time (${name}), or use a better algorithm.`,
  },
  memory: {
    code: 'memory_limit',
    option: 'maxMemoryBytes',
    flag: '--memory',
    unit: 'MiB',
    counts: "memory of the machine above the image's own",
    advice: (name) => `Give it more memory (${name}), or work on the data in parts.`,
  },
  disk: {
    code: 'disk_limit',
    option: 'maxDiskBytes',
    flag: '--disk',
    unit: 'MiB',
    counts: 'files in `/work` and `/tmp`',
    advice: (name) => `Write less to files, or raise ${name}.`,
  },
  output: {
    code: 'output_limit',
    option: 'maxOutputBytes',
    flag: '--max-output',
    unit: 'bytes',
    counts: 'stdout, stderr and what the program notes of itself (steps and their results, findings) together',
    advice: (name) => `Print and note less, or raise ${name}.`,
  },
  tool_calls: {
    code: 'tool_call_limit',
    option: 'maxToolCalls',
    flag: '--max-calls',
    unit: 'n',
    counts: 'tool calls that the program may start',
    advice: (name) => `Start fewer calls, or raise ${name}.`,
  },
  calls_at_once: {
    code: null,
    option: 'maxCallsAtOnce',
    flag: '--calls-at-once',
    unit: 'n',
    counts: 'calls that are carried out at the same time; the others wait for their turn, which the program does not notice',
    advice: (name) => `Let fewer calls of one task be carried out together, or raise ${name}.`,
  },
  journal: {
    code: 'journal_limit',
    option: 'maxJournalBytes',
    flag: '--max-journal',
    unit: 'MiB',
    counts: 'journal of a durable task: output, notes, arguments and answers of its calls, and what else is recorded of its course. A task in memory keeps none',
    advice: (name) => `Pass less through calls and notes, or raise ${name}.`,
  },
  checkpoint: {
    code: null,
    option: 'maxCheckpointBytes',
    flag: '--max-checkpoint',
    unit: 'MiB',
    counts: 'one checkpoint of a durable task, compressed as it is stored. A larger one is `checkpoint_too_large`: the task goes on without it',
    advice: (name) => `Let the program hold less memory and fewer files where it stops, or raise ${name}.`,
  },
} satisfies Record<LimitKind | 'calls_at_once' | 'checkpoint', LimitWords>;
