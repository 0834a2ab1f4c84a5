// Typed arrays, views over one buffer, callbacks in their methods, and structured clones.
const buffer = new ArrayBuffer(4096);
const words = new Uint32Array(buffer);
for (let i = 0; i < words.length; i++) words[i] = (i * 2654435761) >>> 0;
const floats = new Float64Array(buffer, 64, 100).map((v, i) => (Number.isFinite(v) ? Math.abs(v) % 1 : i));
words.subarray(100, 200).sort((a, b) => b - a);
const view = new DataView(buffer);
view.setBigInt64(8, -5n, true);
view.setFloat32(16, 1.5);
const copy = structuredClone({ words: words.slice(98, 103), map: new Map([[1, new Set(['x'])]]), date: new Date(5) });
const hash = words.reduce((h, w) => Math.imul(h ^ w, 16777619), 2166136261);
console.log(hash, view.getBigInt64(8, true), view.getFloat32(16), copy.words.join(), [...copy.map.get(1)], copy.date.getTime(), floats.length);
return new Uint8Array(buffer, 0, 24);
