/** Endless programs, for what has to stop them. */
export const LOOPS = {
  JavaScript: { language: 'javascript', code: 'let n = 0;\nfor (;;) n = (n + 1) % 1000' },
  Python: { language: 'python', code: 'n = 0\nwhile True:\n    n = (n + 1) % 1000' },
} as const;
