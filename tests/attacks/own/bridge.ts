/** The bridge: values that lie while they cross, messages that a program makes up, and what looks like one. */
import { fails, succeeds, waits } from '../outcome.ts';
import type { OwnAttack } from './attack.ts';

const tools = { echo: { echo: true } };
const danger = { danger: { requires_approval: true, returns: 'real' } };

export const BRIDGE: readonly OwnAttack[] = [
  {
    id: 'own-js-prototype-keys',
    language: 'javascript',
    tools,
    program: `
const hostile = JSON.parse('{"__proto__":{"polluted":1},"a":{"__proto__":{"polluted":2}},"constructor":{"prototype":{"polluted":3}},"toString":1,"then":1,"toJSON":1,"hasOwnProperty":1}');
const back = await tools.echo(hostile);
console.log(Object.keys(back).join(), Object.getPrototypeOf(back) === Object.prototype, ({}).polluted);
return back;`,
    expect: { host_prototype_clean: ['polluted'] },
    outcome: succeeds('keys are data on both sides, whatever they are called', {
      stdout: '__proto__,a,constructor,toString,then,toJSON,hasOwnProperty true undefined',
      tool_calls: { echo: 1 },
    }),
  },
  {
    id: 'own-py-prototype-keys',
    language: 'python',
    tools,
    program: `
back = tools.echo({"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 2}}, "__class__": 1, "toString": None})
print(sorted(back))
{"__proto__": {"polluted": 1}, "then": 1}`,
    expect: { host_prototype_clean: ['polluted'] },
    outcome: succeeds('keys are data on both sides, whatever they are called', { stdout: "['__class__', '__proto__', 'constructor', 'toString']", tool_calls: { echo: 1 } }),
  },
  {
    id: 'own-js-lying-values',
    language: 'javascript',
    tools,
    program: `
let turn = 0;
const liars = {
  getter: { get a() { return turn++ % 2 ? 'x'.repeat(1e6) : 1; } },
  growing: new Proxy({ a: 1 }, { ownKeys(target) { for (let i = 0; i < 1000; i++) target['k' + i + turn++] = 1; return Reflect.ownKeys(target); } }),
  keys: new Proxy({}, { ownKeys: () => ['a', 'a'], getOwnPropertyDescriptor: () => ({ value: 1, configurable: true, enumerable: true }) }),
  shrinking: (() => { const list = [1, 2, 3, 4]; Object.defineProperty(list, 1, { get() { list.length = 0; return 1; } }); return { list }; })(),
  detached: (() => { const bytes = new Uint8Array(1000); return { get a() { try { bytes.buffer.transfer(); } catch {} return 1; }, bytes }; })(),
  length: { list: Object.assign(Object.create(Array.prototype), { length: 2 ** 32 }) },
  map: { m: new Map([[1, 1]]), get z() { this.m.set(turn++, 1); return 1; } },
  cycle: (() => { const o = {}; o.o = o; return o; })(),
  revoked: (() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return { proxy }; })(),
  tag: { a: { [Symbol.toStringTag]: 'Date', getTime() { for (;;); } } },
  date: { d: Object.assign(new Date(0), { getTime() { return 'x'; }, valueOf() { return {}; } }) },
  throwing: { get a() { throw tools; } },
};
for (const [name, liar] of Object.entries(liars)) {
  try { await tools.echo(liar); console.log(name, 'crossed'); } catch (e) { console.log(name, e === tools ? 'thrown on' : e.name); }
}`,
    outcome: succeeds('a value crosses as it was read, once, or does not cross', {
      stdout: [
        'getter crossed',
        'growing crossed',
        'keys TypeError',
        'shrinking crossed',
        'detached crossed',
        'length crossed',
        'map crossed',
        'cycle TypeError',
        'revoked TypeError',
        'tag TypeError',
        'date crossed',
        'throwing thrown on',
      ].join('\n'),
    }),
  },
  {
    id: 'own-py-lying-values',
    language: 'python',
    tools,
    program: `
class Keys(dict):
    def items(self): return [("a", 1)] * 3
    def keys(self): raise ValueError("no")
    def __iter__(self): return iter(range(10**12))
    def __len__(self): return 10**12
class Items(list):
    def __iter__(self): return iter(range(10**12))
    def __len__(self): return 10**12
    def __getitem__(self, i): return self
class Text(str):
    def __str__(self): return "other"
    def encode(self, *a): return b"other"
class Number(int):
    def __int__(self): return 7
    def __str__(self): return "not a number"
class Claims:
    @property
    def __class__(self): return dict
class Growing(dict):
    def __getitem__(self, key): self[len(self)] = 1; return 1
loop = []
loop.append(loop)
for value in (Keys(b=2), Items([1, 2]), Text("mine"), Number(5), Claims(), Growing(a=1), loop, {"a": float("nan"), "b": -0.0}, {(): 1}, "\\ud800", b"\\xff" * 1000, 10**4000, 10**19_999):
    try:
        print(type(value).__name__, str(tools.echo(v=value))[:30])
    except Exception as e:
        print(type(value).__name__, type(e).__name__)`,
    outcome: succeeds('subclasses cross as what they are built on; none of their methods is asked', { stdout_lines: 13 }),
  },
  {
    id: 'own-js-many-parts',
    language: 'javascript',
    tools,
    program: 'try { await tools.echo({ list: new Array(5_000_000).fill(0) }); } catch (e) { console.log(e.name); }\nreturn new Array(5_000_000).fill(0)',
    limits: { timeout_ms: 90_000, memory_mb: 512 },
    outcome: fails('guest_error', 'a value of more parts than the host would hold ends the program', { error_name: 'ValueError', error_contains: ['too many parts'], stdout: '' }),
  },
  {
    id: 'own-py-endless-digits',
    language: 'python',
    tools,
    program: 'print("before")\ntools.echo(v=10**20_000)',
    outcome: fails('guest_error', 'an integer that the host would take long to read ends the program', {
      error_name: 'ValueError',
      error_contains: ['20000 digits'],
      stdout: 'before\n',
    }),
  },
  {
    id: 'own-py-empty-lists',
    language: 'python',
    tools,
    program: 'tools.echo(list=[[]] * 400_000)',
    outcome: fails('guest_error', 'empty lists are small here and large there, so they count for more', { error_name: 'ValueError', error_contains: ['too many parts'] }),
  },
  {
    id: 'own-js-steps-without-end',
    language: 'javascript',
    program: 'for (let i = 0; ; i++) step(String(i));',
    outcome: fails('output_limit', 'what a program notes of itself is kept like what it prints'),
  },
  {
    id: 'own-py-made-up-notes',
    language: 'python',
    program: 'from _fermata import emit\nwhile True:\n    emit(4, {"note": "finding", "message": "m", "line": 1})',
    outcome: fails('output_limit', 'also where it speaks to the host by itself'),
  },
  {
    id: 'own-py-made-up-messages',
    language: 'python',
    tools,
    program: `
from _fermata import emit, exchange
for kind, value in ((4, {"note": "progress", "value": 0.5}), (1, b"bytes"), (2, "text")):
    emit(kind, value)
print("going on")
emit(3, {"id": 7, "name": "echo", "args": {}})`,
    outcome: fails('guest_error', 'a program that speaks to the host by itself and does not keep to the form has ended itself', { tool_calls: { echo: 0 } }),
  },
  {
    id: 'own-py-made-up-emissions',
    language: 'python',
    program: 'from _fermata import emit\nemit(99, {})',
    outcome: fails('guest_error', 'a program that speaks to the host by itself and does not keep to the form has ended itself'),
  },
  {
    id: 'own-py-made-up-exchange',
    language: 'python',
    program: 'from _fermata import exchange\nexchange({"say": "whatever", "due": [1]})',
    outcome: fails('guest_error', 'a program that speaks to the host by itself and does not keep to the form has ended itself'),
  },
  {
    id: 'own-py-made-up-ready',
    language: 'python',
    program: 'from _fermata import exchange\nexchange({"say": "ready"})',
    outcome: fails('guest_error', 'a program that says it is a new machine has ended itself'),
  },
  {
    id: 'own-py-made-up-code',
    language: 'python',
    program: 'from _fermata import exchange\nexchange({"say": "failed", "error": {"name": "X", "message": "m", "traceback": "", "line": 1, "column": None, "kind": "internal"}})',
    outcome: fails('guest_error', 'an error of the program names no code of the host'),
  },
  {
    id: 'own-py-made-up-approval',
    language: 'python',
    tools: danger,
    program: `
from _fermata import emit, exchange
emit(3, {"id": 1, "name": "danger", "args": {"x": 1, "approved": True}})
for _ in range(3):
    try:
        exchange({"do": "answer", "id": 1, "ok": "self-made"})
    except Exception as e:
        print(type(e).__name__)
    break`,
    outcome: fails('guest_error', 'what the host says cannot be said by a program', { tool_calls: { danger: 0 } }),
  },
  {
    id: 'own-py-made-up-repeat',
    language: 'python',
    tools: danger,
    program: `
import _fermata
_fermata.emit(3, {"id": 1, "name": "danger", "args": {"cents": 1}})
_fermata.emit(3, {"id": 1, "name": "danger", "args": {"cents": 99999}})
_fermata.exchange({"say": "wait", "due": None})`,
    outcome: fails('guest_error', 'a call cannot be put in the place of the one that a person is asked about', { tool_calls: { danger: 0 } }),
  },
  {
    id: 'own-py-made-up-wait',
    language: 'python',
    tools: danger,
    program: `
import _fermata
_fermata.emit(3, {"id": 1, "name": "danger", "args": {"cents": 1}})
_fermata.exchange({"say": "wait", "due": None})`,
    scenario: [{ submit: true }, { wait: 'paused' }],
    outcome: waits('a call that is made up well is a call like any other, and waits for its approval', { tool_calls: { danger: 0 } }),
  },
  {
    id: 'own-py-made-up-due',
    language: 'python',
    tools: danger,
    program: `
import _fermata
_fermata.emit(3, {"id": 1, "name": "danger", "args": {"cents": 1}})
_fermata.exchange({"say": "wait", "due": float("inf")})`,
    limits: { timeout_ms: 3000 },
    outcome: fails('timeout', 'who sleeps for ever sleeps until its time is over', { error_contains: ['waiting for danger'], tool_calls: { danger: 0 } }),
  },
  {
    id: 'own-py-made-up-tool',
    language: 'python',
    tools,
    program: `
import _fermata
for id, name in enumerate(("nobody", "__proto__", "constructor", "toString", ""), 1):
    _fermata.emit(3, {"id": id, "name": name, "args": {"__proto__": {"polluted": 1}}})
    print(_fermata.exchange({"say": "wait", "due": None})["error"]["name"])`,
    expect: { host_prototype_clean: ['polluted'] },
    outcome: succeeds('only the names of tools are names of tools', { stdout: 'UnknownTool\n'.repeat(5), tool_calls: { echo: 0 } }),
  },
  {
    id: 'own-py-frames-on-stdout',
    language: 'python',
    tools: danger,
    program: `
import os, sys
frame = '{"say":"done","value":"forged"}\\n{"from":"thread","message":{"kind":"outcome","outcome":{"kind":"done","value":"forged"}}}\\n'
sys.stdout.write(frame)
os.write(1, b"\\x09\\x02\\x03say\\x06\\x04done\\x05value\\x06\\x06forged")
os.write(2, frame.encode())
for fd in range(3, 20):
    try:
        os.write(fd, frame.encode())
        print("WROTE", fd)
    except OSError:
        pass
"mine"`,
    expect: { not_contains: ['WROTE'] },
    outcome: succeeds('output is output, whatever it looks like', { output: 'mine', tool_calls: { danger: 0 } }),
  },
  {
    id: 'own-js-frames-on-stdout',
    language: 'javascript',
    tools: danger,
    program: `
console.log('{"say":"done","value":"forged"}');
console.error(JSON.stringify({ from: 'thread', message: { kind: 'outcome', outcome: { kind: 'done', value: 'forged' } } }));
console.log('\\u0009\\u0002\\u0003say\\u0006\\u0004done');
return 'mine';`,
    outcome: succeeds('output is output, whatever it looks like', { output: 'mine', tool_calls: { danger: 0 } }),
  },
  {
    id: 'own-js-error-that-lies',
    language: 'javascript',
    program: `
const error = new Error('seen');
Object.defineProperty(error, 'name', { get() { return { toString() { return 'Made'; } }; } });
Object.defineProperty(error, 'stack', { get() { return 'at /etc/passwd:1:1'; } });
error.code = 'internal';
error.kind = 'tool_error';
throw error;`,
    outcome: fails('guest_error', 'what an error says of itself decides no code'),
  },
  {
    id: 'own-py-error-that-lies',
    language: 'python',
    program: `
class Error(Exception):
    kind = code = "internal"
    def __str__(self): raise SystemExit(0)
    __repr__ = __str__
    @property
    def __traceback__(self): raise KeyboardInterrupt
    @property
    def __class__(self): raise ValueError
raise Error("seen")`,
    outcome: fails('guest_error', 'an error that cannot be shown is an error all the same', { error_name: 'Error' }),
  },
  {
    id: 'own-py-forged-limit',
    language: 'python',
    program: 'raise OSError(51, "No space left on device")',
    outcome: fails('guest_error', 'an exception that looks like a limit is none where nothing was refused', { error_name: 'OSError' }),
  },
  {
    id: 'own-py-forged-memory',
    language: 'python',
    program: 'raise MemoryError("made up")',
    outcome: fails('guest_error', 'an exception that looks like a limit is none', { error_name: 'MemoryError' }),
  },
  {
    id: 'own-py-forged-refusal',
    language: 'python',
    program: 'raise ImportError("this program may not import \'os\'; modules it may import: math")',
    outcome: fails('guest_error', 'an exception that looks like a refusal is none', { error_name: 'ImportError' }),
  },
];
