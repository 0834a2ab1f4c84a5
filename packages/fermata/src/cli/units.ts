/** Durations and sizes as people write them on a command line. */
import { InvalidArgumentError } from 'commander';

const DURATION_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `500ms`, `2s`, `5m`, `1h`; a bare number is seconds. In milliseconds. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text);
  if (!match) throw new InvalidArgumentError('Write a duration like 500ms, 2s, 5m or 1h.');
  return Math.round(Number(match[1]) * (DURATION_MS[match[2] ?? 's'] as number));
}

/** Whole mebibytes, in bytes. */
export function parseMebibytes(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('Write a whole number of MiB.');
  return Number(text) * 1024 * 1024;
}

export function parseCount(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('Write a whole number.');
  return Number(text);
}

export function formatDuration(ms: number): string {
  return ms < 1000 ? `${ms}ms` : `${ms / 1000}s`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
