/** Limits: what a task may spend. Asked for per task; every one has a default and a minimum. */
import { z } from 'zod';
import type { ErrorCode } from './errors.ts';
import { strictOptions } from './options.ts';

export type LimitKind = 'timeout' | 'cpu' | 'memory' | 'disk' | 'output' | 'tool_calls';

const MiB = 1024 * 1024;
const atLeast = (min: number) => z.number().int().min(min);
const between = (min: number, max: number) => atLeast(min).max(max);

/**
 * - `timeoutMs`: wall time while the program runs, its tools included; not while it is paused or stopped, nor the sleeps of a durable task.
 * - `maxCpuMs`: measured processor time of the machine.
 * - `maxMemoryBytes`: linear memory above the image's own.
 * - `maxDiskBytes`: files in `/work` and `/tmp`. `maxOutputBytes`: stdout and stderr together.
 * - `maxToolCalls`: calls that the program may start.
 */
export const limitsSchema = strictOptions({
  timeoutMs: atLeast(10).default(300_000),
  maxCpuMs: atLeast(10).default(60_000),
  maxMemoryBytes: between(MiB, 3072 * MiB).default(256 * MiB),
  maxDiskBytes: between(0, 2048 * MiB).default(64 * MiB),
  maxOutputBytes: between(0, 1024 * MiB).default(MiB),
  maxToolCalls: atLeast(0).default(1000),
}).prefault({});

export type Limits = z.infer<typeof limitsSchema>;
/** Limits as asked for: what is absent gets its default. */
export type LimitsInput = { [K in keyof Limits]?: Limits[K] | undefined };

/** What a limit is called by whom, and what to do where a program has met it. */
export interface LimitWords {
  /** The code of a task that has met it. */
  code: ErrorCode;
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

export const LIMITS: Record<LimitKind, LimitWords> = {
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
    counts: 'stdout and stderr together',
    advice: (name) => `Print less, or raise ${name}.`,
  },
  tool_calls: {
    code: 'tool_call_limit',
    option: 'maxToolCalls',
    flag: '--max-calls',
    unit: 'n',
    counts: 'tool calls that the program may start',
    advice: (name) => `Start fewer calls, or raise ${name}.`,
  },
};
