/** Conditions of rules on values. One that cannot be judged, because the value is of another kind, is neither true nor false. */
import type { Condition, Scalar } from '@fermata/protocol';

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

/** `a.b` is `b` in `a`; a key that holds a dot itself is found first. */
export function argumentAt(args: unknown, path: string): unknown {
  if (args === null || typeof args !== 'object') return undefined;
  if (Object.hasOwn(args, path)) return (args as Record<string, unknown>)[path];
  const dot = path.indexOf('.');
  if (dot < 0) return undefined;
  const key = path.slice(0, dot);
  return Object.hasOwn(args, key) ? argumentAt((args as Record<string, unknown>)[key], path.slice(dot + 1)) : undefined;
}

export function conditionFits(condition: Condition, value: unknown): boolean | 'unjudged' {
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
