/** docs/errors.md is what the tables of codes and limits say. */
import { readFileSync } from 'node:fs';
import { DEFAULT_LIMITS, ERROR_CODES } from '@fermata/protocol';
import { expect, test } from 'vitest';
import { ERRORS_PAGE, errorsPage } from '../../scripts/docs-errors.mjs';

test('docs/errors.md is what the tables of codes and limits say; `npm run docs:errors` makes it anew', () => {
  expect(readFileSync(ERRORS_PAGE, 'utf8')).toBe(errorsPage());
});

test('docs/errors.md has every code and every limit', () => {
  const page = readFileSync(ERRORS_PAGE, 'utf8');
  for (const name of [...Object.keys(ERROR_CODES), ...Object.keys(DEFAULT_LIMITS)]) expect(page).toContain(`\`${name}\``);
});
