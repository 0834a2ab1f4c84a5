// Stops inside getters, setters, proxy traps and coercions that operators call.
const trace = [];
const spin = (n) => {
  let s = 0;
  for (let i = 0; i < n; i++) s = (s * 31 + i) | 0;
  return s;
};
const object = {
  get value() { return spin(30); },
  set value(v) { trace.push(v + spin(10)); },
  get [Symbol.toStringTag]() { return `Tag${spin(5) & 7}`; },
};
for (let i = 0; i < 10; i++) object.value = object.value + i;
const proxy = new Proxy({ a: 1, b: 2 }, {
  get: (target, key, receiver) => (spin(8), typeof key === 'symbol' ? Reflect.get(target, key, receiver) : (target[key] ?? key.length)),
  has: (target, key) => (spin(8), key in target),
  ownKeys: (target) => (spin(8), Reflect.ownKeys(target)),
  getOwnPropertyDescriptor: (target, key) => (spin(8), Reflect.getOwnPropertyDescriptor(target, key)),
  deleteProperty: (target, key) => (spin(8), delete target[key]),
});
trace.push(proxy.a, proxy.absent, 'b' in proxy, Object.keys(proxy).join(), JSON.stringify({ ...proxy }), delete proxy.a, Object.keys(proxy).length);
class Money {
  #cents;
  constructor(cents) { this.#cents = cents; }
  valueOf() { spin(6); return this.#cents; }
  toString() { spin(6); return `$${this.#cents / 100}`; }
  [Symbol.toPrimitive](hint) { return hint === 'string' ? this.toString() : this.valueOf(); }
}
const money = [5, 300, 20].map((c) => new Money(c));
trace.push(money[0] + money[1], `${money[2]}`, money[0] < money[1], Math.max(...money), String(object));
console.log(trace.join(' '));
return money.sort((a, b) => a - b).map(String);
