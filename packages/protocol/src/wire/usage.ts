/** What a task has spent, on the wire. */
import { z } from 'zod';
import type { TaskUsage } from '../task.ts';

export const usageSchema = z
  .object({
    wall_time_s: z.number(),
    cpu_time_s: z.number(),
    memory_mb: z.number(),
    peak_memory_mb: z.number(),
    disk_bytes: z.int(),
    network_bytes: z.int().meta({ description: 'Of the bodies of requests that the program has made, and of their answers' }),
    tool_calls: z.int(),
    output_bytes: z.int(),
    journal_bytes: z.int(),
    model_tokens: z.int().meta({ description: 'Of prompts and replies' }),
    model_cost_usd: z.number().optional().meta({ description: 'Where the price of the model is known' }),
  })
  .meta({ id: 'ResourcesUsed' });

export type UsageWire = z.output<typeof usageSchema>;

export function showUsage(usage: TaskUsage): UsageWire {
  return {
    wall_time_s: thousandths(usage.wallMs / 1000),
    cpu_time_s: thousandths(usage.cpuMs / 1000),
    memory_mb: thousandths(usage.memoryBytes / 1024 / 1024),
    peak_memory_mb: thousandths(usage.peakMemoryBytes / 1024 / 1024),
    disk_bytes: usage.diskBytes,
    network_bytes: usage.networkBytes ?? 0,
    tool_calls: usage.toolCalls,
    output_bytes: usage.outputBytes,
    journal_bytes: usage.journalBytes ?? 0,
    model_tokens: usage.modelTokens ?? 0,
    ...(usage.modelCost === undefined ? {} : { model_cost_usd: Math.round(usage.modelCost * 1e6) / 1e6 }),
  };
}

const thousandths = (value: number) => Math.round(value * 1000) / 1000;
