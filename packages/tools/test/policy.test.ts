/** Rules on tools and arguments, and which way a rule falls that cannot be judged. */
import type { PolicyRule, ValueRecord } from '@fermata/protocol';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nameFits } from '../src/policy/conditions.ts';
import { explainCall } from '../src/policy/explain.ts';
import { judgeCall } from '../src/policy/policy.ts';
import { PolicyBook } from '../src/policy/policy-book.ts';
import { checkRules } from '../src/policy/rules.ts';
import { documents } from './documents.ts';

const held = (when: PolicyRule['when']): PolicyRule[] => [{ tool: 'pay', action: 'require_approval', ...(when ? { when } : {}) }];
const called = (tool: string, args: ValueRecord = {}, { calls = 0, at = '2026-03-02T12:00:00Z' } = {}) => ({ tool, args, now: Date.parse(at), calls: () => calls });
const judge = (rules: PolicyRule[], ...call: Parameters<typeof called>) => judgeCall([{ of: 'task', rules }], called(...call));
const verdict = (rules: PolicyRule[], args: ValueRecord) => judge(rules, 'pay', args).action;

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

describe('no rule is walked around by an argument', () => {
  const denied = (when: PolicyRule['when'], args: ValueRecord) => verdict([{ tool: 'pay', ...(when ? { when } : {}), action: 'deny' }], args);
  const otherwiseDenied: PolicyRule = { tool: '*', action: 'deny' };
  const allowed = (when: PolicyRule['when'], args: ValueRecord) => verdict([{ tool: 'pay', ...(when ? { when } : {}), action: 'allow' }, otherwiseDenied], args);
  test.each<[string, PolicyRule['when'], ValueRecord]>([
    ['that is in a map', { 'user.name': 'evil' }, { user: new Map([['name', 'evil']]) }],
    ['that is in a map under a key that reads alike', { 'user.1': 'evil' }, { user: new Map([[1, 'evil']]) as never }],
    ['beside a key with a dot in it', { 'user.name': 'evil' }, { 'user.name': 'good', user: { name: 'evil' } }],
    ['behind a key with a dot in it', { 'user.name': 'evil' }, { user: { name: 'good' }, 'user.name': 'evil' }],
    ['beside deeper keys with dots in them', { 'a.b.c': 'evil' }, { a: { 'b.c': 'evil', b: { c: 'good' } }, 'a.b': { c: 'good' } }],
    ['that is in a list', { to: 'evil' }, { to: ['evil'] }],
    ['that is in a set', { to: { in: ['evil', 'bad'] } }, { to: new Set(['evil']) }],
    ['of records in a list', { 'to.name': 'evil' }, { to: [{ name: 'evil' }] }],
    ['that is a number as a text', { id: 7 }, { id: '7' }],
    ['that is a text as a number', { id: { in: ['7', '8'] } }, { id: 7 }],
    ['that is a big integer', { id: 7 }, { id: 7n }],
    ['that is true as a text', { force: true }, { force: 'true' }],
    ['that is bytes', { name: 'evil' }, { name: new TextEncoder().encode('evil') }],
    ['that is a date', { at: { matches: '^2026' } }, { at: new Date('2026-01-01') }],
    ['of a name that every object has', { constructor: 'evil' }, { constructor: 'evil' }],
    ['of the name of a prototype', { ['__proto__.x']: 'evil' }, JSON.parse('{"__proto__": {"x": "evil"}}')],
  ])('%s', (_what, when, args) => expect(denied(when, args)).toBe('deny'));

  test.each<[PolicyRule['when'], ValueRecord]>([
    [{ to: { ne: 'evil' } }, { to: ['evil'] }],
    [{ to: { ne: 'evil' } }, { 'to.x': 1, to: new Set(['evil']) }],
    [{ 'user.name': 'good' }, { 'user.name': 'good', user: { name: 'evil' } }],
    [{ id: { ne: 7 } }, { id: '7' }],
    [{ 'to.length': 1 }, { to: ['evil'] }],
    [{ constructor: { exists: true } }, {}],
  ])('an allowance by %j does not hold for %o', (when, args) => expect(allowed(when, args)).toBe('deny'));

  test.each<[PolicyRule['when'], ValueRecord]>([
    [{ to: 'evil' }, { to: 'good' }],
    [{ to: 'evil' }, { to: null }],
    [{ to: 'evil' }, {}],
    [{ 'to.0': 'evil' }, { to: ['good', 'evil'] }],
    [{ 'user.name': 'evil' }, { user: { name: 'good' }, 'user.name': 'good' }],
    [{ 'user.name': 'evil' }, { user: null }],
    [{ id: 7 }, { id: 8n }],
    [{ to: null }, { to: 'x' }],
  ])('a denial by %j does not hold for %o', (when, args) => expect(denied(when, args)).toBe('allow'));
});

test('of one layer the first rule that fits decides', () => {
  const rules: PolicyRule[] = [
    { tool: 'crm.*', action: 'allow' },
    { tool: '*', action: 'deny' },
  ];
  expect(judge(rules, 'crm.find').action).toBe('allow');
  expect(judge(rules, 'pay')).toEqual({ action: 'deny', decidedBy: { of: 'task', number: 2, rule: rules[1] }, rates: [] });
  expect(judgeCall([], called('pay'), 'require_approval').action).toBe('require_approval');
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

test('of the words of all layers the strictest holds, and the tool itself is asked where there is none', () => {
  const one = (action: PolicyRule['action']): PolicyRule[] => [{ tool: 'pay', action } as PolicyRule];
  const of = (task: PolicyRule[], tenant: PolicyRule[], server: PolicyRule[]) => {
    const { action, decidedBy } = judgeCall(
      [
        { of: 'task', rules: task },
        { of: 'tenant', rules: tenant },
        { of: 'server', rules: server },
      ],
      called('pay'),
      'require_approval',
    );
    return `${action} by ${decidedBy?.of ?? 'tool'}`;
  };
  expect(of(one('allow'), one('allow'), one('deny'))).toBe('deny by server');
  expect(of(one('allow'), one('deny'), [])).toBe('deny by tenant');
  expect(of(one('deny'), one('allow'), one('allow'))).toBe('deny by task');
  expect(of(one('allow'), [], one('require_approval'))).toBe('require_approval by server');
  expect(of(one('allow'), [], [])).toBe('require_approval by tool');
  expect(of(one('allow'), one('allow'), [])).toBe('allow by task');
  expect(of([], one('allow'), [])).toBe('allow by tenant');
  expect(of([], [], [])).toBe('require_approval by tool');
});

test.each<[PolicyRule['calls'], number, boolean]>([
  [{ gte: 3 }, 2, false],
  [{ gte: 3 }, 3, true],
  [0, 0, true],
  [{ in: [1, 4] }, 4, true],
])('a rule by calls, %j, after %d calls', (calls, before, fits) => {
  expect(judge([{ tool: 'pay', calls: calls as never, action: 'deny' }], 'pay', {}, { calls: before }).action).toBe(fits ? 'deny' : 'allow');
});

test.each<[PolicyRule['time'], string, boolean]>([
  [{ from: '09:00', to: '17:00' }, '2026-03-02T09:00:00Z', true],
  [{ from: '09:00', to: '17:00' }, '2026-03-02T17:00:00Z', false],
  [{ from: '22:00', to: '06:00' }, '2026-03-02T05:59:00Z', true],
  [{ from: '22:00', to: '06:00', days: ['sun'] }, '2026-03-02T05:59:00Z', true], // a Monday
  [{ from: '22:00', to: '06:00', days: ['mon'] }, '2026-03-02T05:59:00Z', false],
  [{ from: '22:00', to: '06:00', days: ['mon'] }, '2026-03-02T22:00:00Z', true],
  [{ days: ['sat', 'sun'] }, '2026-03-01T23:59:00Z', true],
  [{ days: ['sat', 'sun'] }, '2026-03-02T00:00:00Z', false],
  [{ from: '09:00', to: '10:00', zone: 'Asia/Tokyo' }, '2026-03-02T00:30:00Z', true],
  [{ from: '00:00', to: '01:00', days: ['mon'], zone: 'America/New_York' }, '2026-03-02T05:30:00Z', true],
  [{ from: '00:00', to: '00:00' }, '2026-03-02T05:30:00Z', true],
  [{ after: '2026-03-02T05:30:00Z' }, '2026-03-02T05:30:00Z', true],
  [{ after: '2026-03-02T05:30:00+02:00', before: '2026-03-02T03:31:00Z' }, '2026-03-02T03:31:00Z', false],
])('a rule by time, %j, at %s', (time, at, fits) => {
  expect(judge([{ tool: 'pay', time: time as never, action: 'deny' }], 'pay', {}, { at }).action).toBe(fits ? 'deny' : 'allow');
});

test('rates stand beside what decides, in all layers, and hold for no call that is denied', () => {
  const rate = { calls: 2, windowMs: 1000 };
  const layers = (action: 'allow' | 'deny') => [
    {
      of: 'task' as const,
      rules: [
        { tool: '*', action: 'require_approval' as const },
        { tool: 'pay', action: 'rate_limit' as const, rate },
      ],
    },
    {
      of: 'server' as const,
      rules: [
        { tool: 'crm.*', action: 'rate_limit' as const, rate },
        { tool: 'p*', action: 'rate_limit' as const, rate },
        { tool: 'pay', action },
      ],
    },
  ];
  const { action, decidedBy, rates } = judgeCall(layers('allow'), called('pay'));
  expect([action, decidedBy?.of, decidedBy?.number, rates.map(({ of, number }) => `${of} ${number}`)]).toEqual(['require_approval', 'task', 1, ['task 2', 'server 2']]);
  expect(judgeCall(layers('deny'), called('pay')).rates).toEqual([]);
});

test('an explanation tells of each rule why it fits or not, with its number from 1', () => {
  const rules: PolicyRule[] = [
    { tool: 'crm.*', action: 'allow' },
    { tool: 'pay', when: { amount: { gt: 100 } }, action: 'deny' },
    { tool: 'pay', time: { from: '22:00', to: '06:00' }, action: 'deny' },
    { tool: 'pay', calls: { gte: 3 }, action: 'deny' },
    { tool: 'p*', when: { amount: { lte: 100 } }, action: 'require_approval', reason: 'money' },
  ];
  const { why, looked } = explainCall([{ of: 'server', rules }], called('pay', { amount: 'all' }, { calls: 1 }));
  expect(why).toBe('rule 2 of the server: it is for pay, amount is "all", which cannot be judged and holds the call back');
  const { why: milder, looked: all } = explainCall(
    [
      { of: 'task', rules: [{ tool: '*', action: 'allow' }] },
      { of: 'server', rules },
    ],
    called('pay', { amount: 5 }, { calls: 1 }),
  );
  expect(milder).toBe('rule 5 of the server: pay is p*, amount is 5; require_approval is stricter than allow of the task (money)');
  expect(looked).toHaveLength(5);
  expect(all.map(({ of, number, fits, why }) => `${of} ${number} ${fits}: ${why}`)).toEqual([
    'task 1 true: pay is *',
    'server 1 false: pay is not crm.*',
    'server 2 false: amount is 5, and not {"gt":100}',
    'server 3 false: it is mon 12:00 (UTC), which is outside {"from":"22:00","to":"06:00"}',
    'server 4 false: 1 calls before, and not {"gte":3}',
    'server 5 true: pay is p*, amount is 5',
  ]);
});

/** The rules of a call read one after the other, as the guide says it, and nothing clever. */
function plainly(layers: { of: 'task' | 'tenant' | 'server'; rules: PolicyRule[] }[], call: ReturnType<typeof called>, otherwise: 'allow' | 'require_approval') {
  const fitsPlainly = (rule: PolicyRule) => {
    const pattern = new RegExp(`^${rule.tool.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
    if (!pattern.test(call.tool)) return false;
    const amount = call.args.amount;
    const over = (rule.when?.amount as { gt: number } | undefined)?.gt;
    if (over !== undefined && typeof amount !== 'number' && rule.action === 'allow') return false;
    if (over !== undefined && typeof amount === 'number' && !(amount > over)) return false;
    const from = (rule.calls as { gte: number } | undefined)?.gte;
    if (from !== undefined && call.calls() < from) return false;
    const hour = new Date(call.now).getUTCHours();
    if (rule.time && !(hour >= Number(rule.time.from?.slice(0, 2)) && hour < Number(rule.time.to?.slice(0, 2)))) return false;
    return true;
  };
  const words = layers.map(({ of, rules }) => {
    const at = rules.findIndex((rule) => rule.action !== 'rate_limit' && fitsPlainly(rule));
    return at < 0 ? undefined : { of, number: at + 1, action: rules[at]?.action };
  });
  for (const action of ['deny', 'require_approval', 'allow']) {
    const word = words.find((one) => one?.action === action);
    if (!word || (action === 'allow' && otherwise !== 'allow' && words.every((one) => !one || one.of === 'task'))) continue;
    const rates = layers.flatMap(({ of, rules }) => rules.flatMap((rule, i) => (rule.action === 'rate_limit' && fitsPlainly(rule) ? [`${of} ${i + 1}`] : [])));
    return { ...word, rates: action === 'deny' ? [] : rates };
  }
  const rates = layers.flatMap(({ of, rules }) => rules.flatMap((rule, i) => (rule.action === 'rate_limit' && fitsPlainly(rule) ? [`${of} ${i + 1}`] : [])));
  return { action: otherwise, of: undefined, number: undefined, rates };
}

test('rules of three layers come to what they come to when they are read one after the other', () => {
  const rule = fc
    .record(
      {
        tool: fc.constantFrom('*', 'pay', 'pay.*', '*.send', 'crm.*', 'p*y'),
        action: fc.constantFrom('allow', 'deny', 'require_approval', 'rate_limit'),
        when: fc.record({ amount: fc.record({ gt: fc.integer({ min: 0, max: 4 }) }) }),
        calls: fc.record({ gte: fc.integer({ min: 0, max: 3 }) }),
        time: fc.tuple(fc.integer({ min: 0, max: 11 }), fc.integer({ min: 12, max: 23 })).map(([from, to]) => ({ from: `${String(from).padStart(2, '0')}:00`, to: `${to}:00` })),
      },
      { requiredKeys: ['tool', 'action'] },
    )
    .map((made) => (made.action === 'rate_limit' ? { ...made, rate: { calls: 1, windowMs: 1000 } } : made) as PolicyRule);
  const rules = fc.array(rule, { maxLength: 4 });
  const call = fc.record({
    tool: fc.constantFrom('pay', 'pay.send', 'crm.find'),
    amount: fc.constantFrom(0, 1, 3, 5, 'much', undefined),
    calls: fc.integer({ min: 0, max: 3 }),
    hour: fc.integer({ min: 0, max: 23 }),
  });
  fc.assert(
    fc.property(rules, rules, rules, call, fc.constantFrom('allow', 'require_approval'), (task, tenant, server, { tool, amount, calls, hour }, otherwise) => {
      const layers = [
        { of: 'task' as const, rules: task },
        { of: 'tenant' as const, rules: tenant },
        { of: 'server' as const, rules: server },
      ];
      const made = called(tool, { amount }, { calls, at: `2026-03-02T${String(hour).padStart(2, '0')}:15:00Z` });
      const { action, decidedBy, rates, looked } = explainCall(layers, made, otherwise as 'allow');
      const wanted = plainly(layers, made, otherwise as 'allow');
      expect({ action, of: decidedBy?.of, number: decidedBy?.number, rates: rates.map(({ of, number }) => `${of} ${number}`) }).toEqual(wanted);
      expect(looked).toHaveLength(task.length + tenant.length + server.length);
    }),
    { numRuns: 5000 },
  );
});

test('all rules together have the time of one judgement, and who has used it up is named', () => {
  const slow = (action: PolicyRule['action'], reason?: string): PolicyRule => ({ tool: 'p*', when: { note: { matches: '^(a+)+$' } }, action, ...(reason ? { reason } : {}) });
  const other: PolicyRule = { tool: 'other', action: 'deny' };
  const args = { note: `${'a'.repeat(40)}!` };
  const allowing = [other, ...Array.from({ length: 60 }, () => slow('allow'))];
  const reason = expect.stringMatching(/more than 250 ms .* rule 2 of the task, which is for p\*$/);
  expect(judge(allowing, 'pay', args)).toEqual({ action: 'deny', decidedBy: { of: 'task', number: 2, rule: allowing[1] }, rates: [], reason });
  expect(explainCall([{ of: 'task', rules: allowing }], called('pay', args))).toMatchObject({ action: 'deny', why: reason, looked: [] });
  expect(judge([slow('require_approval', 'held')], 'pay', args)).toMatchObject({ action: 'deny', reason: expect.stringContaining('rule 1') });
  expect(judge([slow('allow')], 'pay', { note: 'aaa' }).action).toBe('allow');
});

test('to explain a verdict, and to count earlier calls for a rate, takes no longer than to judge', async () => {
  const slow: PolicyRule = { tool: 'pay', when: { note: { matches: '^(a+)+$' } }, action: 'deny' };
  const note = `${'a'.repeat(40)}!`;
  const explained = explainCall([{ of: 'task', rules: [{ tool: '*', action: 'allow' }, slow] }], called('pay', { note }));
  expect(explained).toMatchObject({ action: 'allow', why: 'rule 1 of the task; to look at all of them takes more than 250 ms', looked: [] });
  const book = new PolicyBook({ store: documents() });
  await book.ready('acme');
  const rule: PolicyRule = { ...slow, action: 'rate_limit', rate: { calls: 2, windowMs: 1000 } };
  const rates = [{ of: 'task' as const, number: 1, rule }];
  const past = (notes: string[]) => () => notes.map((text) => ({ tool: 'pay', at: 0, args: () => ({ note: text }) }));
  expect(book.count('acme', rates, 1, past([note]))).toEqual({ tooSlow: rates[0] });
  expect(book.count('acme', rates, 1, past(['a', 'b', 'aa']))).toEqual({ refusedBy: rates[0], retryAfterMs: 999 });
  expect(book.count('acme', rates, 1, past(['a', 'b', 'c']))).toEqual({ keep: [] });
});

test('very many rules are judged to the last', () => {
  const rules: PolicyRule[] = Array.from({ length: 5000 }, (_, i) => ({ tool: `t${i}`, action: 'deny' }));
  expect(judge(rules, 't4999').decidedBy?.number).toBe(5000);
  expect(judge(rules, 'x')).toEqual({ action: 'allow', rates: [] });
});

test.each([
  [{ tool: 'pay', action: 'hold' }, 'rule 1.action'],
  [{ tool: 'pay', action: 'deny', when: { amount: { over: 5 } } }, 'rule 1.when.amount'],
  [{ tool: 'pay', action: 'deny', when: { note: { matches: '(' } } }, 'rule 1.when.note'],
  [{ tools: 'pay', action: 'deny' }, 'did you mean "tool"'],
  [{ tool: 'pay', action: 'rate_limit' }, 'rule 1: rate_limit needs a rate'],
  [{ tool: 'pay', action: 'deny', rate: { calls: 1, windowMs: 1 } }, 'rule 1: a rate goes with the action rate_limit'],
  [{ tool: 'pay', action: 'deny', time: { from: '9:00', to: '10:00' } }, 'rule 1.time.from'],
  [{ tool: 'pay', action: 'deny', time: { from: '09:00' } }, 'from and to go together'],
  [{ tool: 'pay', action: 'deny', time: { days: ['mon'], zone: 'Mars/Base' } }, 'rule 1.time.zone'],
  [{ tool: 'pay', action: 'deny', time: { after: 'tomorrow' } }, 'rule 1.time.after'],
  [{ tool: 'pay', action: 'deny', calls: { matches: '1' } }, 'rule 1.calls'],
])('a rule that cannot be understood is refused: %j', (rule, said) => {
  expect(() => checkRules([rule as never])).toThrow(said);
});

test('a task cannot limit the calls of other tasks', () => {
  const rules: PolicyRule[] = [{ tool: 'pay', action: 'rate_limit', rate: { calls: 1, windowMs: 1000, per: 'tenant' } }];
  expect(() => checkRules(rules, 'task')).toThrow('rule 1: a rate per tenant');
  checkRules(rules);
});
