/**
 * Three ways to run a program tree with answers delivered one at a time, whenever nothing is left to run, in an order
 * that a list of choices decides: a machine, and as references this Node and the system's Python.
 */
import { spawnSync } from 'node:child_process';
import { Machine } from '@fermata/machine';
import type { CallResult, Program } from '@fermata/protocol';

type Image = Parameters<typeof Machine.fresh>[0];
const AsyncFunction = (async () => {}).constructor as new (...args: string[]) => (...args: unknown[]) => Promise<unknown>;

/** Which of `count` things is next. */
export class Choices {
  readonly #list: readonly number[];
  #at = 0;
  constructor(list: readonly number[]) {
    this.#list = list;
  }
  next(count: number): number {
    return (this.#list[this.#at++ % this.#list.length] as number) % count;
  }
}

const result = (tool: string, n: number): CallResult => (tool === 'ok' ? { ok: { n } } : { error: { name: 'Refused', message: `refused ${n}` } });

/** Also stopped, saved and restored where `stops` says so, counted in advances. */
export function runOnMachine(image: Image, program: Program, choices: Choices, sliceFuel: number, stops: ReadonlySet<number>): unknown {
  let machine = Machine.fresh(image);
  let nowMs = 1_700_000_000_000;
  let advances = 0;
  let outcome = machine.advance({ kind: 'start', program, seed: new Uint8Array(32), nowMs }, sliceFuel);
  for (;;) {
    if (outcome.kind === 'done') return outcome.value;
    if (outcome.kind === 'failed') return { failed: outcome.error.message };
    if (stops.has(advances++)) machine = Machine.restore(image, machine.snapshot(), { trust: true });
    if (outcome.kind === 'slice-used') outcome = machine.advance({ kind: 'go' }, sliceFuel);
    else if (outcome.kind === 'calls') {
      const { pending, dueMs } = outcome;
      const choice = choices.next(pending.length + (dueMs === null ? 0 : 1));
      const call = machine.pending[choice];
      if (call) outcome = machine.advance({ kind: 'answer', callId: call.id, result: result(call.name, call.args.n as number), nowMs }, sliceFuel);
      else {
        nowMs = Math.max(nowMs, Math.ceil(dueMs ?? 0));
        outcome = machine.advance({ kind: 'timer', nowMs }, sliceFuel);
      }
    } else throw new Error(`unexpected ${outcome.kind}`);
  }
}

export async function runOnNode(code: string, choices: Choices): Promise<unknown> {
  const calls = new Map<number, () => void>();
  const timers: { due: number; order: number; fire: () => void }[] = [];
  let made = 0;
  let now = 0;
  const tool =
    (name: string) =>
    ({ n }: { n: number }) =>
      new Promise((resolve, reject) => {
        const answer = result(name, n);
        calls.set(made++, () => ('ok' in answer ? resolve(answer.ok) : reject(new Error(answer.error.message))));
      });
  const setTimer = (fire: () => void, ms: number) => timers.push({ due: now + ms, order: made++, fire });
  const end = new AsyncFunction('tools', 'setTimeout', code)({ ok: tool('ok'), fail: tool('fail') }, setTimer);
  let settled = false;
  void end.finally(() => {
    settled = true;
  });
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve));
    if (settled) return end;
    timers.sort((a, b) => a.due - b.due || a.order - b.order);
    const choice = choices.next(calls.size + (timers.length > 0 ? 1 : 0));
    const [id, answer] = [...calls][choice] ?? [];
    if (id !== undefined && answer) {
      calls.delete(id);
      answer();
    } else {
      now = Math.max(now, timers[0]?.due ?? 0);
      while (!settled && (timers[0]?.due ?? Number.POSITIVE_INFINITY) <= now) {
        timers.shift()?.fire();
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }
}

/** The system's Python with a loop that has no sockets and takes its answers from the choices. */
const PYTHON_SCHEDULER = `
import asyncio, json, sys
given = json.load(sys.stdin)
choices, at = given["choices"], 0
calls, now = {}, 0.0
class Tools:
    def __getattr__(self, name):
        def call(n):
            future = asyncio.get_running_loop().create_future()
            calls[len(made)] = (future, name, n); made.append(name)
            return future
        return call
made = []
class Choosing:
    def select(self, timeout):
        global at, now
        if timeout is not None and timeout <= 0: return []
        # A future that was cancelled is still a call that the host has not answered.
        count = len(calls) + (timeout is not None)
        choice = choices[at % len(choices)] % count; at += 1
        if choice < len(calls):
            key = list(calls)[choice]; future, name, n = calls.pop(key)
            if not future.done():
                if name == "ok": future.set_result({"n": n})
                else: future.set_exception(Exception("refused %d" % n))
        else: now += timeout
        return []
    def close(self): pass
class Loop(asyncio.BaseEventLoop):
    def __init__(self): super().__init__(); self._selector = Choosing()
    def time(self): return now
    def _process_events(self, events): pass
    def _write_to_self(self): pass
space = {"tools": Tools()}
exec(given["code"], space)
loop = Loop()
print(json.dumps(loop.run_until_complete(space["main"]())))
`;

export const hasPython = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 11))']).status === 0;

export function runOnPython(code: string, choices: readonly number[]): unknown {
  const { status, stdout, stderr } = spawnSync('python3', ['-c', PYTHON_SCHEDULER], { input: JSON.stringify({ code, choices }), encoding: 'utf8', timeout: 60_000 });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}
