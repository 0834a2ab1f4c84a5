/** What policy says of a call, as the wire has it. */
import type { PolicyVerdictWire } from '@fermata/protocol/wire';
import type { ExplainedVerdict } from '@fermata/tools';

export function showVerdict({ action, decidedBy, rates, why, looked }: ExplainedVerdict): PolicyVerdictWire {
  return {
    action,
    decided_by: decidedBy?.of ?? 'tool',
    rule: decidedBy?.number ?? null,
    reason: decidedBy?.rule.reason ?? null,
    why,
    rates: rates.map(({ of, number }) => ({ of, rule: number })),
    rules: looked.map(({ number, ...rest }) => ({ ...rest, rule: number })),
  };
}
