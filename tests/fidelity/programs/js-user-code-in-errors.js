// User code that the engine calls where it cannot stop (Error.prepareStackTrace, the limit of a stack's length), or that
// release of memory sets off (FinalizationRegistry): a stop there has to wait, and nothing may be lost or done twice.
const out = [];
const spin = (n) => { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; };
let prepared = 0;
Error.prepareStackTrace = (error, sites) => { prepared++; return `${error.name}/${sites.length > 0}/${spin(40)}/${[3, 1, 2].sort((a, b) => a - b)}`; };
const fail = (n) => (n === 0 ? null.boom : fail(n - 1));
for (const f of [() => fail(3), () => { throw new TypeError('x'); }, () => [1].map(() => undefined.y), () => JSON.parse('{'), () => new Proxy({}, { get() { throw new RangeError('trap'); } }).z, () => new Function('return (')(), () => [2, 1].sort(() => { throw new Error('in sort'); }), () => 'a'.replace(/a/, () => absent)])
  try { f(); } catch (e) { out.push(e.stack); }
Error.prepareStackTrace = () => { throw new Error('hook fails'); };
try { fail(1); } catch (e) { out.push(`${e.name} ${typeof e.stack}`); }
Error.prepareStackTrace = (error) => { try { fail(2); } catch (inner) { return `nested ${inner.name} ${typeof inner.stack} ${error.message.length}`; } };
try { fail(1); } catch (e) { out.push(e.stack); }
Error.prepareStackTrace = () => { const deep = () => deep() + 1; try { deep(); } catch (e) { return `deep ${e.name}`; } };
try { fail(1); } catch (e) { out.push(e.stack); }
delete Error.prepareStackTrace;
for (const limit of [2, 0, { valueOf() { return spin(20) & 3; } }, -1, 'x']) { Error.stackTraceLimit = limit; try { fail(6); } catch (e) { out.push(String(e.stack).split('\n').length); } }
Error.stackTraceLimit = 10;
class Coded extends Error { constructor(m) { super(m); this.at = spin(12); } get name() { return `Coded${spin(3) & 3}`; } }
try { throw new Coded('own'); } catch (e) { out.push(String(e), e.stack.split('\n')[0]); }
const told = [];
const registry = new FinalizationRegistry((held) => { told.push(held + spin(15)); if (held < 3) registry.register({}, held + 10); });
for (let i = 0; i < 6; i++) { registry.register({ i }, i); const a = {}; a.self = a; registry.register(a, i + 100); }
const weak = new WeakRef({ gone: true });
for (let i = 0; i < 3000; i++) { const cycle = { i }; cycle.self = cycle; }
await null;
for (let i = 0; i < 20; i++) await spin(5);
out.push(told.length, weak.deref() === undefined, prepared);
const chain = await Promise.allSettled([1, 2].map(async (n) => { try { await tools.fail({ n }); } finally { spin(10); await null; } }));
out.push(chain.map((r) => r.reason.name + r.reason.message).join());
console.log(out.join('\n'));
return out.length;
