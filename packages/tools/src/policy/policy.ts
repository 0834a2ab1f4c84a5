/**
 * Policy: what a task may do with a tool, by the tool's name and by the call's arguments.
 *
 * The first rule that fits decides. A rule whose condition cannot be judged, because the argument is of another kind, does not
 * let a call through: where the rule is there to hold calls back (`deny`, `require_approval`), it fits; where it allows, it
 * does not. So it is with the rule at which the time of a judgement is over; where that one allows, the call is denied.
 */
import type { Condition, PolicyRule, Scalar, ValueRecord } from '@fermata/protocol';
import { inTime, JUDGING_MS, TookTooLong } from '../judged-in-time.ts';

export interface PolicyVerdict {
  action: PolicyRule['action'];
  /** The rule that has decided; absent where none fits. */
  rule?: PolicyRule;
  /** Why, where it is not the rule's own reason. */
  reason?: string;
}

/** What the rules say of a call; `otherwise` where none fits. */
export function judgeCall(rules: readonly PolicyRule[], tool: string, args: ValueRecord, otherwise: PolicyRule['action'] = 'allow'): PolicyVerdict {
  let at = 0;
  const find = () => {
    for (; at < rules.length; at++) if (ruleFits(rules[at] as PolicyRule, tool, args)) return rules[at];
    return undefined;
  };
  try {
    // To arm a clock costs more than rules do that cannot take long.
    const rule = rules.length <= MOST_UNTIMED && !rules.some(hasPattern) ? find() : inTime(find);
    return rule ? { action: rule.action, rule } : { action: otherwise };
  } catch (error) {
    if (!(error instanceof TookTooLong)) throw error;
    const rule = rules[Math.min(at, rules.length - 1)] as PolicyRule;
    const reason = `the policy took more than ${JUDGING_MS} ms to judge the call, up to its rule ${at + 1}, which is for ${rule.tool}`;
    return { action: rule.action === 'allow' ? 'deny' : rule.action, rule, reason };
  }
}

/** Rules without patterns that are judged without a clock. */
const MOST_UNTIMED = 200;

function hasPattern({ when = {} }: PolicyRule): boolean {
  return Object.values(when).some((condition) => condition !== null && typeof condition === 'object' && condition.matches !== undefined);
}

function ruleFits(rule: PolicyRule, tool: string, args: ValueRecord): boolean {
  return nameFits(rule.tool, tool) && whenFits(rule, args);
}

/** `*` in a pattern stands for any characters. */
export function nameFits(pattern: string, name: string): boolean {
  if (!pattern.includes('*')) return pattern === name;
  const [first = '', ...rest] = pattern.split('*');
  if (!name.startsWith(first)) return false;
  const last = rest.pop() as string;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

function whenFits({ when = {}, action }: PolicyRule, args: ValueRecord): boolean {
  return Object.entries(when).every(([path, condition]) => {
    const fits = conditionFits(condition, argumentAt(args, path));
    return fits === 'unjudged' ? action !== 'allow' : fits;
  });
}

/** `a.b` is `b` in `a`; a key that holds a dot itself is found first. */
function argumentAt(args: unknown, path: string): unknown {
  if (args === null || typeof args !== 'object') return undefined;
  if (Object.hasOwn(args, path)) return (args as Record<string, unknown>)[path];
  const dot = path.indexOf('.');
  if (dot < 0) return undefined;
  const key = path.slice(0, dot);
  return Object.hasOwn(args, key) ? argumentAt((args as Record<string, unknown>)[key], path.slice(dot + 1)) : undefined;
}

function conditionFits(condition: Condition, value: unknown): boolean | 'unjudged' {
  if (condition === null || typeof condition !== 'object') return same(condition, value);
  let unjudged = false;
  for (const [operator, wanted] of Object.entries(condition)) {
    const fits = operatorFits(operator, wanted, value);
    if (fits === false) return false;
    if (fits === 'unjudged') unjudged = true;
  }
  return unjudged ? 'unjudged' : true;
}

function operatorFits(operator: string, wanted: unknown, value: unknown): boolean | 'unjudged' {
  switch (operator) {
    case 'eq':
      return same(wanted as Scalar, value);
    case 'ne':
      return !same(wanted as Scalar, value);
    case 'in':
      return (wanted as Scalar[]).some((one) => same(one, value));
    case 'exists':
      return (value !== undefined) === wanted;
    case 'matches':
      return typeof value === 'string' ? matches(wanted as string, value) : 'unjudged';
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return typeof value === 'number' || typeof value === 'bigint' ? compared(operator, value, wanted as number) : 'unjudged';
    default:
      return 'unjudged';
  }
}

function matches(pattern: string, text: string): boolean | 'unjudged' {
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return 'unjudged';
  }
}

function compared(operator: 'gt' | 'gte' | 'lt' | 'lte', value: number | bigint, wanted: number): boolean | 'unjudged' {
  if (Number.isNaN(value)) return 'unjudged';
  if (operator === 'gt') return value > wanted;
  if (operator === 'gte') return value >= wanted;
  return operator === 'lt' ? value < wanted : value <= wanted;
}

function same(wanted: Scalar, value: unknown): boolean {
  if (typeof value === 'bigint' && typeof wanted === 'number') return value === BigInt(Math.trunc(wanted)) && Number.isInteger(wanted);
  return value === wanted;
}
