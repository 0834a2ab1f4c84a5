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

/**
 * What a path leads to: `a.b` is `b` in `a`, also of a list by its index and of what becomes a record or a list for a tool (maps and
 * sets). A key may hold a dot itself, so that more than one argument can be meant; `undefined` where there is none. Where the path
 * leads through something that has no such parts, it leads to that: an argument of another kind is not an absent one.
 */
export function argumentsAt(args: unknown, path: string): unknown[] {
  const found = everyAt(args, path);
  return found.length > 0 ? found : [undefined];
}

function everyAt(args: unknown, path: string): unknown[] {
  if (args === undefined || args === null) return [];
  if (!hasParts(args)) return [args];
  const found: unknown[] = [];
  for (let dot = path.length; dot > 0; dot = path.lastIndexOf('.', dot - 1)) {
    const inside = partOf(args, path.slice(0, dot));
    if (inside && dot === path.length) found.push(inside.part);
    else if (inside) found.push(...everyAt(inside.part, path.slice(dot + 1)));
  }
  return found.length === 0 && isList(args) && !INDEX.test(path.split('.', 1)[0] as string) ? [args] : found;
}

const INDEX = /^\d+$/;
const isList = (value: unknown) => Array.isArray(value) || value instanceof Set;
const hasParts = (value: unknown): value is object => typeof value === 'object' && value !== null && !(value instanceof Date) && !ArrayBuffer.isView(value);

function partOf(whole: object, key: string): { part: unknown } | undefined {
  if (whole instanceof Map) {
    // Keys that read alike become one, and the last of them holds.
    const last = [...whole].findLast(([name]) => String(name) === key);
    return last && { part: last[1] };
  }
  if (isList(whole) && !INDEX.test(key)) return undefined;
  const parts = (whole instanceof Set ? [...whole] : whole) as Record<string, unknown>;
  return Object.hasOwn(parts, key) ? { part: parts[key] } : undefined;
}

/** Of the argument that a path leads to; where it leads to several, and they differ, that cannot be judged. */
export function argumentFits(condition: Condition, args: unknown, path: string): boolean | 'unjudged' {
  const [first, ...others] = argumentsAt(args, path).map((value) => conditionFits(condition, value));
  return others.every((fits) => fits === first) ? (first as boolean | 'unjudged') : 'unjudged';
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
      return not(same(wanted as Scalar, value));
    case 'in':
      return isAmong(wanted as Scalar[], value);
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

/** A text is not the number that it may be taken for, and a list is not what is in it: which of them a tool takes for the other is not known. */
function same(wanted: Scalar, value: unknown): boolean | 'unjudged' {
  if (wanted === null || value === null || value === undefined) return value === wanted;
  if (typeof value === 'bigint' && typeof wanted === 'number') return Number.isInteger(wanted) && value === BigInt(wanted);
  return typeof value === typeof wanted ? value === wanted : 'unjudged';
}

function isAmong(wanted: readonly Scalar[], value: unknown): boolean | 'unjudged' {
  const found = wanted.map((one) => same(one, value));
  return found.includes(true) || (found.includes('unjudged') ? 'unjudged' : false);
}

const not = (fits: boolean | 'unjudged') => (fits === 'unjudged' ? fits : !fits);
