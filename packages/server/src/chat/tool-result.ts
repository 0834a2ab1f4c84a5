/**
 * The content of a tool message as the result of a call. JSON becomes a value, anything else a text. An object whose only key is
 * `error` - a text, or an object with a `message` - is a failure: the program sees an exception.
 */
import { isDeepStrictEqual } from 'node:util';
import type { CallView, Decision } from '@fermata/engine';
import { MAX_INTEGER_DIGITS, toWire, ValueError } from '@fermata/protocol';

type Answer = Extract<Decision, { action: 'result' | 'error' }>;

export function decisionOf(content: string): Answer {
  const value = parsed(content);
  try {
    const failure = failureIn(value);
    return failure ? { action: 'error', error: failure } : { action: 'result', output: toWire(value) };
  } catch (error) {
    // Nested too deeply for a value.
    if (error instanceof ValueError) return { action: 'result', output: content };
    throw error;
  }
}

/** Whether a call that is settled was settled by this. */
export function isSettledBy({ result }: CallView, answer: Answer): boolean {
  const { name = 'ToolError', ...error } = answer.action === 'error' ? answer.error : { message: '' };
  const expected = answer.action === 'result' ? { output: answer.output } : { error: { name, ...error } };
  return isDeepStrictEqual(JSON.parse(JSON.stringify(result ?? null)), JSON.parse(JSON.stringify(expected)));
}

/** Integers too large for a number stay whole; text with one that is too long for a value is a text. */
function parsed(content: string): unknown {
  const whole = (_key: string, value: unknown, context?: { source?: string }) => {
    const { source = '' } = context ?? {};
    if (typeof value !== 'number' || Number.isSafeInteger(value) || !/^-?\d+$/.test(source)) return value;
    if (source.length > MAX_INTEGER_DIGITS) throw new RangeError('an integer is too long');
    return BigInt(source);
  };
  try {
    return JSON.parse(content, whole);
  } catch {
    return content;
  }
}

function failureIn(value: unknown): { message: string; data?: unknown } | undefined {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
  const { error, ...others } = value as { error?: unknown };
  if (Object.keys(others).length > 0) return undefined;
  if (typeof error === 'string') return { message: error };
  const { message, ...data } = (error ?? {}) as { message?: unknown };
  if (typeof message !== 'string') return undefined;
  return { message, ...(Object.keys(data).length > 0 ? { data: toWire(data) } : {}) };
}
