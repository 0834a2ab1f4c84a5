/** Rules on tools and arguments, and which way a rule falls that cannot be judged. */
import type { PolicyRule, ValueRecord } from '@fermata/protocol';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judgeCall, nameFits } from '../src/policy/policy.ts';
import { checkRules } from '../src/policy/rules.ts';

const held = (when: PolicyRule['when']): PolicyRule[] => [{ tool: 'pay', action: 'require_approval', ...(when ? { when } : {}) }];
const verdict = (rules: PolicyRule[], args: ValueRecord) => judgeCall(rules, 'pay', args).action;

describe('conditions', () => {
  test.each<[PolicyRule['when'], ValueRecord, boolean]>([
    [undefined, {}, true],
    [{ amount: { gt: 100 } }, { amount: 101 }, true],
    [{ amount: { gt: 100 } }, { amount: 100 }, false],
    [{ amount: { gt: 100 } }, { amount: 10n ** 30n }, true],
    [{ amount: { gte: 1, lt: 5 } }, { amount: 5 }, false],
    [{ to: 'x' }, { to: 'x' }, true],
    [{ to: { in: ['x', 'y'] } }, { to: 'z' }, false],
    [{ to: { ne: 'x' } }, { to: 'z' }, true],
    [{ to: { matches: '^a' } }, { to: 'ab' }, true],
    [{ to: { exists: false } }, {}, true],
    [{ 'user.name': 'x' }, { user: { name: 'x' } }, true],
    [{ 'user.name': 'x' }, { 'user.name': 'x' }, true],
    [{ a: 1, b: 2 }, { a: 1, b: 3 }, false],
  ])('%j of %o', (when, args, fits) => expect(verdict(held(when), args)).toBe(fits ? 'require_approval' : 'allow'));

  test.each([{ amount: '1000000' }, {}, { amount: Number.NaN }, { amount: null }])('an amount that cannot be compared does not get past a rule: %j', (args) => {
    expect(verdict(held({ amount: { gt: 100 } }), args)).toBe('require_approval');
    const allowed: PolicyRule[] = [
      { tool: 'pay', when: { amount: { lte: 100 } }, action: 'allow' },
      { tool: '*', action: 'deny' },
    ];
    expect(verdict(allowed, args)).toBe('deny');
  });
});

test('the first rule that fits decides', () => {
  const rules: PolicyRule[] = [
    { tool: 'crm.*', action: 'allow' },
    { tool: '*', action: 'deny' },
  ];
  expect(judgeCall(rules, 'crm.find', {}).action).toBe('allow');
  expect(judgeCall(rules, 'pay', {})).toEqual({ action: 'deny', rule: rules[1] });
  expect(judgeCall([], 'pay', {}, 'require_approval').action).toBe('require_approval');
});

test('a pattern fits as the regular expression that it stands for', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*'), maxLength: 6 });
  const name = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 8 });
  fc.assert(
    fc.property(text, name, (pattern, given) => {
      const source = pattern.replaceAll('.', '\\.').replaceAll('*', '.*');
      expect(nameFits(pattern, given)).toBe(new RegExp(`^${source}$`).test(given));
    }),
    { numRuns: 2000 },
  );
});

test('an expression that takes for ever is not judged, and lets nothing through', () => {
  const rules = held({ note: { matches: '^(a+)+$' } });
  expect(verdict(rules, { note: `${'a'.repeat(40)}!` })).toBe('require_approval');
  expect(
    judgeCall(
      [
        { tool: 'pay', when: { note: { matches: '^(a+)+$' } }, action: 'allow' },
        { tool: '*', action: 'deny' },
      ],
      'pay',
      { note: `${'a'.repeat(40)}!` },
    ).action,
  ).toBe('deny');
});

test('all rules together have the time of one judgement, and who has used it up is named', () => {
  const slow = (action: PolicyRule['action'], reason?: string): PolicyRule => ({ tool: 'p*', when: { note: { matches: '^(a+)+$' } }, action, ...(reason ? { reason } : {}) });
  const other: PolicyRule = { tool: 'other', action: 'deny' };
  const args = { note: `${'a'.repeat(40)}!` };
  const allowing = [other, ...Array.from({ length: 60 }, () => slow('allow'))];
  expect(judgeCall(allowing, 'pay', args)).toEqual({ action: 'deny', rule: allowing[1], reason: expect.stringMatching(/more than 250 ms .* rule 2, which is for p\*$/) });
  expect(judgeCall([slow('require_approval', 'held')], 'pay', args)).toMatchObject({ action: 'require_approval', reason: expect.stringContaining('rule 1') });
  expect(judgeCall([slow('allow')], 'pay', { note: 'aaa' }).action).toBe('allow');
});

test('very many rules are judged to the last', () => {
  const rules: PolicyRule[] = Array.from({ length: 5000 }, (_, i) => ({ tool: `t${i}`, action: 'deny' }));
  expect(judgeCall(rules, 't4999', {})).toEqual({ action: 'deny', rule: rules[4999] });
  expect(judgeCall(rules, 'x', {})).toEqual({ action: 'allow' });
});

test.each([
  [{ tool: 'pay', action: 'hold' }, 'policy.0.action'],
  [{ tool: 'pay', action: 'deny', when: { amount: { over: 5 } } }, 'policy.0.when.amount'],
  [{ tool: 'pay', action: 'deny', when: { note: { matches: '(' } } }, 'policy.0.when.note'],
  [{ tools: 'pay', action: 'deny' }, 'did you mean "tool"'],
])('a rule that cannot be understood is refused: %j', (rule, said) => {
  expect(() => checkRules([rule as never])).toThrow(said);
});
