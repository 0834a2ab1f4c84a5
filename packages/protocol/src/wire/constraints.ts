/** What a task may do and spend, as it is asked for on the wire. Seconds and MiB here are milliseconds and bytes in the engine. */
import { z } from 'zod';
import type { LimitsInput } from '../limits.ts';
import type { PolicyRule } from '../policy.ts';
import { policyCallsSchema, policyConditionsSchema, policyRateBounds, policyTimeSchema } from '../policy-schema.ts';
import { strictOptions } from '../strict-options.ts';
import type { NetworkAccess, TaskRequest } from '../task.ts';

const MiB = 1024 * 1024;
const named = z.array(z.string().min(1).max(256)).max(1000);

export const constraintsSchema = strictOptions({
  allowed_libraries: named.optional().meta({ description: 'Modules that the code may import; absent: all of the image' }),
  required_libraries: named.optional().meta({ description: 'Modules without which the program is not started' }),
  blocked_commands: named.optional().meta({ description: 'Programs by name; no process can be started in a Wasm machine at all, and one that is named here is not tried' }),
  strict: z.boolean().optional().meta({ description: 'Refuses what reaches around the check: os, sys, subprocess, importlib, ctypes, eval, exec, compile, Function, import()' }),
  timeout_seconds: z.number().min(0.01).max(31_536_000).optional(),
  max_cpu_seconds: z.number().min(0.01).max(31_536_000).optional(),
  max_memory_mb: z.number().min(1).max(3072).optional(),
  max_disk_mb: z.number().min(0).max(2048).optional(),
  max_processes: z.int().min(1).optional().meta({ description: 'No process can be started in a Wasm machine at all' }),
  max_output_bytes: z
    .int()
    .min(0)
    .max(1024 * MiB)
    .optional(),
  max_tool_calls: z.int().min(0).optional(),
  max_calls_at_once: z.int().min(1).max(1000).optional().meta({ description: 'Calls that are carried out at the same time; the others wait for their turn' }),
  max_journal_mb: z
    .number()
    .min(1)
    .max(64 * 1024)
    .optional()
    .meta({ description: 'What is kept of the course of the task: output, notes, arguments and answers of its calls' }),
  max_checkpoint_mb: z.number().min(1).max(1024).optional().meta({ description: 'One checkpoint of the task, compressed as it is stored' }),
  network_access: z
    .union([z.boolean(), z.array(z.string().min(1).max(512)).max(1000)])
    .optional()
    .meta({ description: 'Hosts that the program may reach: names, `*.` wildcards, addresses and CIDRs, each with an optional port; absent or false: none' }),
  network_timeout_seconds: z.number().min(0.1).max(3600).optional().meta({ description: 'Of one request of the program' }),
}).meta({ id: 'ToolConstraints' });

export type ConstraintsWire = z.input<typeof constraintsSchema>;

/** What the constraints say of the network, in the engine's form; undefined where there is none. */
export function networkOf({ network_access: hosts, network_timeout_seconds: seconds }: z.output<typeof constraintsSchema>): NetworkAccess | undefined {
  if (hosts === undefined || hosts === false || (hosts !== true && hosts.length === 0)) return undefined;
  return { hosts, ...(seconds === undefined ? {} : { timeoutMs: Math.round(seconds * 1000) }) };
}

/** What the constraints say of the code, as a task or a tool that is code has it; absent where they say nothing. */
export function codeConstraintsOf(given: z.output<typeof constraintsSchema>): Pick<TaskRequest, 'allowedLibraries' | 'requiredLibraries' | 'blockedCommands' | 'strict'> {
  return {
    ...(given.allowed_libraries ? { allowedLibraries: given.allowed_libraries } : {}),
    ...(given.required_libraries?.length ? { requiredLibraries: given.required_libraries } : {}),
    ...(given.blocked_commands?.length ? { blockedCommands: given.blocked_commands } : {}),
    ...(given.strict ? { strict: true } : {}),
  };
}

/** The limits among the constraints, in the engine's units; those that were not given are absent. */
export function limitsOf(given: z.output<typeof constraintsSchema>): LimitsInput {
  const limits: LimitsInput = {};
  if (given.timeout_seconds !== undefined) limits.timeoutMs = Math.round(given.timeout_seconds * 1000);
  if (given.max_cpu_seconds !== undefined) limits.maxCpuMs = Math.round(given.max_cpu_seconds * 1000);
  if (given.max_memory_mb !== undefined) limits.maxMemoryBytes = Math.round(given.max_memory_mb * MiB);
  if (given.max_disk_mb !== undefined) limits.maxDiskBytes = Math.round(given.max_disk_mb * MiB);
  if (given.max_output_bytes !== undefined) limits.maxOutputBytes = given.max_output_bytes;
  if (given.max_tool_calls !== undefined) limits.maxToolCalls = given.max_tool_calls;
  if (given.max_calls_at_once !== undefined) limits.maxCallsAtOnce = given.max_calls_at_once;
  if (given.max_journal_mb !== undefined) limits.maxJournalBytes = Math.round(given.max_journal_mb * MiB);
  if (given.max_checkpoint_mb !== undefined) limits.maxCheckpointBytes = Math.round(given.max_checkpoint_mb * MiB);
  return limits;
}

export const policyRuleSchema = strictOptions({
  tool: z.string().min(1).max(256).meta({ description: 'A name; `*` stands for any characters' }),
  when: policyConditionsSchema.optional().meta({ description: 'Conditions on arguments, by path' }),
  calls: policyCallsSchema.optional().meta({ description: 'A condition on how many calls of the tool the task has made before' }),
  time: policyTimeSchema.optional(),
  action: z.enum(['allow', 'deny', 'require_approval', 'rate_limit']),
  rate: strictOptions({
    calls: policyRateBounds.calls,
    window_seconds: z.number().min(0.001).max(31_536_000),
    per: z.enum(['task', 'tenant']).optional(),
  })
    .optional()
    .meta({ description: 'Of `rate_limit`: at most so many calls in any stretch of so long, of the task or of all tasks of the tenant' }),
  reason: z.string().max(2000).optional(),
  expires_after_seconds: z.number().min(1).optional().meta({ description: 'An approval that is not given in this time is a rejection' }),
}).meta({ id: 'PolicyRule' });

export type PolicyRuleWire = z.input<typeof policyRuleSchema>;

export function policyRuleOf({ expires_after_seconds, rate, ...rule }: z.output<typeof policyRuleSchema>): PolicyRule {
  const made = { ...rule } as PolicyRule;
  if (rate !== undefined) made.rate = { calls: rate.calls, windowMs: Math.round(rate.window_seconds * 1000), ...(rate.per ? { per: rate.per } : {}) };
  if (expires_after_seconds !== undefined) made.expiresAfterMs = Math.round(expires_after_seconds * 1000);
  return made;
}

export function policyRuleToWire({ expiresAfterMs, rate, ...rule }: PolicyRule): PolicyRuleWire {
  return {
    ...(rule as PolicyRuleWire),
    ...(rate ? { rate: { calls: rate.calls, window_seconds: rate.windowMs / 1000, ...(rate.per ? { per: rate.per } : {}) } } : {}),
    ...(expiresAfterMs === undefined ? {} : { expires_after_seconds: expiresAfterMs / 1000 }),
  };
}
