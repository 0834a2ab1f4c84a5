/** What the wire says of how a tool is called, as the tool has it; and what a source says of each of its tools. */

import { strictOptions } from '@fermata/protocol/schemas';
import type { ToolSourceSpec, ToolSpec } from '@fermata/protocol/wire';
import { z } from 'zod';
import { nameFits } from '../policy/conditions.ts';
import { createToolGate, type ToolGate, type ToolLimits, toolLimitsShape } from '../tool-limits.ts';

/** Of all tools of a source; `retry` counts for those that are idempotent. */
export type SourceCallOptions = Omit<ToolLimits, 'timeoutMs'> & {
  /** Other options for some of its tools, by their names without that of the source; `*` stands for any characters. The first that fits holds. */
  tools?: Readonly<Record<string, OneToolOptions>>;
};
export interface OneToolOptions extends Omit<ToolLimits, 'timeoutMs'> {
  /** In the place of what the source says of it. */
  idempotent?: boolean;
  requiresApproval?: boolean;
}

const { timeoutMs: _own, ...shape } = toolLimitsShape;
export const sourceCallShape = {
  ...shape,
  tools: z.record(z.string(), strictOptions({ ...shape, idempotent: z.boolean().optional(), requiresApproval: z.boolean().optional() })).optional(),
};

type WireLimits = Pick<Extract<ToolSpec, { kind: 'http' }>, 'max_concurrent' | 'circuit_breaker' | 'retry'>;

export function callLimitsOf({ max_concurrent, circuit_breaker, retry }: WireLimits): Omit<ToolLimits, 'timeoutMs'> {
  return {
    ...(max_concurrent === undefined ? {} : { maxConcurrent: max_concurrent }),
    ...(circuit_breaker ? { circuitBreaker: { failures: circuit_breaker.failures, resetMs: Math.round(circuit_breaker.reset_seconds * 1000) } } : {}),
    ...(retry ? { retry: { maxAttempts: retry.max_attempts, backoffMs: Math.round(retry.backoff_seconds * 1000) } } : {}),
  };
}

export function sourceCallOptionsOf({ tools, ...limits }: Pick<ToolSourceSpec, 'max_concurrent' | 'circuit_breaker' | 'retry' | 'tools'>): SourceCallOptions {
  const one = ({ idempotent, requires_approval, ...own }: NonNullable<typeof tools>[string]): OneToolOptions => ({
    ...callLimitsOf(own),
    ...(idempotent === undefined ? {} : { idempotent }),
    ...(requires_approval === undefined ? {} : { requiresApproval: requires_approval }),
  });
  return { ...callLimitsOf(limits), ...(tools ? { tools: Object.fromEntries(Object.entries(tools).map(([name, given]) => [name, one(given)])) } : {}) };
}

/** How each tool of a source is called. Its gate stays the same when the source tells of its tools anew. */
export function sourceCalls({ tools = {}, ...all }: SourceCallOptions) {
  const gates = new Map<string, ToolGate | undefined>();
  return (source: string, name: string, told: { idempotent: boolean; requiresApproval: boolean }) => {
    const own = Object.entries(tools).find(([pattern]) => nameFits(pattern, name))?.[1] ?? {};
    const { maxConcurrent, circuitBreaker, retry } = { ...all, ...own };
    const { idempotent = told.idempotent, requiresApproval = told.requiresApproval } = own;
    const full = `${source}.${name}`;
    if (!gates.has(full)) gates.set(full, createToolGate(full, { ...(maxConcurrent === undefined ? {} : { maxConcurrent }), ...(circuitBreaker ? { circuitBreaker } : {}) }));
    return { idempotent, requiresApproval, gate: gates.get(full), ...(retry && idempotent ? { retry } : {}) };
  };
}
