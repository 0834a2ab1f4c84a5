/** The programs of the processor-time rows: files in programs/ that define `main`, and what it gives. */
import { readFileSync } from 'node:fs';
import type { Case } from './row.ts';

const ENDINGS = { javascript: 'js', python: 'py' } as const;

export const JAVASCRIPT: readonly Case[] = [
  { name: 'calls', expected: [7, 8, 9, 10] },
  { name: 'floats', expected: 220559.679267 },
  { name: 'text', expected: [40094, 1009, 'w1002', '529 W364 W19'] },
  { name: 'sort', expected: [10032, 3168, 11771] },
  { name: 'integers', expected: [1015409421, 749759] },
  { name: 'data', expected: [94451, 80891, 200] },
];

export const PYTHON: readonly Case[] = [
  { name: 'calls', expected: [13, 13, 13, 13, 13, 13] },
  { name: 'floats', expected: 202796.942693 },
  { name: 'lists', expected: 478 },
  { name: 'data', expected: [92191, 'w280', 300, 1998] },
];

export function programText(language: keyof typeof ENDINGS, name: string): string {
  return readFileSync(new URL(`programs/${language}/${name}.${ENDINGS[language]}`, import.meta.url), 'utf8');
}
