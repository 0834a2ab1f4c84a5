// Closures that outlive the frame they took variables from: arguments, locals, frames of generators and async functions,
// left in every way, each often enough that the collector comes in between. A function that ends with a call as its last
// statement returns with that call's value still on a full stack.
const out = [];
const cycles = (make, rounds = 400) => { let kept; for (let i = 0; i < rounds; i++) kept = make(i); return kept; };
let budget = 0;
const attempt = (name, f) => { budget = 12; try { out.push(`${name} ${String(f())}`); } catch (e) { out.push(`${name} ${e.name}: ${e.message}`); } };
const later = []; // functions whose frames are gone, called in the end
const keep = (f) => { if (budget-- > 0) later.push(f); return f; };

attempt('promise', () => { const mk = (n) => new Promise((r) => { const st = () => { r(n); return st; }; st(); }); return cycles(() => mk(3), 5000); });
attempt('plain', () => cycles((i) => { const mk = (n) => { const st = () => { keep(() => n); return st; }; st(); }; mk(i); return i; }, 1000));
attempt('from C', () => [1, 2, 3].map((v, i, all) => { const again = () => (all.length > 9 ? again : v + i); keep(again); return again(); }));
attempt('no locals', () => { const hold = (a, b) => { keep(() => [a, b]); }; cycles((i) => hold(i)); return later.at(-1)(); });
attempt('one', () => { const hold = (a) => { keep(() => a++); }; return cycles(hold); });
attempt('fewer arguments', () => cycles((i) => { const f = (a, b, c) => { const g = () => [a, b, c, g === keep(g)]; b ??= i; c = a; g(); }; f(i); f(); f(1, 2, 3, 4); [5].forEach(f); return i; }));
attempt('defaults and rest', () => cycles((i) => { let got; const f = (a, b = () => a, ...rest) => { const self = () => { got = [a, b(), rest.length, typeof self].join(); }; self(); }; f(i); f(i, undefined, 1, 2); [7].forEach(f.bind(null, i, undefined)); return got; }));
attempt('mapped arguments', () => {
  const f = new Function('keep', 'a', 'b', `var all = arguments, self = function () { a = b + 1; all[2] = 9; return self; }; keep(function () { return [a, b, all[1], all[2], all.length].join(); }); self();`);
  const last = []; cycles((i) => { f((g) => { last[0] = keep(g); }, i, i + 1); f((g) => { last[1] = g; }, i); f.call(null, (g) => { last[2] = g; }, 1, 2, 3, 4); });
  return last.map((g) => g()).join(';');
});
attempt('arguments in strict mode', () => cycles((i) => { let r; (function (a) { 'use strict'; const self = () => { r = [arguments.length, arguments[0], a, typeof self]; a = 0; }; self(); self(); })(i, 2); return r; }));
attempt('this and new.target', () => { class A { constructor(a, b) { const self = () => [this === keep(this.f), new.target.name, a, b, typeof self].join(); this.f = self; self(); } } class B extends A { constructor(...v) { const f = () => this; super(...v); this.g = f; keep(f); } } return cycles((i) => new B(i)).f() + cycles((i) => Reflect.construct(A, [i], B)).f(); });
attempt('blocks', () => cycles((i) => { const f = (n) => { for (let k = 0; k < 3; k++) { const self = () => [k, n, self]; keep(self); if (k === n % 3) { let inner = k; keep(() => inner + n); void self(); } } { let x = n; const g = () => { x++; return g; }; g()(); } }; f(i); return i; }));
attempt('tail', () => cycles((i) => { const f = (n, acc) => { const self = () => n + acc(); return n ? f(n - 1, self) : self(); }; return f(9, () => i); }));
attempt('empty return', () => cycles((i) => { const f = (n) => { const self = () => { keep(() => n); return self; }; for (const k of [1, 2]) { for (const p in { a: 1, b: 2 }) { try { self(); if (k === 2 && p === 'b') return; } finally { self(); } } } self(); }; return f(i); }));
attempt('eval', () => cycles((i) => new Function('n', `var self = () => [n, typeof self]; { let q = n; eval('var e = () => [n, q, self]; q++; e()'); } return e()[0] + e()[1];`)(i), 60));
attempt('setters and conversions', () => { let seen; const o = { set x(v) { const self = () => { seen = v; return self; }; self(); }, get x() { const self = () => seen; keep(self); return self(); }, valueOf() { const v = seen, self = () => [v, self]; self(); return self()[0]; } }; return cycles((i) => { o.x = i; return o.x + o * 2; }); });
attempt('sort', () => [5, 3, 9, 1, 7].sort((a, b) => { const d = () => a - b + (d === null ? 1 : 0); keep(d); return d(); }));

attempt('thrown', () => cycles((i) => {
  const f = (a, b) => { const self = () => { if (a % 2) throw new RangeError(`no ${a} ${b}`); keep(() => [a, b, self]); return self; }; self(); };
  const g = (a, b) => { const self = () => [a, b, self]; keep(self); null.x; };
  const h = (a) => { let state = 'new'; const self = () => { state += a; return self; }; try { self(); f(1, a); } catch (e) { self(); state += e.message; } finally { self(); keep(() => state); } };
  let r = ''; for (const t of [() => f(i), () => [i].forEach(g), () => h(i), () => new Promise(g) && 0, () => JSON.parse('[1,2]', (k, v) => g(k, v))]) { try { t(); } catch (e) { r = e.message; } } return r;
}));
attempt('too deep', () => { const down = (n) => { const self = () => down(n + 1) + (self ? 1 : n); self(); }; down(0); });

function* gen(a, b) { const self = () => { a++; return [a, b, self]; }; keep(self); try { for (let k = 0; k < 3; k++) { const each = () => [k, a, each]; keep(each); yield each; self(); } } finally { b = () => self; self(); } }
attempt('generators', () => cycles((i) => { const g = gen(i); g.next(); g.next(); const h = gen(i, 1); h.next(); h.return(2); const t = gen(i); try { t.next(); t.throw(new Error('x')); } catch {} gen(1); return [...gen(i, g)].map((f) => f()[1]).join(); }, 150));
attempt('generator in itself', () => cycles((i) => { const g = (function* (n) { const self = () => [g, n, self]; yield self; yield self; })(i); return g.next().value()[1]; }));

const sleeper = (n) => new Promise((r) => { let i = 0; const st = () => { if (++i >= n) r(n); else Promise.resolve().then(st); }; st(); });
const worker = async (id, other) => { let s = id; const self = () => { s++; return [other, self]; }; keep(self); try { for (let k = 0; k < 3; k++) { const each = () => s + k; s += await sleeper(2); keep(each); self(); } if (id % 2) throw new Error(`w${id}`); return s; } finally { s = -1; self(); } };
budget = 12;
out.push((await Promise.allSettled(Array.from({ length: 60 }, (_, i) => worker(i)))).slice(0, 4).map((r) => r.value ?? r.reason.message).join());
async function* source(n) { let z = 0; const self = () => { z++; return self; }; for (let k = 0; k < n; k++) { self(); await sleeper(3); yield z + k; } }
let sum = 0;
for (let i = 0; i < 12; i++) for await (const v of source(4)) { sum += v; if (v > 6) break; const seen = () => [v, seen]; seen(); }
out.push(sum);
budget = 12;
for (let i = 0; i < 40; i++) { const never = (async (n) => { const self = () => [n, never, self]; keep(self); await new Promise(() => {}); self(); })(i); }
await tools.add({ a: 1, b: 2 });
attempt('at last', () => later.map((f) => { try { const v = f(); return Array.isArray(v) ? v.length : typeof v; } catch (e) { return e.name; } }).join(' '));
console.log(out.join('\n'));
return out.length;
