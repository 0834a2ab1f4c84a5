/** The count of tests is that of the report, and a run that did not happen is a failure. */
import { expect, test } from 'vitest';
import { countTests } from '../scripts/count-tests.mjs';

const passing = { status: 'passed', assertionResults: [{ status: 'passed' }] };

test('the counts are those of the report', () => {
  expect(countTests({ success: true, numPassedTests: 3, numFailedTests: 0, testResults: [passing] })).toEqual({ passed: 3, failed: 0 });
  const failing = { status: 'failed', assertionResults: [{ status: 'passed' }, { status: 'failed' }] };
  expect(countTests({ success: false, numPassedTests: 3, numFailedTests: 1, testResults: [passing, failing] })).toEqual({ passed: 3, failed: 1 });
});

test('what did not run is a failure, never silence', () => {
  const unloaded = { status: 'failed', assertionResults: [] };
  expect(countTests(undefined)).toEqual({ passed: 0, failed: 1 });
  expect(countTests({ success: false, numPassedTests: 1, numFailedTests: 0, testResults: [passing, unloaded] })).toEqual({ passed: 1, failed: 1 });
  expect(countTests({ success: false, numPassedTests: 1, numFailedTests: 0, testResults: [passing] })).toEqual({ passed: 1, failed: 1 });
});
