/**
 * Decides where a linked guest can be stopped, before Asyncify makes it so: puts fuel checks into loops, and guards around
 * functions in which there shall be no stop. It works from a list (`readLists`), which is also Asyncify's.
 *
 * **Fuel.** What compiled C does between two checks of its own source is unbounded: a sort, a query, a compression. The check
 * is that of `FERMATA_FUEL`, on the same word, so there is one counter, and a program's fuel does not depend on how it is
 * sliced. A loop without a call and without another loop in it gets none: it is bounded by the size of its data, and would
 * take longer for the check than for its work. Asyncify makes every function slower that can stop; so only those get checks
 * that can stop anyway, by what they call, and those that the list names for it.
 *
 * **Guards.** A function that is called from everywhere and hardly ever runs code of the program's (an object's end, the making
 * of an error) is left out of Asyncify, and with it all that only calls it. If it comes to such code nevertheless, that must run
 * through: the guard counts `nosuspend` up while it is in there.
 *
 * Usage: add-stops.mjs <in.wasm> <out.wasm> <list>     prints Asyncify's removelist
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { OP, readModule, unsigned, writeModule } from './wasm-module.mjs';

const I32 = 0x7f;
const NOSUSPEND = 16; // offset in fermata_status
const INSIDE = '.inside';

/**
 * Lines are `kind name`; what follows `#` is a comment; `*` at the end of a name stands for anything.
 *
 *   plain    never runs code of the program's: not stopped in, and no fuel in it and in what it calls
 *   guarded  hardly ever does: not stopped in, and what it calls runs through
 *   fuel     gets fuel, although it could not stop otherwise
 *   short    gets none: its loops are short, and it is called often
 */
export function readLists(text) {
  const lists = { plain: [], guarded: [], fuel: [], short: [] };
  for (const line of text.split('\n')) {
    const [kind, name, ...rest] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (!kind) continue;
    if (!lists[kind] || !name || rest.length > 0) throw new Error(`not "plain|guarded|fuel|short name": ${line}`);
    lists[kind].push(name);
  }
  return lists;
}

/** The new module, Asyncify's removelist for it, and how much was done. */
export function addStops(bytes, lists, suspends = ['fermata.checkpoint', 'fermata.exchange']) {
  const module = readModule(bytes);
  const graph = callGraph(module);
  const [plain, guarded, extra, short] = ['plain', 'guarded', 'fuel', 'short'].map((kind) => named(module.functions, lists[kind], kind));
  const removed = new Set([...plain, ...guarded]);
  const spared = reachableFrom(plain, graph, guarded);
  const stopping = thatCanStop(module, graph, suspends, removed);
  const checkpoint = module.functions.find(({ name }) => name === 'fermata_checkpoint');
  const status = module.exportedConstants.get('fermata_status');
  if (!checkpoint || status === undefined) throw new Error('the module has no fermata_checkpoint, or does not export fermata_status');

  const check = fuelCheck(status, checkpoint.index);
  const added = [];
  let loops = 0;
  const bodies = module.functions.map((f) => {
    let { body } = f;
    const places = f.loops.filter(({ isLeaf }) => !isLeaf).map(({ at }) => at);
    if (places.length > 0 && f !== checkpoint && !spared.has(f) && !short.has(f) && (stopping.has(f) || extra.has(f))) {
      body = withChecks(f, places, check);
      loops += places.length;
    }
    if (!guarded.has(f)) return body;
    added.push({ name: f.name + INSIDE, type: f.type, body });
    return guard(f, module.imported.length + module.functions.length + added.length - 1, status + NOSUSPEND);
  });
  const removelist = [...plain, ...guarded].map(({ name }) => name).concat(added.map(({ name }) => name));
  return { bytes: writeModule(module, bodies, added), removelist, loops, stopping: stopping.size };
}

function named(functions, wanted, kind) {
  const found = new Set();
  for (const pattern of wanted) {
    const fits = pattern.endsWith('*') ? (name) => name.startsWith(pattern.slice(0, -1)) : (name) => name === pattern;
    const those = functions.filter(({ name }) => fits(name));
    if (those.length === 0) throw new Error(`${kind} ${pattern}: there is no such function`);
    for (const f of those) found.add(f);
  }
  return found;
}

function callGraph({ functions, imported }) {
  const callees = new Map();
  const callers = new Map(functions.map((f) => [f, []]));
  for (const f of functions) {
    const called = [...f.calls].filter((index) => index >= imported.length).map((index) => functions[index - imported.length]);
    callees.set(f, called);
    for (const other of called) callers.get(other).push(f);
  }
  return { callees, callers };
}

/** These and all that they call directly, up to the ends. */
function reachableFrom(roots, { callees }, ends) {
  const found = new Set();
  const open = [...roots];
  for (let f = open.pop(); f; f = open.pop()) {
    if (found.has(f) || ends.has(f)) continue;
    found.add(f);
    open.push(...callees.get(f));
  }
  return found;
}

/** All that may come to one of these imports. Like Asyncify, any call through a pointer may. */
function thatCanStop({ functions, imported }, { callers }, suspends, removed) {
  const stopping = new Set();
  const open = functions.filter((f) => f.callsPointers || [...f.calls].some((index) => suspends.includes(imported[index])));
  for (let f = open.pop(); f; f = open.pop()) {
    if (stopping.has(f) || removed.has(f)) continue;
    stopping.add(f);
    open.push(...callers.get(f));
  }
  return stopping;
}

const word = (address) => [...unsigned(2), ...unsigned(address)]; // aligned to 4, at this offset

/** `if (--fuel < 0) fermata_checkpoint()`, given a local of type i32 that is free. */
function fuelCheck(status, checkpoint) {
  return (local) => [
    ...[OP.i32Const, 0, OP.i32Const, 0, OP.i32Load, ...word(status), OP.i32Const, 1, 0x6b, OP.localTee, ...unsigned(local)],
    ...[OP.i32Store, ...word(status), OP.localGet, ...unsigned(local), OP.i32Const, 0, 0x48],
    ...[OP.if, 0x40, OP.call, ...unsigned(checkpoint), OP.end],
  ];
}

function withChecks({ body, localGroups, localsStart, localsEnd, locals }, places, check) {
  const parts = [unsigned(localGroups + 1), body.subarray(localsStart, localsEnd), [1, I32]];
  let from = localsEnd;
  for (const at of places.toSorted((a, b) => a - b)) {
    parts.push(body.subarray(from, at), check(locals));
    from = at;
  }
  parts.push(body.subarray(from));
  return Buffer.concat(parts.map((part) => Buffer.from(part)));
}

/** The body of a function that counts, calls the one with the real body, and counts back. */
function guard({ params }, inside, address) {
  const count = (operation) => [OP.i32Const, 0, OP.i32Const, 0, OP.i32Load, ...word(address), OP.i32Const, 1, operation, OP.i32Store, ...word(address)];
  const pass = Array.from({ length: params }, (_, i) => [OP.localGet, ...unsigned(i)]).flat();
  return Buffer.from([0, ...count(0x6a), ...pass, OP.call, ...unsigned(inside), ...count(0x6b), OP.end]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , input, output, list] = process.argv;
  const { bytes, removelist, loops, stopping } = addStops(readFileSync(input), readLists(readFileSync(list, 'utf8')));
  writeFileSync(output, bytes);
  console.error(`${stopping} functions can stop; fuel in ${loops} of their loops`);
  console.log(removelist.join(','));
}
