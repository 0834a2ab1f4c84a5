// The deepest recursion there is, plain and through every kind of callback, each ended by a RangeError that is caught.
const dive = {
  plain: (d) => dive.plain(d + 1) + 1,
  sort: (d) => [2, 1].sort((a, b) => dive.sort(d + 1) || a - b),
  getter: (d) => ({ get x() { return dive.getter(d + 1); } }).x,
  json: (d) => JSON.stringify({ toJSON: () => dive.json(d + 1) }),
  replace: (d) => 'a'.replace(/a/, () => dive.replace(d + 1)),
  proxy: (d) => new Proxy({}, { get: () => dive.proxy(d + 1) }).x,
  construct: (d) => Reflect.construct(class { constructor() { dive.construct(d + 1); } }, []),
  spread: (d) => [...(function* () { yield dive.spread(d + 1); })()],
};
const ends = {};
for (const [kind, go] of Object.entries(dive)) {
  try {
    go(0);
  } catch (error) {
    ends[kind] = error.name;
  }
}
let depth = 0;
const measured = (d) => (depth = d, d < 400 ? measured(d + 1) + 1 : 0);
console.log(JSON.stringify(ends), measured(0), depth);
return ends;
