/** Limits: what a task may spend. Asked for per task; every one has a default and a minimum. */
import { z } from 'zod';

export const LIMIT_KINDS = ['timeout', 'cpu', 'memory', 'output', 'disk', 'tool_calls'] as const;
export type LimitKind = (typeof LIMIT_KINDS)[number];

const MiB = 1024 * 1024;

/**
 * - `timeoutMs`: wall time while the program runs, its tools and sleeps included; not while it is paused or stopped.
 * - `maxCpuMs`: measured processor time of the machine.
 * - `maxMemoryBytes`: linear memory above the image's own.
 * - `maxDiskBytes`: files in `/work` and `/tmp`. `maxOutputBytes`: stdout and stderr together.
 * - `maxToolCalls`: calls that the program may start.
 */
export const limitsSchema = z
  .strictObject({
    timeoutMs: z.number().int().min(10).default(300_000),
    maxCpuMs: z.number().int().min(10).default(60_000),
    maxMemoryBytes: z.number().int().min(MiB).max(3072 * MiB).default(256 * MiB),
    maxDiskBytes: z.number().int().min(0).max(2048 * MiB).default(64 * MiB),
    maxOutputBytes: z.number().int().min(0).max(1024 * MiB).default(MiB),
    maxToolCalls: z.number().int().min(0).default(1000),
  })
  .prefault({});

export type Limits = z.infer<typeof limitsSchema>;
/** Limits as asked for: what is absent gets its default. */
export type LimitsInput = { [K in keyof Limits]?: Limits[K] | undefined };
