// Promise chains, async iterators, timers, tools that answer while others are awaited, and races.
const log = [];
async function* ticker(name, n) {
  try {
    for (let i = 0; i < n; i++) {
      await null;
      yield `${name}${i}`;
    }
  } finally {
    log.push(`${name} closed`);
  }
}
async function drain(name, n, stopAt) {
  const got = [];
  for await (const value of ticker(name, n)) {
    got.push(value);
    if (got.length === stopAt) break;
  }
  return got.join('');
}
const all = await Promise.all([drain('a', 8, 5), drain('b', 4, 9), tools.add({ a: 1, b: 2 }), tools.echo({ x: [1, { y: null }] })]);
const settled = await Promise.allSettled([tools.fail({ why: 'settled' }), Promise.reject(new RangeError('r')), 3]);
const any = await Promise.any([tools.fail({ n: 1 }), tools.add({ a: 20, b: 2 })]);
const race = await Promise.race([new Promise((resolve) => setTimeout(resolve, 400, 'timer')), tools.echo({ who: 'tool' })]);
const order = [];
setTimeout(() => order.push('late'), 30);
setTimeout(() => order.push('soon'), 1);
queueMicrotask(() => order.push('micro'));
await new Promise((resolve) => setTimeout(resolve, 50));
let caught = '';
try {
  await tools.group.twice({ n: 1 }).then(([a]) => tools.fail(a));
} catch (error) {
  caught = `${error.name} ${error.message} ${JSON.stringify(error.data)}`;
} finally {
  log.push('finally');
}
console.log(JSON.stringify(all), settled.map((s) => s.status).join(), any, JSON.stringify(race), order.join(), caught, log.join());
return settled[1].reason.message;
