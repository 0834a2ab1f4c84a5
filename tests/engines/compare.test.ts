/** What counts as a difference between a machine and the reference, and which of them an explanation covers. */
import { expect, test } from 'vitest';
import { compare } from './compare.ts';

const ok = { is: 'ok' };
const differing = (...of: Parameters<typeof compare>) => compare(...of).differences.map(({ id, machine, known }) => [id, machine.is, known?.why]);

test('a test that only one side has is a difference', () => {
  expect(differing([], 'm', { 'test.m.A.one': ok, 'test.m.A.two': ok }, { 'test.m.A.one': ok, 'test.m.A.new': ok })).toEqual([
    ['test.m.A.new', 'ok', undefined],
    ['test.m.A.two', 'absent', undefined],
  ]);
});

test('a test that was not run is what the fixture of its class or module came to', () => {
  const reference = { 'test.m.A.one': ok, 'test.m.AB.one': ok };
  expect(differing([], 'm', reference, { 'setUpClass (test.m.A)': { is: 'error' }, 'test.m.AB.one': ok })).toEqual([['test.m.A.one', 'error', undefined]]);
  expect(differing([], 'm', reference, { 'module (test.m)': { is: 'skipped' } }).map(([, is]) => is)).toEqual(['skipped', 'skipped']);
  expect(compare([], 'm', reference, { 'unittest.loader._FailedTest.m': { is: 'error' } }).tests).toBe(2);
});

test('an explanation covers what all of its parts fit, and nothing else', () => {
  const explanations = [{ why: 'no files', id: /\.A\./, machine: 'skipped', detail: /needs files/ }];
  const reference = { 'test.m.A.one': ok, 'test.m.A.two': ok, 'test.m.A.three': ok, 'test.m.B.one': ok };
  const machine = {
    'test.m.A.one': { is: 'skipped', detail: 'needs files' },
    'test.m.A.two': { is: 'skipped', detail: 'needs more' },
    'test.m.A.three': { is: 'failed', detail: 'needs files' },
    'test.m.B.one': { is: 'skipped', detail: 'needs files' },
  };
  expect(differing(explanations, 'm', reference, machine).filter(([, , why]) => why)).toEqual([['test.m.A.one', 'skipped', 'no files']]);
});
