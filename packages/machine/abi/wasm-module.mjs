/**
 * Reads a linked Wasm module as far as `add-stops.mjs` has to know it, and writes it back with other function bodies.
 * Knows the instructions that clang emits for our targets; at anything else it throws.
 */
const SECTION = { custom: 0, type: 1, import: 2, function: 3, global: 6, export: 7, code: 10 };
export const OP = {
  block: 0x02,
  loop: 0x03,
  if: 0x04,
  end: 0x0b,
  brTable: 0x0e,
  call: 0x10,
  callIndirect: 0x11,
  localGet: 0x20,
  localTee: 0x22,
  i32Load: 0x28,
  i32Store: 0x36,
  i32Const: 0x41,
};

/**
 * A function of the module: its `name`, its `index` among all that can be called, its `type`, `params` (how many) and `body`;
 * of the body: `loops` ({at: where its code begins, isLeaf: no call and no other loop inside}), `calls` (indices),
 * `callsPointers`, `locals` (how many, with the parameters), and where the groups of locals are.
 */
export function readModule(bytes) {
  const sections = [];
  for (const r = new Reader(bytes, 8); !r.done; ) sections.push({ id: r.byte(), content: r.take(r.unsigned()) });
  const reader = (id) => new Reader(sections.find((section) => section.id === id)?.content ?? new Uint8Array([0]));

  const { imported, importedGlobals } = readImports(reader(SECTION.import));
  const paramCounts = readTypes(reader(SECTION.type));
  const types = reader(SECTION.function);
  const typeOf = types.list(() => types.unsigned());
  const names = readNames(sections);
  const code = reader(SECTION.code);
  const functions = code.list((i) => {
    const [index, type, body] = [imported.length + i, typeOf[i], code.take(code.unsigned())];
    return { index, type, params: paramCounts[type], name: names.get(index) ?? '', body, ...scan(body, paramCounts[type]) };
  });
  return { header: bytes.subarray(0, 8), sections, imported, functions, exportedConstants: readConstants(reader, importedGlobals) };
}

/** The module with these bodies in place of its own, and more functions ({name, type, body}) after them. */
export function writeModule({ header, sections, functions, imported }, bodies, added) {
  const vector = (items) => Buffer.concat([unsigned(items.length), ...items].map((item) => Buffer.from(item)));
  const sized = (body) => Buffer.concat([Buffer.from(unsigned(body.length)), body]);
  const changed = {
    [SECTION.function]: () => vector([...functions, ...added].map(({ type }) => unsigned(type))),
    [SECTION.code]: () => vector([...bodies, ...added.map(({ body }) => body)].map(sized)),
  };
  const parts = [header];
  for (const { id, content } of sections) {
    const now = changed[id]?.() ?? (isNames({ id, content }) ? names(content, imported.length + functions.length, added) : content);
    parts.push(Buffer.from([id, ...unsigned(now.length)]), now);
  }
  return Buffer.concat(parts);
}

export function unsigned(value) {
  const bytes = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) | 128);
  }
}

function isNames({ id, content }) {
  return id === SECTION.custom && new Reader(content).text() === 'name';
}

/** The section of names with those of the added functions, whose indices are higher than all others. */
function names(content, firstIndex, added) {
  const r = new Reader(content);
  const parts = [Buffer.from([4, ...Buffer.from('name')])];
  r.text();
  while (!r.done) {
    const kind = r.byte();
    let part = Buffer.from(r.take(r.unsigned()));
    if (kind === 1) {
      const inner = new Reader(part);
      const count = inner.unsigned();
      const more = added.map(({ name }, i) => Buffer.from([...unsigned(firstIndex + i), ...unsigned(Buffer.byteLength(name)), ...Buffer.from(name)]));
      part = Buffer.concat([Buffer.from(unsigned(count + added.length)), part.subarray(inner.at), ...more]);
    }
    parts.push(Buffer.from([kind, ...unsigned(part.length)]), part);
  }
  return Buffer.concat(parts);
}

function readImports(r) {
  const imported = [];
  let importedGlobals = 0;
  r.list(() => {
    const name = `${r.text()}.${r.text()}`;
    const kind = r.byte();
    if (kind === 0) {
      r.unsigned();
      imported.push(name);
    } else if (kind === 3) {
      r.skip(2);
      importedGlobals++;
    } else throw new Error(`${name}: only functions and globals can be imported`);
  });
  return { imported, importedGlobals };
}

function readTypes(r) {
  return r.list(() => {
    r.skip(1);
    const params = r.unsigned();
    r.skip(params);
    r.skip(r.unsigned());
    return params;
  });
}

function readNames(sections) {
  const names = new Map();
  for (const section of sections.filter(isNames)) {
    const r = new Reader(section.content);
    r.text();
    while (!r.done) {
      const kind = r.byte();
      const part = new Reader(r.take(r.unsigned()));
      if (kind === 1) part.list(() => names.set(part.unsigned(), part.text()));
    }
  }
  return names;
}

/** Exported globals by name: the linker's way to tell an address. */
function readConstants(reader, importedGlobals) {
  const globals = reader(SECTION.global);
  const values = globals.list(() => {
    globals.skip(2);
    if (globals.byte() !== OP.i32Const) throw new Error('a global that is not an i32 constant');
    const value = globals.signed();
    globals.skip(1);
    return value;
  });
  const exports = reader(SECTION.export);
  const all = exports.list(() => ({ name: exports.text(), kind: exports.byte(), index: exports.unsigned() }));
  return new Map(all.filter(({ kind }) => kind === 3).map(({ name, index }) => [name, values[index - importedGlobals]]));
}

function scan(body, params) {
  const r = new Reader(body);
  const localGroups = r.unsigned();
  const localsStart = r.at;
  let locals = params;
  for (let i = 0; i < localGroups; i++) {
    locals += r.unsigned();
    r.skip(1);
  }
  const found = { localGroups, localsStart, localsEnd: r.at, locals, loops: [], calls: new Set(), callsPointers: false };
  const open = [{ isLoop: false, isLeaf: true }];
  while (open.length > 0) {
    const op = r.byte();
    const inner = open.at(-1);
    if (op === OP.block || op === OP.loop || op === OP.if) {
      r.signed();
      open.push({ isLoop: op === OP.loop, isLeaf: true, at: r.at });
    } else if (op === OP.end) {
      open.pop();
      if (inner.isLoop) found.loops.push(inner);
      if (open.length > 0 && (inner.isLoop || !inner.isLeaf)) open.at(-1).isLeaf = false;
    } else if (op === OP.call) {
      inner.isLeaf = false;
      found.calls.add(r.unsigned());
    } else if (op === OP.callIndirect) {
      inner.isLeaf = false;
      found.callsPointers = true;
      r.unsigned();
      r.unsigned();
    } else skipImmediates(r, op);
  }
  return found;
}

function skipImmediates(r, op) {
  if (op === OP.brTable) {
    r.list(() => r.unsigned());
    r.unsigned();
  } else if (op === 0x0c || op === 0x0d || (op >= 0x20 && op <= 0x26) || op === 0xd2) r.unsigned();
  else if (op >= OP.i32Load && op <= 0x3e) {
    r.unsigned();
    r.unsigned();
  } else if (op === 0x3f || op === 0x40 || op === 0xd0) r.skip(1);
  else if (op === OP.i32Const || op === 0x42) r.signed();
  else if (op === 0x43) r.skip(4);
  else if (op === 0x44) r.skip(8);
  else if (op === 0x1c) r.skip(r.unsigned());
  else if (op === 0xfc) {
    const sub = r.unsigned();
    const count = sub <= 7 ? 0 : { 8: 2, 9: 1, 10: 2, 11: 1, 12: 2, 13: 1, 14: 2, 15: 1, 16: 1, 17: 1 }[sub];
    if (count === undefined) throw new Error(`unknown instruction 0xfc ${sub}`);
    for (let i = 0; i < count; i++) r.unsigned();
  } else if (!(op <= 0x01 || op === 0x05 || op === 0x0f || op === 0x1a || op === 0x1b || (op >= 0x45 && op <= 0xc4) || op === 0xd1)) {
    throw new Error(`unknown instruction 0x${op.toString(16)}`);
  }
}

class Reader {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }
  get done() {
    return this.at >= this.bytes.length;
  }
  byte() {
    if (this.done) throw new Error('the module is cut short');
    return this.bytes[this.at++];
  }
  skip(count) {
    this.at += count;
  }
  take(count) {
    this.at += count;
    return this.bytes.subarray(this.at - count, this.at);
  }
  unsigned() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }
  /** Exact up to 32 bits, which is all that is looked at. */
  signed() {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      if (shift < 32) value |= (byte & 127) << shift;
      if (byte < 128) return shift < 25 && byte & 64 ? value | (-1 << (shift + 7)) : value;
    }
  }
  text() {
    return Buffer.from(this.take(this.unsigned())).toString();
  }
  list(read) {
    return Array.from({ length: this.unsigned() }, (_, i) => read(i));
  }
}
