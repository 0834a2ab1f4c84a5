/** The programs of the crash suite, and what each must come to whatever happens on the way. */

export interface Work {
  language: 'javascript' | 'python';
  code: string;
  output: unknown;
  stdout: string;
  /** Keys of the effects that it has, each once. */
  effects: string[];
  /** Keys of those that may happen more than once, because their tool says that this does no harm. */
  repeatable: string[];
}

type Maker = (id: string) => Work;

const effectsIn = (id: string, names: readonly string[]) => names.map((name) => `${id}.${name}`);

/** Every way on which a task can be stopped: calls in sequence and at once, waits, timers, computing, output. */
const MAKERS: readonly Maker[] = [
  (id) => ({
    language: 'javascript',
    code: `const seen = [];
for (const name of ['a', 'b', 'c']) {
  console.log(name);
  seen.push(await tools.effect({ key: '${id}.' + name, ms: 1 }));
}
return seen.length`,
    ...{ output: 3, stdout: 'a\nb\nc\n', effects: effectsIn(id, ['a', 'b', 'c']), repeatable: [] },
  }),
  (id) => ({
    language: 'javascript',
    code: `let sum = 0;
for (let i = 0; i < 400000; i++) sum += i % 7;
const paid = await tools.pay({ key: '${id}.p', ms: 1 });
for (let i = 0; i < 400000; i++) sum += i % 5;
console.log(paid);
return sum`,
    ...{ output: sumOf(400_000, 7) + sumOf(400_000, 5), stdout: `done ${id}.p\n`, effects: effectsIn(id, ['p']), repeatable: [] },
  }),
  (id) => ({
    language: 'javascript',
    code: `const names = ['x', 'y', 'z'];
const done = await Promise.all([...names.map((name) => tools.effect({ key: '${id}.' + name, ms: 3 })), tools.pay({ key: '${id}.w', ms: 2 }), tools.ask({ n: 4 }), tools.again({ key: '${id}.r', ms: 1 })]);
return done.length + done[4]`,
    ...{ output: 6 + 40, stdout: '', effects: effectsIn(id, ['x', 'y', 'z', 'w']), repeatable: effectsIn(id, ['r']) },
  }),
  (id) => ({
    language: 'javascript',
    code: `console.log('before');
await sleep(0.08);
await tools.again({ key: '${id}.t', ms: 1 });
await sleep(0.02);
const winner = await Promise.race([tools.ask({ n: 1 }), tools.effect({ key: '${id}.slow', ms: 40 }).then(() => 10)]);
console.log('after');
return typeof winner`,
    ...{ output: 'number', stdout: 'before\nafter\n', effects: effectsIn(id, ['slow']), repeatable: effectsIn(id, ['t']) },
  }),
  (id) => ({
    language: 'python',
    code: `from fermata import step
total = 0
for round in range(4):
    step(f'round {round}')
    for i in range(8000):
        total += i % 3
    print(round, total)
    tools.effect(key='${id}.' + str(round), ms=1)
try:
    tools.ask(n=-1)
except Exception as error:
    print(type(error).__name__)
total`,
    ...{
      output: 4 * sumOf(8_000, 3),
      stdout: `${[1, 2, 3, 4].map((round) => `${round - 1} ${round * sumOf(8_000, 3)}\n`).join('')}ToolError\n`,
      effects: effectsIn(id, ['0', '1', '2', '3']),
      repeatable: [],
    },
  }),
  // Holds so much that most of its checkpoints are increments.
  (id) => ({
    language: 'javascript',
    code: `const rows = Array.from({ length: 4000 }, (_, n) => ({ n, name: 'row ' + n }));
for (let round = 0; round < 4; round++) {
  await tools.effect({ key: '${id}.' + round, ms: 1 });
  for (const row of rows.slice(round * 50, round * 100)) row.name = 'changed';
  await sleep(0.03);
}
console.log(rows.filter(({ name }) => name === 'changed').length);
return rows.at(-1).name`,
    ...{ output: 'row 3999', stdout: '250\n', effects: effectsIn(id, ['0', '1', '2', '3']), repeatable: [] },
  }),
];

function sumOf(count: number, modulus: number): number {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += i % modulus;
  return sum;
}

/** The same for the same number. */
export function workOf(number: number, id: string): Work {
  return (MAKERS[number % MAKERS.length] as Maker)(id);
}
