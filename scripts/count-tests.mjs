/**
 * Prints `N passed, N failed` from the JSON report of the tests, and exits with 1 unless all is well. A test file that
 * could not be loaded, and a report that is not there, count as one failure each. Runs on Node 20.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export function countTests(report) {
  if (!report) return { passed: 0, failed: 1 };
  const unloaded = report.testResults.filter(({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'));
  const failed = report.numFailedTests + unloaded.length;
  return { passed: report.numPassedTests, failed: report.success ? failed : Math.max(failed, 1) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , file] = process.argv;
  const { passed, failed } = countTests(existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}
