// Stops and exceptions where one loop of the interpreter hands over to the other: every kind of instruction that the
// fast loop may have to give back, generators and async functions in between, try and finally around them.
const out = [];
const spin = (n) => { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; };
const attempt = (name, f) => { try { out.push(`${name}=${String(f())}`); } catch (e) { out.push(`${name}!${e.name}`); } };

attempt('overflow', () => { let a = 2147483640; for (let i = 0; i < 20; i++) a++; let b = -2147483640; for (let i = 0; i < 20; i++) b--; return [a, b, a * b, -0 * 5, 1 / (-1 * 0), 7 % -0, -7 % 7, 2 ** 0.5, 5.5 % 2, 1 << 33, -1 >>> 0, ~3.7, 3.9 | 0, -(-2147483648)].map((x) => Object.is(x, -0) ? '-0' : x); });
attempt('mixed', () => { const o = { valueOf() { return spin(9) & 15; }, toString() { return 'o' + spin(4); } }; return [o + 1, 1 + o, `${o}`, o * 2, o < 3, o == 7, 'a' + 1.5, 1 + 'b', true + 1, null + 1, undefined + 1, [] + {}, 1n + 2n, 3n * 4n, '5' * '6', +'7', -'8', '10' > '9', 10 > '9', null == undefined, NaN == NaN, 'x' === 'x', 1n == 1].join(' '); });
for (const bad of [() => null.x, () => undefined.x(), () => { x; let x = 1; }, () => { const c = 1; c = 2; }, () => absent, () => ({}).f(), () => 1n + 1, () => Symbol() + '', () => new (class { constructor() { this.a(); } })(), () => [].reduce((a) => a), () => 'a'.repeat(-1), () => BigInt(1.5), () => { class A { #p; static t(o) { return o.#p; } } A.t({}); }, () => { 'use strict'; Object.freeze([1])[0] = 2; }, () => { 'use strict'; undeclared = 1; }, () => new Array(-1), () => { throw { name: 'Own' }; }]) attempt('bad', bad);

attempt('finally', () => {
  const log = [];
  const f = (how) => { for (const k of [1, 2, 3]) { try { spin(5); if (how === k) return `r${k}`; if (how === k + 10) throw new Error(`t${k}`); if (how === k + 20) continue; log.push(k); } catch (e) { log.push(e.message); if (how === 12) break; } finally { log.push(`f${spin(3) & 3}`); if (how === 13) return 'over'; } } return 'end'; };
  return [0, 1, 2, 3, 11, 12, 13, 21, 22].map(f).concat(log).join('');
});

attempt('accessors', () => {
  class Base { #n = 1; get n() { return this.#n + spin(4); } set n(v) { spin(3); this.#n = v; } static make() { return new this(); } bump() { this.#n++; return super.toString(); } }
  class Derived extends Base { constructor() { super(); this.extra = [1, , 3]; this.late = 2; } get [Symbol.toStringTag]() { spin(2); return 'D'; } bump() { this.n += 2; return super.bump() + this.n; } }
  const d = Derived.make();
  const inherited = Object.create({ set hook(v) { this.kept = v + spin(2); }, get hook() { return this.kept; } });
  inherited.hook = 5;
  const locked = Object.create(Object.freeze({ fixed: 1 }));
  locked.fixed = 2;
  return [d.bump(), d.extra[1], d.extra[2], d.extra.length, inherited.hook, Object.keys(inherited), locked.fixed, 'abc'[1], 'abc'.length, 'abc'[9], (5).toFixed(1), [10, 20]['1'], { 7: 'seven' }[7], { [Symbol.for('s')]: 4 }[Symbol.for('s')]].join();
});

attempt('arrays', () => {
  const a = [1, 2, 3], seen = [];
  for (const v of a) { seen.push(v); if (a.length < 8) a.push(v * 2); }
  const holes = [, 1, , 2]; for (const v of holes) seen.push(v ?? 'hole');
  Object.defineProperty(a, 3, { get: () => spin(6) }); for (const v of a) seen.push(v);
  const end = []; end[0] = 1; end[1] = 2; Object.defineProperty(end, 'length', { writable: false }); end[2] = 3;
  const bytes = new Uint8Array(4), clamped = new Uint8ClampedArray(2), floats = new Float32Array(2), big = new BigInt64Array(1);
  bytes[0] = 300; bytes[1] = -1; bytes[2] = 2.9; bytes[9] = 1; clamped[0] = 300; clamped[1] = 1.5; floats[0] = 0.1; big[0] = 5n; try { big[0] = 1; } catch (e) { seen.push(e.name); }
  const iterator = [1, 2][Symbol.iterator](); iterator.next(); seen.push(...iterator);
  for (const [k, v] of Object.entries({ p: 1, q: 2 })) seen.push(k + v);
  const args = (function () { arguments[0] = 9; let s = 0; for (const x of arguments) s += x; return s + arguments.length; })(1, 2, 3);
  return seen.concat([...bytes], [...clamped], floats[0], String(big[0]), end.length, args).join();
});

attempt('sloppy', () => new Function('spin', `var v = 1; with ({ get v() { return spin(7) & 7; }, w: 2 }) { v; w += 1; var r = v + w; } eval('var e = r + v; function g(n) { return n < 2 ? n : g(n - 1) + g(n - 2) }'); return [r, e, g(9), typeof missing, delete this.zzz, this === globalThis].join();`)(spin));
attempt('tail', () => { const even = (n) => n === 0 ? 'even' : odd(n - 1), odd = (n) => n === 0 ? 'odd' : even(n - 1); return even(50) + Math.max(1, 2) + Math.sqrt(16) + Math.hypot(3, 4) + Math.atan2(1, { valueOf: () => spin(3) }); });
attempt('closures', () => { const fs = []; for (let i = 0; i < 5; i++) fs.push(() => i++ + spin(i)); fs[0](); return fs.map((f) => f()).join() + ((a, b = () => a, ...c) => { a = 5; return b() + c.length; })(1, undefined, 2, 3); });
attempt('switch', () => { let s = ''; outer: for (let i = 0; i < 6; i++) { switch (i) { case 1: s += 'one'; case 2: s += 'two'; break; case 4: continue outer; default: s += i; } do { s += '.'; if (s.length > 20) break outer; } while (s.length % 3); } return s; });

function* walk(n) { try { for (let i = 0; i < n; i++) { const got = yield [i, spin(i)]; if (got) yield got; } } finally { yield 'closing'; } }
attempt('generators', () => { const g = walk(4), r = [g.next(), g.next('in'), g.next(), g.return(7), g.next()]; function* all() { const x = yield* walk(2); return x; } return JSON.stringify(r) + JSON.stringify([...all()]); });
const sleepless = async (n) => { await null; if (n % 3 === 0) throw new RangeError(`no ${n}`); return n + spin(n); };
const settled = await Promise.allSettled([1, 2, 3, 4].map(sleepless));
async function* source() { for (let i = 0; i < 4; i++) { try { yield await sleepless(i + 1); } catch (e) { yield e.message; } } }
for await (const v of source()) out.push(v);
out.push(settled.map((r) => r.value ?? r.reason.message).join('|'), (await tools.add({ a: spin(3), b: 1 })) - spin(3));
console.log(out.join('\n'));
return out.length;
