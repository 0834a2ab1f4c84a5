/** Ordinary programs of some milliseconds each, and the answers that they must give. */
import type { CodeOptions } from 'fermata';

export interface Expected {
  options: CodeOptions;
  output: unknown;
}

const JS = 'let sum = 0; for (let i = 0; i < input * 300; i++) sum += i % 7; const more = await tools.add({ a: sum, b: input }); return more';
const PYTHON = 'import fermata\nn = fermata.input\ntotal = sum(i % 7 for i in range(n * 100))\ntools.add(a=total, b=n)';

export const tools = [{ name: 'add', execute: ({ a, b }: Record<string, unknown>) => Number(a) + Number(b) }];

/** The program with this number; they alternate between languages and differ in length. */
export function ordinary(number: number): Expected {
  const input = 20 + (number % 50);
  const python = number % 2 === 0;
  const rounds = input * (python ? 100 : 300);
  const sum = Array.from({ length: rounds }, (_, i) => i % 7).reduce((a, b) => a + b, 0);
  return { options: { language: python ? 'python' : 'javascript', code: python ? PYTHON : JS, input, tools }, output: sum + input };
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
