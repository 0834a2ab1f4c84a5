/**
 * Policy: what a task may do with a tool, by the tool's name, the call's arguments, how often it was called, and the time.
 *
 * Rules come in layers: of the task, of its tenant, of the server. In each the first rule that fits is the layer's word, and of
 * the words the strictest holds: deny, then require approval, then allow. Where no layer has a word the tool's own default holds, and
 * also where only the task's own rules would be freer than it. Rates stand aside: each that fits holds.
 *
 * A rule whose condition cannot be judged, because the argument is of another kind, does not let a call through: where the rule is
 * there to hold calls back, it fits; where it allows, it does not. Where all rules together take too long, the call is denied.
 */
import type { PolicyAction, PolicyRule, ValueRecord } from '@fermata/protocol';
import { inTime, JUDGING_MS, TookTooLong } from '../judged-in-time.ts';
import { argumentFits, conditionFits, nameFits } from './conditions.ts';
import { timeFits } from './time-window.ts';

/** A call as rules look at it. */
export interface JudgedCall {
  tool: string;
  args: ValueRecord;
  now: number;
  /** How many calls of the tool the task has made before, those that policy refused aside. */
  calls: () => number;
}

export interface PolicyLayer {
  of: 'task' | 'tenant' | 'server';
  rules: readonly PolicyRule[];
}

/** A rule and where it stands; `number` counts from 1. */
export interface PlacedRule {
  of: PolicyLayer['of'];
  number: number;
  rule: PolicyRule;
}

export interface PolicyVerdict {
  action: PolicyAction;
  /** The rule that has decided; absent where none fits, and the tool's default holds. */
  decidedBy?: PlacedRule;
  /** Rates that the call must be within; none where it is denied. */
  rates: PlacedRule[];
  /** Why, where it is not the rule's own reason. */
  reason?: string;
}

const STRICTEST_FIRST: readonly PolicyAction[] = ['deny', 'require_approval', 'allow'];
/** Rules without patterns that are judged without a clock: to arm it costs more than they do. */
const MOST_UNTIMED = 200;

/** What the rules say of a call; `otherwise` is the tool's own default. */
export function judgeCall(layers: readonly PolicyLayer[], call: JudgedCall, otherwise: PolicyAction = 'allow'): PolicyVerdict {
  let at: PlacedRule | undefined;
  const looking = (placed: PlacedRule) => {
    at = placed;
  };
  const judge = () => verdictOf(layers, call, otherwise, looking);
  if (!needsClock(layers)) return judge();
  try {
    return inTime(judge);
  } catch (error) {
    if (!(error instanceof TookTooLong) || !at) throw error;
    const reason = `the rules took more than ${JUDGING_MS} ms to judge the call, up to rule ${at.number} of the ${at.of}, which is for ${at.rule.tool}`;
    return { action: 'deny', decidedBy: at, rates: [], reason };
  }
}

function verdictOf(layers: readonly PolicyLayer[], call: JudgedCall, otherwise: PolicyAction, looking: (placed: PlacedRule) => void): PolicyVerdict {
  const words: (PlacedRule & { action: PolicyAction })[] = [];
  const rates: PlacedRule[] = [];
  for (const { of, rules } of layers) {
    let hasWord = false;
    for (const [index, rule] of rules.entries()) {
      const { action } = rule;
      const placed = { of, number: index + 1, rule };
      looking(placed);
      if ((hasWord && action !== 'rate_limit') || !lookAt(rule, call).fits) continue;
      if (action === 'rate_limit') rates.push(placed);
      else {
        words.push({ ...placed, action });
        hasWord = true;
      }
    }
  }
  const [word] = words.sort((a, b) => STRICTEST_FIRST.indexOf(a.action) - STRICTEST_FIRST.indexOf(b.action));
  // Who submits a task may not make free what its tool holds back.
  const isTooFree = word?.action === 'allow' && otherwise !== 'allow' && words.every(({ of }) => of === 'task');
  const { action = otherwise, of, number, rule } = isTooFree ? {} : (word ?? {});
  return { action, ...(of && number && rule ? { decidedBy: { of, number, rule } } : {}), rates: action === 'deny' ? [] : rates };
}

/** Whether looking at all of the rules may take long. */
export function needsClock(layers: readonly PolicyLayer[]): boolean {
  const rules = layers.flatMap((layer) => layer.rules);
  return rules.length > MOST_UNTIMED || rules.some(hasPattern);
}

function hasPattern({ when = {} }: PolicyRule): boolean {
  return Object.values(when).some((condition) => condition !== null && typeof condition === 'object' && condition.matches !== undefined);
}

/** Why a rule fits or does not: the part of it, for `when` with the path of the argument. */
export type RuleLook = { fits: true; unjudged: string[] } | { fits: false; part: 'tool' | 'calls' | 'time' | 'when'; path?: string };

export function lookAt({ tool, when = {}, calls, time, action }: PolicyRule, call: JudgedCall): RuleLook {
  if (!nameFits(tool, call.tool)) return { fits: false, part: 'tool' };
  if (time !== undefined && !timeFits(time, call.now)) return { fits: false, part: 'time' };
  if (calls !== undefined && conditionFits(calls, call.calls()) !== true) return { fits: false, part: 'calls' };
  const unjudged: string[] = [];
  for (const [path, condition] of Object.entries(when)) {
    const fits = argumentFits(condition, call.args, path);
    if (fits === false || (fits === 'unjudged' && action === 'allow')) return { fits: false, part: 'when', path };
    if (fits === 'unjudged') unjudged.push(path);
  }
  return { fits: true, unjudged };
}

/** Whether a call of earlier counts for a rate: by its tool and arguments alone. */
export function countsFor({ tool, when }: PolicyRule, name: string, args: () => ValueRecord): boolean {
  return nameFits(tool, name) && (when === undefined || lookAt({ tool, when, action: 'rate_limit' }, { tool: name, args: args(), now: 0, calls: () => 0 }).fits);
}
