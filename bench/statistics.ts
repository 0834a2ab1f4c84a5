/** The few statistics that the bench needs. */
import type { Figure } from './report.ts';

export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.round((sorted.length - 1) * q)] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? Number.NaN) : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

export function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

export function figureOf(values: readonly number[]): Figure {
  return { median: rounded(median(values)), p95: rounded(quantile(values, 0.95)), least: rounded(Math.min(...values)), rounds: values.length };
}

/** Four significant digits: more would be noise. */
export function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
