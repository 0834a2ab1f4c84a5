// structuredClone: a deep copy of data, cycles and shared parts included; functions and symbols are refused.
(function (natives, shared) {
  'use strict';
  const { Map, mapGet, mapSet, mapHas, keys, hasOwn, Date, dateTime, String, defineProperty } = shared.js;
  const { classOf, unbox, entriesOf } = natives;
  const errors = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError, AggregateError, Error, __proto__: null };

  const setAdd = Function.prototype.call.bind(Set.prototype.add);
  const sliceBuffer = Function.prototype.call.bind(ArrayBuffer.prototype.slice);
  const views = { DataView, __proto__: null };
  for (const name of ['Int8', 'Uint8', 'Uint8Clamped', 'Int16', 'Uint16', 'Int32', 'Uint32', 'BigInt64', 'BigUint64', 'Float16', 'Float32', 'Float64']) {
    if (globalThis[`${name}Array`]) views[`${name}Array`] = globalThis[`${name}Array`];
  }

  const refuse = (what) => {
    throw new DOMException(`${what} could not be cloned.`, 'DataCloneError');
  };

  function clone(value, seen) {
    if (typeof value === 'function') refuse(shared.inspect(value));
    if (typeof value === 'symbol') refuse(String(value));
    if (value === null || typeof value !== 'object') return value;
    if (mapHas(seen, value)) return mapGet(seen, value);
    const kind = classOf(value);
    const boxed = unbox(value);
    if (boxed !== undefined) return remember(seen, value, Object(boxed));
    switch (kind) {
      case 'Date':
        return remember(seen, value, new Date(dateTime(value)));
      case 'RegExp':
        return remember(seen, value, new RegExp(value.source, value.flags));
      case 'ArrayBuffer':
        return remember(seen, value, sliceBuffer(value, 0));
      case 'Array':
        return copyKeys(value, remember(seen, value, new Array(value.length)), seen);
      case 'Map':
      case 'Set':
        return copyEntries(value, kind, seen);
      case 'Error':
        return copyError(value, seen);
      case 'Object':
      case 'Arguments':
        return copyKeys(value, remember(seen, value, {}), seen);
      default:
        if (views[kind]) return copyView(value, views[kind], seen);
        return refuse(`#<${kind}>`);
    }
  }
  const remember = (seen, from, to) => {
    mapSet(seen, from, to);
    return to;
  };
  function copyKeys(from, to, seen) {
    const names = keys(from);
    for (let i = 0; i < names.length; i++) {
      defineProperty(to, names[i], { value: clone(from[names[i]], seen), writable: true, enumerable: true, configurable: true });
    }
    return to;
  }
  function copyEntries(from, kind, seen) {
    const to = remember(seen, from, kind === 'Map' ? new Map() : new Set());
    const entries = entriesOf(from);
    for (let i = 0; i < entries.length; i += kind === 'Map' ? 2 : 1) {
      if (kind === 'Map') mapSet(to, clone(entries[i], seen), clone(entries[i + 1], seen));
      else setAdd(to, clone(entries[i], seen));
    }
    return to;
  }
  function copyError(from, seen) {
    const Kind = errors[String(from.name)] ?? Error;
    const to = remember(seen, from, Kind === AggregateError ? new Kind([], String(from.message)) : new Kind(String(from.message)));
    shared.define(to, 'stack', String(from.stack));
    if (hasOwn(from, 'cause')) shared.define(to, 'cause', clone(from.cause, seen));
    return to;
  }
  function copyView(from, View, seen) {
    const buffer = clone(from.buffer, seen);
    return remember(seen, from, new View(buffer, from.byteOffset, View === DataView ? from.byteLength : from.length));
  }

  shared.global('structuredClone', (value, options) => {
    const result = clone(value, new Map());
    const moved = options?.transfer ?? [];
    for (let i = 0; i < moved.length; i++) if (classOf(moved[i]) === 'ArrayBuffer') moved[i].transfer();
    return result;
  });
})
