import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Progress } from '../src/cli/progress.ts';

let written = '';
const isTTY = process.stderr.isTTY;

beforeEach(() => {
  written = '';
  vi.useFakeTimers();
  process.stderr.isTTY = true;
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    written += text;
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  process.stderr.isTTY = isTTY;
});

/** What the live line shows next. */
function shown(): string {
  written = '';
  vi.advanceTimersByTime(200);
  return written;
}

test('the live line leaves the terminal to a question until it is answered', async () => {
  const progress = new Progress(false);
  progress.phase('generating code');
  expect(shown()).toContain('generating code');
  const question = Promise.withResolvers<boolean>();
  const asked = progress.whileAsking(() => question.promise);
  expect(shown()).toBe('');
  question.resolve(true);
  expect(await asked).toBe(true);
  expect(shown()).toContain('generating code');
  progress.end();
});

test('the live line tells the phase of the model or the line of the program, never those of an earlier one', () => {
  const progress = new Progress(false);
  progress.phase('generating code');
  progress.program('program 1 (python)', 'tools.add()');
  progress.onEvent({ type: 'position', line: 4, column: 1 });
  expect(shown()).toContain('line 4');
  expect(written).not.toContain('generating code');
  progress.phase('repairing');
  expect(shown()).toContain('repairing');
  expect(written).not.toContain('line 4');
  progress.end();
});
