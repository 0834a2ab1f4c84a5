/** A machine that loses its thread at any moment, or is taken off it, does and tells the same as one that never does. */
import {
  type Budget,
  type Checkpoint,
  type Emission,
  FermataError,
  type HostedMachine,
  type HostedOutcome,
  type Input,
  NEVER,
  type Program,
  type Report,
  type SealOptions,
} from '@fermata/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LastingMachine, type Origin } from '../src/hosts/lasting-machine.ts';
import { MachineLost } from '../src/hosts/remote-thread.ts';
import type { Seat } from '../src/hosts/seats.ts';
import { loadImage } from '../src/wasm/image-store.ts';
import { Machine } from '../src/wasm/machine.ts';

const image = await loadImage('quickjs');
const SLICE = 2000;
const PROGRAM: Program = {
  language: 'javascript',
  tools: [{ name: 'ask', parameters: null }],
  code: `let sum = 0;
for (let round = 1; round <= 3; round++) {
  step('round ' + round); console.log('begin', round);
  for (let i = 0; i < 4000; i++) { sum += i % round; if (i % 1000 === 0) console.log(i); }
  sum += await tools.ask({ round, sum }); console.error('answered'); progress(round / 3);
}
return sum;`,
};
const START: Input = { kind: 'start', program: PROGRAM, seed: new Uint8Array(32), nowMs: 1e12 };
const answer = (callId: number): Input => ({ kind: 'answer', callId, result: { ok: callId * 10 }, nowMs: 1e12 + callId });

/** A hosted machine without a thread; `dies` decides after every slice and every other request. */
class BareMachine implements HostedMachine {
  readonly limits;
  readonly #machine: Machine;
  readonly #dies: () => MachineLost | undefined;
  #stop = false;
  readonly #onDisposed: () => void;
  constructor(machine: Machine, dies: () => MachineLost | undefined, onDisposed: () => void) {
    this.#onDisposed = onDisposed;
    this.#machine = machine;
    this.#dies = dies;
    this.limits = machine.limits;
  }
  get report(): Report {
    return { usage: this.#machine.usage, cpuMs: 0, position: null };
  }
  #live(): void {
    const death = this.#dies();
    if (death) throw death;
  }
  async advance(input: Input, _budget: Budget, onEmitted: (emitted: Emission[], report: Report) => void): Promise<HostedOutcome> {
    this.#stop = false;
    for (let next = input; ; next = { kind: 'go' }) {
      await Promise.resolve();
      const { emitted, ...outcome } = this.#machine.advance(next, SLICE);
      onEmitted(emitted, this.report);
      this.#live();
      if (outcome.kind !== 'slice-used' || this.#stop) return outcome;
    }
  }
  stop(): void {
    this.#stop = true;
  }
  async snapshot(): Promise<Uint8Array> {
    this.#live();
    return this.#machine.snapshot();
  }
  async checkpoint(seal: SealOptions, ground: string | null): Promise<Checkpoint> {
    this.#live();
    return this.#machine.checkpoint(seal, ground);
  }
  async hash(): Promise<string> {
    return this.#machine.hash();
  }
  inspect = () => Promise.reject(new Error('not asked'));
  readFile = () => Promise.reject(new Error('not asked'));
  files = () => Promise.reject(new Error('not asked'));
  dispose(): void {
    this.#onDisposed();
  }
}

function originThat(dies: () => MachineLost | undefined, idleMs = Number.POSITIVE_INFINITY): Origin & { seats: number; alive: number } {
  const bare = (machine: Machine) => {
    origin.alive++;
    return new BareMachine(machine, dies, () => origin.alive--);
  };
  const origin = {
    seats: 0,
    /** Machines that were made and not disposed of. */
    alive: 0,
    idleMs: () => idleMs,
    async seat(): Promise<Seat> {
      origin.seats++;
      return { thread: undefined as never, setBusy: () => {}, release: () => origin.seats-- };
    },
    create: async () => bare(Machine.fresh(image)),
    async restore(_seat: Seat, snapshot: Uint8Array) {
      const machine = Machine.restore(image, snapshot, { trust: true });
      return { machine: bare(machine), restored: { waits: machine.waits, pending: machine.pending, attachment: machine.attachment } };
    },
  };
  return origin;
}

interface Told {
  stdout: string;
  stderr: string;
  others: unknown[];
  outcome: HostedOutcome;
  hash: string;
}

/** Drives the program to its end; `between` may do something with the machine before each input. */
async function driven(origin: Origin, between: (machine: LastingMachine) => Promise<void> = async () => {}, stopEvery = false): Promise<Told> {
  const machine = await LastingMachine.create(origin, () => {});
  const told = { stdout: '', stderr: '', others: [] as unknown[] };
  let input = START;
  for (;;) {
    await between(machine);
    const advancing = machine.advance(input, NEVER, (emitted) => {
      for (const emission of emitted) {
        if (emission.kind === 'output') told[emission.chunk.stream] += Buffer.from(emission.chunk.bytes);
        else told.others.push(emission);
      }
    });
    if (stopEvery) machine.stop();
    const outcome = await advancing;
    if (outcome.kind === 'calls') input = answer(outcome.pending[0] as number);
    else if (outcome.kind === 'slice-used') input = { kind: 'go' };
    else return { ...told, outcome, hash: await machine.hash() };
  }
}

const whole = await driven(originThat(() => undefined));

test('the program of these tests tells of itself in every way', () => {
  expect(whole.stdout).toContain('begin 3\n0\n1000\n2000\n3000\n');
  expect(whole.others.length).toBe(9);
  expect(whole.outcome).toMatchObject({ kind: 'done' });
});

test('deaths at random moments, hibernation and stops between and during advances change nothing', async () => {
  const deaths = fc.uniqueArray(fc.nat(80), { maxLength: 6 });
  const property = fc.asyncProperty(deaths, fc.boolean(), fc.boolean(), async (moments, hibernates, stops) => {
    let moment = 0;
    const dies = () => (moments.includes(moment++) ? new MachineLost('killed', 'none') : undefined);
    const between = async (machine: LastingMachine) => {
      if (hibernates) await machine.hibernate();
    };
    expect(await driven(originThat(dies), between, stops)).toEqual(whole);
  });
  await fc.assert(property, { numRuns: 25 });
});

test('many bytes of answers are not kept for a way back: a snapshot takes their place', async () => {
  const program = { ...PROGRAM, code: 'let sum = 0; for (let i = 0; i < 5; i++) sum += (await tools.ask({})).length; return sum' };
  const text = 'x'.repeat(20 * 1024 * 1024);
  let lost = false;
  const origin = originThat(() => {
    if (!lost) return undefined;
    lost = false;
    return new MachineLost('gone', 'none');
  });
  const given: string[] = [];
  const made = (machine: HostedMachine) => {
    const advance = machine.advance.bind(machine);
    machine.advance = (input, ...rest) => {
      given.push(input.kind);
      return advance(input, ...rest);
    };
    return machine;
  };
  const spied: Origin = {
    ...origin,
    create: async (seat) => made(await origin.create(seat)),
    restore: async (...asked) => {
      const { machine, restored } = await origin.restore(...asked);
      return { machine: made(machine), restored };
    },
  };
  const machine = await LastingMachine.create(spied, () => {});
  let outcome = await machine.advance({ ...START, program } as Input, NEVER, () => {});
  for (let id = 1; id <= 5; id++) {
    if (id === 5) lost = true;
    outcome = await machine.advance({ kind: 'answer', callId: id, result: { ok: text }, nowMs: 1e12 + id }, NEVER, () => {});
  }
  expect(outcome).toMatchObject({ kind: 'done', value: 5 * text.length });
  // The fifth answer was lost; of those before it none has to be given again, since the fourth was followed by a snapshot.
  expect(given).toEqual(['start', 'answer', 'answer', 'answer', 'answer', 'answer', 'answer']);
});

test('a machine that breaks down its thread twice is given up, one that was only there is not', async () => {
  const always = (blame: MachineLost['blame'], times: number) => {
    let left = times;
    return originThat(() => (left-- > 0 ? new MachineLost('gone', blame) : undefined));
  };
  await expect(driven(always('own', 2))).rejects.toMatchObject({ code: 'sandbox_lost' });
  expect(await driven(always('own', 1))).toEqual(whole);
  expect(await driven(always('turn', 9))).toEqual(whole);
  await expect(driven(always('turn', 10))).rejects.toMatchObject({ code: 'sandbox_lost' });
  expect(await driven(always('none', 30))).toEqual(whole);
});

test('a machine that is lost on its way back leaves nothing on the thread', async () => {
  let deaths = 0;
  const origin = originThat(() => (deaths-- > 0 ? new MachineLost('killed', 'none') : undefined));
  const machine = await LastingMachine.create(origin, () => {});
  await machine.advance(START, NEVER, () => {});
  deaths = 4;
  expect(await machine.advance(answer(1), NEVER, () => {})).toMatchObject({ kind: 'calls', pending: [2] });
  expect([origin.alive, origin.seats]).toEqual([1, 1]);
  machine.dispose();
  expect([origin.alive, origin.seats]).toEqual([0, 0]);
});

test('an error that is not a loss is passed on, and nothing is tried again', async () => {
  const origin = originThat(() => undefined);
  const machine = await LastingMachine.create(origin, () => {});
  await expect(machine.advance({ kind: 'go' }, NEVER, () => {})).rejects.toMatchObject({ code: 'invalid_state' });
  expect(await machine.advance(START, NEVER, () => {})).toMatchObject({ kind: 'calls' });
});

test('a machine has a seat only while it is resident', async () => {
  const origin = originThat(() => undefined);
  const machine = await LastingMachine.create(origin, () => {});
  expect(origin.seats).toBe(1);
  await machine.hibernate();
  expect(origin.seats).toBe(0);
  await machine.advance(START, NEVER, () => {});
  await machine.hibernate();
  expect(origin.seats).toBe(0);
  await machine.hash();
  expect(origin.seats).toBe(1);
  machine.dispose();
  expect(origin.seats).toBe(0);
  await expect(machine.hash()).rejects.toMatchObject({ code: 'invalid_state' });
});

test('what was asked for before a disposal is answered, an advance is ended', async () => {
  const origin = originThat(() => undefined);
  const machine = await LastingMachine.create(origin, () => {});
  const asked = machine.snapshot();
  machine.dispose();
  expect((await asked).length).toBeGreaterThan(0);
  await expect.poll(() => origin.seats).toBe(0);
  const running = await LastingMachine.create(origin, () => {});
  const advance = running.advance(START, NEVER, () => {});
  await Promise.resolve();
  running.dispose();
  expect(origin.seats).toBe(0);
  await expect(running.hash()).rejects.toMatchObject({ code: 'invalid_state' });
  await advance.catch((error) => expect(error).toMatchObject({ code: 'invalid_state' }));
});

test('one that idles is taken off its thread by itself', async () => {
  const origin = originThat(() => undefined, 10);
  const machine = await LastingMachine.create(origin, () => {});
  await machine.advance(START, NEVER, () => {});
  await expect.poll(() => origin.seats).toBe(0);
  expect(await machine.advance(answer(1), NEVER, () => {})).toMatchObject({ kind: 'calls', pending: [2] });
});

test('what is thrown while it arrives again reaches the caller, and it can be tried once more', async () => {
  let refuse = false;
  const origin = originThat(() => undefined);
  const seat = origin.seat;
  origin.seat = () => (refuse ? Promise.reject(new FermataError('resources_exhausted', 'no room')) : seat());
  const machine = await LastingMachine.create(origin, () => {});
  await machine.advance(START, NEVER, () => {});
  await machine.hibernate();
  refuse = true;
  await expect(machine.hash()).rejects.toMatchObject({ code: 'resources_exhausted' });
  refuse = false;
  expect(await machine.advance(answer(1), NEVER, () => {})).toMatchObject({ kind: 'calls', pending: [2] });
});
