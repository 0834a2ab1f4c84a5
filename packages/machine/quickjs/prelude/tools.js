// tools.<name>({...}), step, progress, checkpoint and ToolError. A call is the bridge's; here is only how it is written.
(function (natives, shared) {
  'use strict';
  const { push, join, split, isArray, hasOwn, create, sortList, sliceList, toLowerCase, Proxy, Math, Error, TypeError } = shared.js;
  const { promiseReject, promiseResolve, defineProperty, includes, isNaN, slice, replace } = shared.js;
  const { call, note, classOf } = natives;

  class ToolError extends Error {}
  shared.define(ToolError.prototype, 'name', 'ToolError');
  shared.global('ToolError', ToolError);
  shared.toolErrorPrototype = ToolError.prototype;

  const isRecord = (value) => {
    if (value === null || typeof value !== 'object') return false;
    const kind = classOf(value);
    return kind === 'Object' || (kind === 'Proxy' && !isArray(value));
  };

  // One record; or arguments by position where the tool says their names.
  function toRecord(name, parameters, args) {
    if (args.length === 0) return {};
    if (args.length === 1 && isRecord(args[0])) return args[0];
    if (!parameters) throw new TypeError(`tools.${name} takes one object with its arguments: await tools.${name}({ ... })`);
    let count = args.length;
    while (count > 0 && args[count - 1] === undefined) count--;
    if (count > parameters.length) {
      throw new TypeError(`tools.${name} takes ${parameters.length === 0 ? 'no arguments' : `{ ${join(parameters, ', ')} }`}, but ${count} were given`);
    }
    const record = create(null);
    for (let i = 0; i < count; i++) record[parameters[i]] = args[i];
    return record;
  }

  function makeTool(name, parameters) {
    const tool = (...args) => {
      try {
        return call(name, toRecord(name, parameters, args));
      } catch (error) {
        return promiseReject(error);
      }
    };
    defineProperty(tool, 'name', { value: name, configurable: true });
    return tool;
  }

  function distance(a, b) {
    let row = [];
    for (let j = 0; j <= b.length; j++) push(row, j);
    for (let i = 1; i <= a.length; i++) {
      const next = [i];
      for (let j = 1; j <= b.length; j++) push(next, Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)));
      row = next;
    }
    return row[b.length];
  }

  function unknownTool(name, names) {
    const wanted = toLowerCase(slice(name, 0, 60));
    const near = [];
    for (let i = 0; i < names.length; i++) {
      const candidate = toLowerCase(names[i]);
      const far = distance(wanted, slice(candidate, 0, 60));
      if (far <= Math.max(2, wanted.length / 3) || includes(candidate, wanted) || includes(wanted, candidate)) push(near, { name: names[i], far });
    }
    sortList(near, (a, b) => a.far - b.far);
    const shown = [];
    for (let i = 0; i < near.length && i < 3; i++) push(shown, `"${near[i].name}"`);
    const all = names.length === 0 ? 'This program has no tools.' : names.length <= 20 ? `Its tools: ${join(names, ', ')}.` : '';
    const error = new ToolError(`there is no tool "${name}".${shown.length ? ` Did you mean ${join(shown, ' or ')}?` : ''}${all ? ` ${all}` : ''}`);
    error.tool = name;
    error.toolErrorName = 'unknown_tool';
    return error;
  }

  // tools.no.such({}) must be an error that can be caught where the call stands, so an unknown name is callable too.
  function unknown(name, names) {
    const reject = () => promiseReject(unknownTool(name, names));
    return new Proxy(reject, { get: (target, key) => (typeof key === 'symbol' || quiet(key) ? target[key] : unknown(`${name}.${key}`, names)) });
  }
  // Names that JavaScript itself asks an object for.
  const quiet = (key) => key === 'then' || key === 'toJSON' || key === 'constructor' || key === 'prototype' || key === 'call' || key === 'apply' || key === 'bind' || key === 'name' || key === 'length';

  const space = (target, path, names) =>
    new Proxy(target, {
      get(object, key) {
        if (typeof key === 'symbol') return object[key];
        if (hasOwn(object, key)) return object[key];
        return quiet(key) || key in ObjectPrototype ? object[key] : unknown(path ? `${path}.${key}` : key, names);
      },
    });
  const ObjectPrototype = Object.prototype;

  // tools["a.b"] and tools.a.b are the same tool.
  function place(tree, name, tool, names) {
    tree.object[name] = tool;
    const parts = split(name, '.');
    let at = tree;
    for (let i = 0; i < parts.length - 1; i++) {
      const part = parts[i];
      if (!at.children[part]) {
        if (hasOwn(at.object, part)) return; // a tool stands where the namespace would be
        at.children[part] = { object: {}, children: create(null) };
        put(at.object, part, space(at.children[part].object, join(sliceList(parts, 0, i + 1), '.'), names));
      }
      at = at.children[part];
    }
    const last = parts[parts.length - 1];
    if (!hasOwn(at.object, last)) put(at.object, last, tool);
  }
  // A name that is no identifier can also be written with underscores.
  function put(object, name, value) {
    object[name] = value;
    const plain = replace(name, /[^\w$]/g, '_');
    if (!hasOwn(object, plain)) defineProperty(object, plain, { value, enumerable: false, configurable: true });
  }

  shared.installTools = (list) => {
    const tree = { object: {}, children: create(null) };
    const names = [];
    for (let i = 0; i < list.length; i++) push(names, list[i].name);
    for (let i = 0; i < list.length; i++) place(tree, list[i].name, makeTool(list[i].name, list[i].parameters), names);
    shared.global('tools', space(tree.object, '', names));
  };

  async function step(name, action) {
    if (typeof name !== 'string') throw new TypeError('step(name, fn): the name must be a string');
    note({ note: 'step', name }, 'step');
    if (action === undefined) return undefined;
    if (typeof action !== 'function') throw new TypeError('step(name, fn): what to do must be a function');
    const value = await action();
    note({ note: 'step_result', name, value }, `step "${name}": result`);
    return value;
  }
  function progress(value) {
    const number = +value;
    if (isNaN(number)) throw new TypeError('progress(x): x must be a number from 0 to 1');
    note({ note: 'progress', value: Math.min(1, Math.max(0, number)) }, 'progress');
  }
  function checkpoint() {
    note({ note: 'checkpoint' }, 'checkpoint');
    return promiseResolve(undefined);
  }
  // A person confirms or edits a value; a rejection is an exception.
  function review(value, reason = undefined) {
    try {
      return call('review', reason === undefined ? { value } : { value, reason: `${reason}` });
    } catch (error) {
      return promiseReject(error);
    }
  }
  shared.global('step', step);
  shared.global('review', review);
  shared.global('progress', progress);
  shared.global('checkpoint', checkpoint);
})
