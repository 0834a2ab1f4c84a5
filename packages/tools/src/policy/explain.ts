/** Says of each rule why it fits a call or does not, and which one decides: for people who write rules. */
import type { PolicyAction, PolicyRule } from '@fermata/protocol';
import { inTime, JUDGING_MS, TookTooLong } from '../judged-in-time.ts';
import { argumentsAt } from './conditions.ts';
import { type JudgedCall, judgeCall, lookAt, needsClock, type PolicyLayer, type PolicyVerdict } from './policy.ts';
import { toldTime } from './time-window.ts';

export interface LookedAt {
  of: PolicyLayer['of'];
  /** From 1. */
  number: number;
  action: PolicyRule['action'];
  fits: boolean;
  why: string;
}

export interface ExplainedVerdict extends PolicyVerdict {
  why: string;
  /** Every rule, in the order of the layers. */
  looked: LookedAt[];
}

/** `otherwise`: the tool's own default. */
export function explainCall(layers: readonly PolicyLayer[], call: JudgedCall, otherwise: PolicyAction = 'allow'): ExplainedVerdict {
  const verdict = judgeCall(layers, call, otherwise);
  // Rules that are too slow to decide are too slow to look at one by one.
  if (verdict.reason !== undefined) return { ...verdict, why: verdict.reason, looked: [] };
  const look = () => layers.flatMap(({ of, rules }) => rules.map((rule, index) => ({ of, number: index + 1, action: rule.action, ...explainRule(rule, call) })));
  try {
    // Rules after the one that decides are looked at here only.
    const looked = needsClock(layers) ? inTime(look) : look();
    return { ...verdict, why: whyOf(verdict, looked), looked };
  } catch (error) {
    if (!(error instanceof TookTooLong)) throw error;
    const { of, number } = verdict.decidedBy ?? {};
    const who = of ? `rule ${number} of the ${of}` : 'no rule fits';
    return { ...verdict, why: `${who}; to look at all of them takes more than ${JUDGING_MS} ms`, looked: [] };
  }
}

function whyOf({ action, decidedBy }: PolicyVerdict, looked: readonly LookedAt[]): string {
  if (!decidedBy) {
    if (action !== 'require_approval') return 'no rule fits';
    const isFreer = looked.some(({ of, fits, action: freer }) => of === 'task' && fits && freer === 'allow');
    return isFreer ? 'the tool itself needs approval, and rules of the task cannot make it freer' : 'no rule fits, and the tool itself needs approval';
  }
  const { of, number, rule } = decidedBy;
  const own = looked.find((one) => one.of === of && one.number === number) as LookedAt;
  const milder = looked.filter((one) => one.fits && one.action !== 'rate_limit' && one.action !== action && one.of !== of);
  const over = milder.length > 0 ? `; ${action} is stricter than ${[...new Set(milder.map((one) => `${one.action} of the ${one.of}`))].join(' and ')}` : '';
  return `rule ${number} of the ${of}: ${own.why}${over}${rule.reason === undefined ? '' : ` (${rule.reason})`}`;
}

function explainRule(rule: PolicyRule, call: JudgedCall): Pick<LookedAt, 'fits' | 'why'> {
  const look = lookAt(rule, call);
  const told = (path: string) => `${path} is ${argumentsAt(call.args, path).map(shown).join(' and ')}`;
  if (!look.fits) {
    if (look.part === 'tool') return { fits: false, why: `${call.tool} is not ${rule.tool}` };
    if (look.part === 'time') return { fits: false, why: `it is ${toldTime(call.now, rule.time?.zone)}, which is outside ${shown(rule.time)}` };
    if (look.part === 'calls') return { fits: false, why: `${call.calls()} calls before, and not ${shown(rule.calls)}` };
    return { fits: false, why: `${told(look.path as string)}, and not ${shown(rule.when?.[look.path as string])}` };
  }
  const parts = [
    rule.tool === call.tool ? `it is for ${rule.tool}` : `${call.tool} is ${rule.tool}`,
    ...(rule.time ? [`it is ${toldTime(call.now, rule.time.zone)}`] : []),
    ...(rule.calls === undefined ? [] : [`${call.calls()} calls before`]),
    ...Object.keys(rule.when ?? {}).map((path) => (look.unjudged.includes(path) ? `${told(path)}, which cannot be judged and holds the call back` : told(path))),
  ];
  return { fits: true, why: parts.join(', ') };
}

function shown(value: unknown): string {
  if (value === undefined) return 'absent';
  const text = JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part)) ?? String(value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
