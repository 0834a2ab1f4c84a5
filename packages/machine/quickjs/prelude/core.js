(function (natives, shared) {
  'use strict';
  shared.inspect = (v) => String(v);
  shared.prepare = (start) => start.code;
  shared.toolErrorPrototype = Error.prototype;
  globalThis.console = { log(...a) { natives.emitText(1, a.join(' ') + '\n'); } };
  Object.defineProperty(globalThis, 'tools', { value: new Proxy({}, { get: (t, k) => (a) => natives.call(k, a ?? {}) }) });
  globalThis.setTimeout = (f, ms, ...a) => natives.setTimer(f, ms, false, a);
});
