// inspect(value): values as text in the manner of Node's util.inspect. Runs no getters, proxy traps or toString of the
// program, so that logging never has effects; only an object's own [nodejs.util.inspect.custom] is called.
(function (natives, shared) {
  'use strict';
  const { apply, ownKeys, getOwnPropertyDescriptor, getPrototypeOf, hasOwn, push, indexOfItem } = shared.js;
  const { includes, slice, startsWith, repeat, replace, test, numberText, bigintText, symbolText } = shared.js;
  const { regExpSource, functionSource, dateTime, dateIso, isNaN, String } = shared.js;
  const { quote, quoteLong, isPlainKey, layOut } = shared.inspectText;
  const { classOf, unbox, entriesOf, promiseState, proxyTarget } = natives;
  const custom = Symbol.for('nodejs.util.inspect.custom');
  const MAX_ITEMS = 100;
  // Kinds that are named anyhow, so that a subclass need not show its tag.
  const BUILT_IN = { __proto__: null, Map: 1, Set: 1, Promise: 1, WeakMap: 1, WeakSet: 1, ArrayBuffer: 1, SharedArrayBuffer: 1, DataView: 1 };
  const OBJECT = 0;
  const LIST = 1; // items, then other keys

  const own = (object, key) => {
    const property = getOwnPropertyDescriptor(object, key);
    return property && hasOwn(property, 'value') ? property.value : undefined;
  };
  const inherited = (object, key) => {
    for (let o = object; o; o = getPrototypeOf(o)) {
      if (classOf(o) === 'Proxy') return undefined;
      const property = getOwnPropertyDescriptor(o, key);
      if (property) return hasOwn(property, 'value') ? property.value : undefined;
    }
    return undefined;
  };

  function constructorName(object) {
    let first = true;
    for (let o = object; o && classOf(o) !== 'Proxy'; o = getPrototypeOf(o)) {
      const constructor = own(o, 'constructor');
      if (typeof constructor === 'function' && typeof own(constructor, 'name') === 'string' && own(constructor, 'name') !== '' && own(constructor, 'prototype') === o) {
        return own(constructor, 'name');
      }
      first = false;
    }
    return first ? '' : null;
  }

  function primitive(value, context) {
    switch (typeof value) {
      case 'string':
        return quoteLong(value, context);
      case 'number':
        return value === 0 && 1 / value < 0 ? '-0' : numberText(value);
      case 'bigint':
        return `${bigintText(value)}n`;
      case 'symbol':
        return symbolText(value);
      default:
        return String(value);
    }
  }

  function format(value, context, depth) {
    if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return primitive(value, context);
    let object = value;
    while (classOf(object) === 'Proxy') object = proxyTarget(object);
    if (object === null) return '<Revoked Proxy>';
    const method = inherited(object, custom);
    if (typeof method === 'function') {
      const shown = apply(method, value, [context.maxDepth - depth, { depth: context.maxDepth - depth }, inspect]);
      if (shown !== value) return typeof shown === 'string' ? replaceLines(shown, context) : format(shown, context, depth);
    }
    if (indexOfItem(context.seen, object) >= 0) {
      let index = indexOfItem(context.circular, object);
      if (index < 0) index = push(context.circular, object) - 1;
      return `[Circular *${index + 1}]`;
    }
    return formatObject(object, context, depth);
  }

  const replaceLines = (text, context) => replace(text, /\n/g, `\n${repeat(' ', context.indent)}`);

  function prefix(name, tag, fallback, size) {
    const shownSize = size === undefined ? '' : `(${size})`;
    const shownTag = tag && tag !== name ? ` [${tag}]` : '';
    return name === null ? `[${fallback}${shownSize}: null prototype]${shownTag} ` : `${name}${shownSize}${shownTag} `;
  }

  function formatObject(object, context, depth) {
    const kind = typeof object === 'function' ? 'Function' : classOf(object);
    const name = constructorName(object);
    let tag = inherited(object, Symbol.toStringTag);
    if (typeof tag !== 'string' || tag === name || (BUILT_IN[kind] && tag === kind) || getOwnPropertyDescriptor(object, Symbol.toStringTag)?.enumerable) tag = '';
    const shape = describe(object, kind, name, tag, context);
    const keys = visibleKeys(object, shape);
    if (shape.base !== '' && keys.length === 0 && !shape.items) return shape.base;
    if (keys.length === 0 && !shape.items) return `${shape.open}${shape.close}`;
    if (depth > context.maxDepth) return `[${name === null ? `${kind}: null prototype` : tag ? `${name} [${tag}]` : name || kind}]`;

    push(context.seen, object);
    context.currentDepth = depth;
    const output = shape.items ? shape.items(depth + 1) : [];
    for (let i = 0; i < keys.length; i++) push(output, property(object, keys[i], context, depth + 1, shape.type));
    context.seen.length--;

    let { base } = shape;
    const index = indexOfItem(context.circular, object);
    let { open } = shape;
    if (index >= 0) {
      const reference = `<ref *${index + 1}>`;
      if (base === '') open = `${reference} ${open}`;
      else base = `${reference} ${base}`;
    }
    return layOut(output, base, open, shape.close, shape.type === LIST ? object : undefined, context, depth);
  }

  function visibleKeys(object, shape) {
    const all = ownKeys(object);
    const keys = [];
    for (let i = 0; i < all.length; i++) {
      const key = all[i];
      if (shape.type === LIST && typeof key === 'string' && test(/^(0|[1-9][0-9]*)$/, key)) continue;
      if (shape.hide && indexOfItem(shape.hide, key) >= 0) continue;
      const { enumerable } = getOwnPropertyDescriptor(object, key) ?? {};
      if (enumerable || (shape.show && indexOfItem(shape.show, key) >= 0)) push(keys, key);
    }
    return keys;
  }

  function property(object, key, context, depth, type) {
    const found = getOwnPropertyDescriptor(object, key) ?? { value: undefined, enumerable: true };
    let shown;
    if (hasOwn(found, 'value')) {
      context.indent += 2;
      shown = format(found.value, context, depth);
      context.indent -= 2;
    } else if (found.get) {
      shown = found.set ? '[Getter/Setter]' : '[Getter]';
    } else {
      shown = found.set ? '[Setter]' : 'undefined';
    }
    if (typeof key === 'symbol') return `${symbolText(key)}: ${shown}`;
    if (!found.enumerable) return `[${key}]: ${shown}`;
    return `${isPlainKey(key) ? key : quote(key)}: ${shown}`;
  }

  // How an object of each kind begins and ends, and what stands in it before its keys.
  function describe(object, kind, name, tag, context) {
    const shape = { type: OBJECT, base: '', open: '{', close: '}', items: null };
    const named = (fallback, size) => prefix(name, tag, fallback, size);
    const isBytes = test(/^(?:Ui|I)nt(?:8|16|32)Array$|^Uint8ClampedArray$|^(?:Big(?:Ui|I)nt64|Float(?:16|32|64))Array$/, kind);
    if (kind === 'Array' || kind === 'Arguments' || isBytes) {
      const plain = kind === 'Array' && name === 'Array' && !tag;
      const length = isBytes ? typedLengthOf(object) : own(object, 'length');
      shape.type = LIST;
      shape.open = kind === 'Arguments' ? '[Arguments] [' : `${plain ? '' : prefix(name, isBytes ? '' : tag, kind, length)}[`;
      shape.close = ']';
      if (length > 0) shape.items = (depth) => listItems(object, length, isBytes, context, depth);
    } else if (kind === 'Map' || kind === 'Set') {
      const entries = entriesOf(object);
      const per = kind === 'Map' ? 2 : 1;
      shape.open = `${named(kind, entries.length / per)}{`;
      if (entries.length > 0) shape.items = (depth) => collectionItems(entries, per, context, depth);
    } else if (kind === 'Function') {
      shape.base = functionBase(object, name, tag);
    } else if (kind === 'RegExp') {
      shape.base = `${name === 'RegExp' ? '' : named('RegExp')}${regExpSource(object)}`;
    } else if (kind === 'Date') {
      const time = dateTime(object);
      shape.base = isNaN(time) ? 'Invalid Date' : dateIso(object);
    } else if (kind === 'Error' || kind === 'DOMException') {
      shape.base = errorBase(object, name, context);
      shape.hide = ['stack', 'message', ...(includes(shape.base, String(own(object, 'name'))) ? ['name'] : [])];
      shape.show = ['cause', 'errors'];
    } else if (kind === 'Promise') {
      shape.open = `${named('Promise')}{`;
      shape.items = (depth) => {
        const state = promiseState(object);
        return [state[0] === 0 ? '<pending>' : `${state[0] === 2 ? '<rejected> ' : ''}${nested(state[1], context, depth)}`];
      };
    } else if (kind === 'Map Iterator' || kind === 'Set Iterator') {
      shape.open = `[${kind}] {`;
    } else if (kind === 'WeakMap' || kind === 'WeakSet') {
      shape.open = `${named(kind)}{`;
      shape.items = () => ['<items unknown>'];
    } else if (kind === 'ArrayBuffer' || kind === 'SharedArrayBuffer') {
      shape.open = `${named(kind)}{`;
      shape.items = () => bufferItems(object);
    } else {
      const boxed = unbox(object);
      if (boxed !== undefined) {
        const shown = typeof boxed === 'string' ? quote(boxed) : primitive(boxed, context);
        shape.base = `[${kind}${name === kind || name === null ? '' : ` (${name})`}: ${shown}]`;
        if (typeof boxed === 'string') shape.type = LIST;
      } else if (name !== 'Object' || tag) {
        const shownName = name === '' || (name === 'Object' && kind !== 'Object' && !tag) ? kind : name;
        shape.open = `${prefix(shownName, tag, 'Object')}{`;
      }
    }
    return shape;
  }

  const typedLength = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), 'length').get;
  const typedLengthOf = (object) => apply(typedLength, object, []);
  const nested = (value, context, depth) => {
    context.indent += 2;
    const shown = format(value, context, depth);
    context.indent -= 2;
    return shown;
  };

  function listItems(list, length, isBytes, context, depth) {
    const output = [];
    let i = 0;
    for (; i < length && output.length < MAX_ITEMS; i++) {
      if (isBytes || hasOwn(list, i)) {
        push(output, isBytes ? primitive(list[i], context) : item(list, i, context, depth));
        continue;
      }
      let empty = 1;
      while (i + empty < length && !hasOwn(list, i + empty)) empty++;
      push(output, `<${empty} empty item${empty > 1 ? 's' : ''}>`);
      i += empty - 1;
    }
    if (i < length) push(output, more(length - i));
    return output;
  }
  const item = (list, index, context, depth) => {
    const found = getOwnPropertyDescriptor(list, index);
    return hasOwn(found, 'value') ? nested(found.value, context, depth) : found.get ? (found.set ? '[Getter/Setter]' : '[Getter]') : '[Setter]';
  };
  const more = (count) => `... ${count} more item${count > 1 ? 's' : ''}`;

  function collectionItems(entries, per, context, depth) {
    const output = [];
    let i = 0;
    for (; i < entries.length && output.length < MAX_ITEMS; i += per) {
      push(output, per === 1 ? nested(entries[i], context, depth) : `${nested(entries[i], context, depth)} => ${nested(entries[i + 1], context, depth)}`);
    }
    if (i < entries.length) push(output, more((entries.length - i) / per));
    return output;
  }

  function bufferItems(buffer) {
    const bytes = new Uint8Array(buffer);
    let text = '';
    const shown = bytes.length > 50 ? 50 : bytes.length;
    for (let i = 0; i < shown; i++) text += `${i ? ' ' : ''}${bytes[i] < 16 ? '0' : ''}${numberText(bytes[i], 16)}`;
    if (shown < bytes.length) text += ` ... ${bytes.length - shown} more byte${bytes.length - shown > 1 ? 's' : ''}`;
    return [`[Uint8Contents]: <${text}>`, `[byteLength]: ${bytes.length}`];
  }

  function functionBase(fn, name, tag) {
    const source = functionSource(fn);
    const own1 = own(fn, 'name');
    if (startsWith(source, 'class') && !startsWith(source, 'class_')) {
      const parent = getPrototypeOf(fn);
      const parentName = parent ? own(parent, 'name') : '';
      return `[class ${typeof own1 === 'string' && own1 ? own1 : '(anonymous)'}${parentName ? ` extends ${parentName}` : parent === null ? ' extends null' : ''}]`;
    }
    const kind = { AsyncFunction: 'AsyncFunction', GeneratorFunction: 'GeneratorFunction', AsyncGeneratorFunction: 'AsyncGeneratorFunction' }[tag || name] ?? 'Function';
    return `[${kind}${typeof own1 === 'string' && own1 ? `: ${own1}` : ' (anonymous)'}${name === null ? ' (null prototype)' : ''}]`;
  }

  function errorBase(error, name, context) {
    const shownName = inherited(error, 'name');
    const message = inherited(error, 'message');
    let stack = own(error, 'stack');
    if (typeof stack !== 'string' && classOf(error) === 'Error') stack = apply(stackGetter, error, []);
    if (typeof stack !== 'string' || stack === '') stack = typeof message === 'string' && message ? `${shownName}: ${message}` : String(shownName);
    // A class of its own that did not set `name` still shows it.
    if (name && name !== shownName && shownName === 'Error' && startsWith(stack, 'Error') && name !== 'Error') stack = name + slice(stack, 5);
    if (!includes(stack, '\n    at')) stack = `[${stack}]`;
    return replaceLines(stack, context);
  }
  const stackGetter = Object.getOwnPropertyDescriptor(Error.prototype, 'stack').get;

  const newContext = (options) => ({
    seen: [],
    circular: [],
    indent: 0,
    currentDepth: 0,
    maxDepth: options?.depth === null ? Infinity : (options?.depth ?? 2),
    breakLength: options?.breakLength ?? 80,
    compact: options?.compact ?? 3,
  });

  function inspect(value, options) {
    const context = newContext(options);
    return format(value, context, 0);
  }
  inspect.custom = custom;
  shared.inspect = inspect;
})
