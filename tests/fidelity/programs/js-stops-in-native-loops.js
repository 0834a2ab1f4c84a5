// Stops inside the loops of the engine that are written in C, with and without user code that they call.
const out = [];
const spin = (n) => { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; };
const note = (name, value) => out.push(`${name}: ${value}`);
const hooked = (n) => ({ toString() { return `<${spin(n) & 7}>`; } });
note('join', [hooked(3), , null, [hooked(4), [hooked(2)]], 5].join(hooked(5)));
note('join holes', Array(50).join('ab').length);
note('locale', [hooked(2), 1].toLocaleString());
const trace = [];
const watched = (target) => new Proxy(target, {
  get: (t, k, r) => (trace.push(`g${String(k)}`), spin(3), Reflect.get(t, k, r)),
  set: (t, k, v, r) => (trace.push(`s${String(k)}`), spin(3), Reflect.set(t, k, v, r)),
  has: (t, k) => (trace.push(`h${String(k)}`), spin(2), k in t),
  deleteProperty: (t, k) => (trace.push(`d${String(k)}`), spin(2), delete t[k]),
});
note('reverse', JSON.stringify(Array.prototype.reverse.call(watched({ length: 7, 0: 'a', 2: 'c', 6: 'g' }))));
note('indexOf', Array.prototype.indexOf.call(watched([1, , 3, 4]), 4) + Array.prototype.lastIndexOf.call(watched([1, , 3]), 1));
note('includes', Array.prototype.includes.call(watched([1, , NaN]), NaN));
note('copyWithin', JSON.stringify(Array.prototype.copyWithin.call(watched({ length: 6, 3: 1, 5: 2 }), 0, 3)));
note('fill', JSON.stringify(Array.prototype.fill.call(watched({ length: 4 }), 7, 1)));
note('splice', JSON.stringify(Array.prototype.splice.call(watched({ length: 6, 0: 0, 1: 1, 4: 4 }), 1, 3, 'x')));
note('concat', JSON.stringify([].concat(watched([1, 2]), { length: 2, 1: 3, [Symbol.isConcatSpreadable]: true })));
note('sort', watched([5, 1, 4, , 2]).sort().join() + [30, 4, 200].sort().join() + new Float64Array([3, -0, 0, NaN, -1]).sort().join());
note('flat', JSON.stringify([[1, [2, [3]]], , [watched([4])]].flat(3)));
note('trace', trace.length);
note('shift', Array.prototype.shift.call({ length: 300, 0: 'first', 299: 'last' }));
note('json', JSON.stringify({ a: { toJSON(k) { return k + spin(5); } }, b: [new Date(0), hooked(1), 'q"\n\u0001\ud800'.repeat(20)], get c() { return spin(4); } }, (k, v) => (spin(2), v), 2));
note('parse', JSON.stringify(JSON.parse(`{"a":[1,2,{"b":null,"a":1,"a":2,"__proto__":3,"7":7}],"s":"${'\\u0041x'.repeat(40)}","n":-1.5e3,"d":[[[[]]]]}`, function (k, v) { spin(1); return v; })));
note('parse plain', Object.keys(JSON.parse('{"b":1,"a":{"__proto__":[]},"b":2,"1":1}')).join());
note('indexOf text', ['ab'.repeat(400) + 'c'].map((t) => [t.indexOf('ab'.repeat(100) + 'c'), t.lastIndexOf('b' + 'ab'.repeat(90)), t.includes('cc'), t.split('ba').length, t.replaceAll('ab', () => spin(1)).length, t.replace(/ab/g, '$&$&').length, t.toUpperCase().length, t.at(-1)]).join());
note('text', ['\u1e9b\u0323\u0344\uac01'.repeat(30).normalize('NFKC').length, '\u0344\u0315\u0300'.repeat(40).normalize('NFD').length, 'a\u0301'.localeCompare('\u00e1'), encodeURIComponent('\u20ac \ud83d\ude00'.repeat(40)).length, decodeURIComponent('%E2%82%AC'.repeat(40)).length, escape('\u1234x'.repeat(60)).length, unescape('%u1234%41'.repeat(60)).length, 'ß'.repeat(100).toUpperCase().length, ' '.repeat(300).trim().length, 'x'.padEnd(500, 'yz').length].join());
let rope = ''; for (let i = 0; i < 300; i++) rope = `${i}` + rope + 'y'; note('rope', rope.length + rope.charCodeAt(50) + rope.indexOf('99'));
const huge = 3n ** 900n, other = 7n ** 500n;
note('bigint', [huge * other % 1000007n, huge / other % 997n, (huge ** 3n).toString().length, BigInt('9'.repeat(700)) % 9973n, (huge << 777n >> 770n) % 1009n, huge.toString(36).length, (huge & other | 5n) % 101n, -huge < other, BigInt.asUintN(77, -huge)].join());
note('collections', [new Map([...Array(100).keys()].map((k) => [k, hooked(k & 3)])).size, new Set('abcabc'.repeat(20)).union(new Set('xyz')).size, Object.groupBy([1, 2, 3, 4], (x) => (spin(2), x & 1 ? 'odd' : 'even')).odd.join(), structuredClone({ a: [1, { b: new Map([[1, 'x']]) }] }).a[1].b.get(1)].join());
note('bytes', [btoa('abc'.repeat(50)).length, atob('YWJj'.repeat(50)).length, new TextEncoder().encode('\u20acx'.repeat(50)).length, new TextDecoder().decode(new Uint8Array(300).fill(65)).length, new Uint8Array(200).fill(7).indexOf(8), new Uint8Array(64).fill(3).join('').length, new Int16Array([3, 1, 2]).toReversed().join(), new Uint8Array(new ArrayBuffer(64).slice(8)).length].join());
note('apply', Math.max.apply(null, { length: 40, 7: 3, get 9() { return spin(3) & 1023; } }) + String.fromCharCode(...'hello'.split('').map((c) => c.charCodeAt(0))));
note('spread', [...(function* () { for (let i = 0; i < 20; i++) yield spin(i) & 1; })()].join('') + Array.from({ length: 30 }, (_, i) => spin(i) & 1).join(''));
console.log(out.join('\n'));
return out.length;
