/** Limits: what a task may spend. Asked for per task; every one has a default and a minimum. */
import { z } from 'zod';

export const LIMIT_KINDS = ['timeout', 'cpu', 'memory', 'output', 'disk', 'tool_calls'] as const;
export type LimitKind = (typeof LIMIT_KINDS)[number];

const MiB = 1024 * 1024;
const atLeast = (min: number) => z.number().int().min(min);
const between = (min: number, max: number) => atLeast(min).max(max);

/**
 * - `timeoutMs`: wall time while the program runs, its tools and sleeps included; not while it is paused or stopped.
 * - `maxCpuMs`: measured processor time of the machine.
 * - `maxMemoryBytes`: linear memory above the image's own.
 * - `maxDiskBytes`: files in `/work` and `/tmp`. `maxOutputBytes`: stdout and stderr together.
 * - `maxToolCalls`: calls that the program may start.
 */
export const limitsSchema = z
  .strictObject({
    timeoutMs: atLeast(10).default(300_000),
    maxCpuMs: atLeast(10).default(60_000),
    maxMemoryBytes: between(MiB, 3072 * MiB).default(256 * MiB),
    maxDiskBytes: between(0, 2048 * MiB).default(64 * MiB),
    maxOutputBytes: between(0, 1024 * MiB).default(MiB),
    maxToolCalls: atLeast(0).default(1000),
  })
  .prefault({});

export type Limits = z.infer<typeof limitsSchema>;
/** Limits as asked for: what is absent gets its default. */
export type LimitsInput = { [K in keyof Limits]?: Limits[K] | undefined };
