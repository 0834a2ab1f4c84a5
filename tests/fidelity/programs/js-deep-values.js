// Values nested deeper than the engine's own recursion goes: a clean error at every place, with stops on the way down,
// at the bottom and on the way up.
const out = [];
const nested = (wrap, depth) => { let v = null; for (let i = 0; i < depth; i++) v = wrap(v); return v; };
const arrays = nested((v) => [v], 18000), objects = nested((o) => ({ o }), 18000);
const attempt = (name, f) => { try { out.push(`${name} ${String(f()).length}`); } catch (e) { out.push(`${name} ${e.name}: ${e.message}`); } };
attempt('stringify arrays', () => JSON.stringify(arrays));
attempt('stringify objects', () => JSON.stringify(objects));
attempt('stringify with a replacer', () => JSON.stringify(objects, (k, v) => v));
attempt('parse', () => JSON.parse('['.repeat(18000) + ']'.repeat(18000)));
attempt('parse objects', () => JSON.parse('{"a":'.repeat(18000) + '1' + '}'.repeat(18000)));
attempt('revive', () => JSON.parse('['.repeat(3000) + ']'.repeat(3000), (k, v) => v).length);
attempt('flat', () => arrays.flat(Infinity));
attempt('join', () => arrays.join());
attempt('clone', () => structuredClone(arrays));
attempt('proxies', () => nested((t) => new Proxy(t ?? {}, {}), 18000).x);
attempt('bound', () => nested((f) => (f ?? (() => 1)).bind(null), 18000)());
attempt('getters', () => { const o = { get x() { return this.x + 1; } }; return o.x; });
attempt('sort', () => { const f = () => [2, 1].sort(f); return f(); });
attempt('to string', () => { const o = { toString() { return `${this}`; } }; return `${o}`; });
try { await tools.echo({ arrays }); } catch (e) { out.push(`tool ${e.name}`); }
console.log(out.join('\n'));
return out.length;
