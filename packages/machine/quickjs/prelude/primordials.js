// What the prelude uses of JavaScript itself, taken before any user code runs: later changes to prototypes or globals
// change nothing here. `method(x, ...)` stands for `x.method(...)`.
(function (natives, shared) {
  'use strict';
  const uncurry = Function.prototype.bind.bind(Function.prototype.call);
  const { apply, ownKeys, getOwnPropertyDescriptor, getPrototypeOf, defineProperty } = Reflect;
  const A = Array.prototype;
  const S = String.prototype;

  shared.js = {
    apply,
    ownKeys,
    getOwnPropertyDescriptor,
    getPrototypeOf,
    defineProperty,
    setPrototypeOf: Reflect.setPrototypeOf,
    create: Object.create,
    isArray: Array.isArray,
    hasOwn: Object.hasOwn,
    keys: Object.keys,
    freeze: Object.freeze,
    push: uncurry(A.push),
    join: uncurry(A.join),
    sliceList: uncurry(A.slice),
    indexOfItem: uncurry(A.indexOf),
    sortList: uncurry(A.sort),
    mapList: uncurry(A.map),
    splice: uncurry(A.splice),
    includes: uncurry(S.includes),
    indexOf: uncurry(S.indexOf),
    slice: uncurry(S.slice),
    split: uncurry(S.split),
    repeat: uncurry(S.repeat),
    padStart: uncurry(S.padStart),
    padEnd: uncurry(S.padEnd),
    trim: uncurry(S.trim),
    startsWith: uncurry(S.startsWith),
    endsWith: uncurry(S.endsWith),
    toLowerCase: uncurry(S.toLowerCase),
    charCodeAt: uncurry(S.charCodeAt),
    codePointAt: uncurry(S.codePointAt),
    replace: uncurry(S.replace),
    normalize: uncurry(S.normalize),
    exec: uncurry(RegExp.prototype.exec),
    test: (pattern, text) => apply(regExpExec, pattern, [text]) !== null,
    regExpSource: uncurry(RegExp.prototype.toString),
    functionSource: uncurry(Function.prototype.toString),
    symbolText: uncurry(Symbol.prototype.toString),
    numberText: uncurry(Number.prototype.toString),
    bigintText: uncurry(BigInt.prototype.toString),
    toFixed: uncurry(Number.prototype.toFixed),
    toExponential: uncurry(Number.prototype.toExponential),
    toPrecision: uncurry(Number.prototype.toPrecision),
    dateTime: uncurry(Date.prototype.getTime),
    dateIso: uncurry(Date.prototype.toISOString),
    isNaN: Number.isNaN,
    isFinite: Number.isFinite,
    isInteger: Number.isInteger,
    Map,
    mapGet: uncurry(Map.prototype.get),
    mapSet: uncurry(Map.prototype.set),
    mapHas: uncurry(Map.prototype.has),
    Promise,
    promiseThen: uncurry(Promise.prototype.then),
    promiseResolve: Promise.resolve.bind(Promise),
    promiseReject: Promise.reject.bind(Promise),
    String,
    Number,
    Math: Object.assign({ __proto__: null }, Object.fromEntries(Object.getOwnPropertyNames(Math).map((name) => [name, Math[name]]))),
    Error,
    TypeError,
    RangeError,
    SyntaxError,
    Uint8Array,
    parseFloat,
    parseInt,
    Object,
    Date,
    Proxy,
    stringify: JSON.stringify,
  };
  const regExpExec = RegExp.prototype.exec;

  // Globals are not enumerable, as in browsers.
  shared.define = (target, name, value) => {
    defineProperty(target, name, { value, writable: true, configurable: true, enumerable: false });
  };
  shared.global = (name, value) => shared.define(globalThis, name, value);
  shared.tag = (constructor, name) => {
    defineProperty(constructor.prototype, Symbol.toStringTag, { value: name, configurable: true });
  };
})
