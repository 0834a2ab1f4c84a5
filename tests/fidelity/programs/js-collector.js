// Cycles, weak references and finalizers while the collector runs.
const registry = new FinalizationRegistry((held) => seen.push(held));
const seen = [];
const weak = new WeakMap();
let refs = [];
for (let round = 0; round < 12; round++) {
  let chain = null;
  for (let i = 0; i < 60; i++) {
    const node = { i, chain, round, data: 'x'.repeat(i) };
    node.self = node;
    weak.set(node, { back: node });
    if (i % 20 === 0) {
      registry.register(node, `${round}:${i}`);
      refs.push(new WeakRef(node));
    }
    chain = node;
  }
  refs = refs.slice(-30);
  await null;
}
const alive = refs.filter((ref) => ref.deref() !== undefined).length;
await new Promise((resolve) => setTimeout(resolve, 10));
console.log(seen.length > 0, seen.length, alive);
return seen.slice(0, 5);
