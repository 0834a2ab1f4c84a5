/** What a command prints on stdout: one JSON object with `--json`, else text. */
import { styleText } from 'node:util';

export function print(json: boolean | undefined, value: unknown, text: () => string): void {
  const shown = json ? JSON.stringify(value) : text();
  if (shown !== '') process.stdout.write(shown.endsWith('\n') ? shown : `${shown}\n`);
}

/** Columns beside each other, each as wide as it needs; the last one is not padded. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  return rows.map((row) => row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] as number))).join('  ')).join('\n');
}

/** Names and values, a line each; those without a value are left out. */
export function facts(list: Record<string, unknown>): string {
  const given = Object.entries(list).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return columns(given.map(([name, value]) => [`${name}:`, typeof value === 'string' ? value : JSON.stringify(value)]));
}

/** In colour only where stdout shows colours. */
export function dim(text: string): string {
  return styleText('dim', text, { stream: process.stdout });
}

/** JSON that does not fill more than a part of a line. */
export function brief(value: unknown, most = 100): string {
  const text = JSON.stringify(value) ?? '';
  return text.length > most ? `${text.slice(0, most)}...` : text;
}
