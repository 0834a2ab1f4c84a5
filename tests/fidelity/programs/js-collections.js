// Maps and sets changed while they are walked, iterator closing, labels, destructuring with defaults that run code.
const map = new Map(Array.from({ length: 20 }, (_, i) => [i % 2 ? `k${i}` : i, i]));
const visited = [];
for (const [key, value] of map) {
  visited.push(value);
  if (value < 30 && value % 3 === 0) map.set(`new${value}`, value + 40);
  if (value % 4 === 0) map.delete(key);
}
const set = new Set([1, 2, 3]);
set.forEach((value) => value < 60 && set.add(value * 3));
const closed = [];
const closing = (name) => ({ [Symbol.iterator]: () => ({ next: () => ({ value: name, done: false }), return: () => (closed.push(name), {}) }) });
const [one, two = one + '!'] = closing('pair');
outer: for (let i = 0; i < 5; i++) {
  for (const value of closing(`loop${i}`)) {
    if (i < 3) continue outer;
    break outer;
  }
  void value;
}
const { a = visited.length, ...rest } = { b: 1, c: [2, 3], get d() { return closed.length; } };
const grouped = Object.groupBy(visited, (v) => (v > 20 ? 'big' : v % 2 ? 'odd' : 'even'));
console.log(visited.join(), [...set].join(), closed.join(), one, two, a, JSON.stringify(rest), Object.keys(grouped).sort());
return new Map([['set', set], ['sorted', visited.toSorted((x, y) => y - x).slice(0, 3)]]);
