// Stops inside comparators, also nested ones and ones that throw.
const items = Array.from({ length: 60 }, (_, i) => ({ key: (i * 7919) % 61, inner: [3, 1, 2].map((x) => (x * i) % 5) }));
const seen = [];
items.sort((a, b) => {
  a.inner.sort((x, y) => x - y);
  let weight = 0;
  for (let i = 0; i < 5; i++) weight += i;
  seen.push(weight);
  return a.key - b.key || a.inner[0] - b.inner[0];
});
let caught = 0;
for (let i = 0; i < 5; i++) {
  try {
    [5, 4, 3, 2, 1].sort((a, b) => {
      if (a + b === 5 + i) throw new RangeError(`at ${i}`);
      return a - b;
    });
  } catch (error) {
    caught += error.message.length;
  }
}
console.log(items.map((item) => item.key).join(','), seen.length, caught);
return items.slice(0, 3);
