/** Who gets a place for a machine, who waits, and what they are told. No real threads: only who sits where matters here. */
import { expect, test, vi } from 'vitest';
import type { PortEvents } from '../src/hosts/port.ts';
import { type Seat, Seats, type SeatsOptions } from '../src/hosts/seats.ts';

const MiB = 1024 * 1024;
const IMAGE = 32 * MiB;

function seatsWith(options: Partial<SeatsOptions>) {
  const opened: PortEvents[] = [];
  let pressed = 0;
  const open = (events: PortEvents) => {
    opened.push(events);
    const close = async () => events.gone({ message: 'closed', suspect: undefined, brokeDown: false });
    return { give: async () => {}, send: () => {}, hold: () => {}, close };
  };
  const seats = new Seats({ open, maxThreads: 2, maxThreadBytes: 1024 * MiB, maxBytes: 2048 * MiB, idleMs: 1e6, ...options }, () => pressed++);
  const take = (tenant: string, mib = 100) => {
    const reasons: string[] = [];
    let seat: Seat | undefined;
    const taking = seats.take({ tenant, bytes: mib * MiB, onQueued: (reason) => reasons.push(reason) }).then((given) => {
      seat = given;
      return given;
    });
    return { taking, reasons, seat: () => seat };
  };
  return { seats, take, opened, pressed: () => pressed };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('machines of one tenant spread over the threads, and never sit with those of another', async () => {
  const { take, opened } = seatsWith({});
  const [a1, a2, a3] = await Promise.all([take('a').taking, take('a').taking, take('a').taking]);
  expect(new Set([a1.thread, a2.thread, a3.thread]).size).toBe(2);
  const b = take('b');
  await settled();
  expect(b.seat()).toBeUndefined();
  expect(b.reasons).toEqual(['processes: all 2 host processes serve other tenants']);
  for (const seat of [a1, a2, a3]) seat.release();
  const seated = await b.taking;
  expect([a1.thread, a2.thread]).not.toContain(seated.thread);
  expect(opened.length).toBe(3);
});

test('a machine that does not fit waits, is told why, and those with a seat are asked to give way', async () => {
  const { take, pressed } = seatsWith({ maxBytes: 2 * (100 * MiB + IMAGE) });
  const [first, second] = await Promise.all([take('a').taking, take('a').taking]);
  expect(pressed()).toBe(0);
  const third = take('a');
  await settled();
  expect(third.reasons).toEqual(['memory: 2 machines may come to 264 MiB of 264 MiB, and this one wants 132 MiB']);
  expect(pressed()).toBe(1);
  second.release();
  second.release();
  expect((await third.taking).thread).toBe(second.thread);
  const fourth = take('a');
  await settled();
  expect(fourth.seat()).toBeUndefined();
  first.release();
  await fourth.taking;
});

test('first come, first served: a small one does not overtake a large one that waits for memory', async () => {
  const { take } = seatsWith({ maxBytes: 1024 * MiB });
  const first = await take('a', 600).taking;
  const large = take('a', 600);
  const small = take('b', 10);
  await settled();
  expect([large.seat(), small.seat()]).toEqual([undefined, undefined]);
  first.release();
  await Promise.all([large.taking, small.taking]);
});

test('who waits for a thread of its tenant does not hold up another tenant', async () => {
  const { take } = seatsWith({ maxThreadBytes: 300 * MiB });
  const own = await Promise.all([take('a', 200).taking, take('b', 200).taking]);
  const blocked = take('a', 200);
  const other = take('b', 10);
  await Promise.all([other.taking]);
  expect(blocked.seat()).toBeUndefined();
  expect(blocked.reasons).toEqual(['memory: each host process may have machines of 300 MiB, and all are taken']);
  own[0].release();
  await blocked.taking;
});

test('what can never fit is refused at once', async () => {
  const { take } = seatsWith({ maxThreadBytes: 100 * MiB });
  await expect(take('a', 100).taking).rejects.toMatchObject({ code: 'resources_exhausted', hint: expect.any(String) });
});

test('an idle thread is ended, a dead one makes room', async () => {
  const { seats, take, opened } = seatsWith({ maxThreads: 1, idleMs: 5 });
  (await take('a').taking).release();
  await expect.poll(() => seats.threads).toBe(0);
  const seat = await take('a').taking;
  const waiting = take('b');
  await settled();
  opened[1]?.gone({ message: 'killed', suspect: undefined, brokeDown: true });
  expect(seat.thread.alive).toBe(false);
  expect((await waiting.taking).thread.alive).toBe(true);
});

test('a closed host seats nobody, not even those who wait', async () => {
  const { seats, take } = seatsWith({ maxThreads: 1 });
  await take('a').taking;
  const waiting = take('b');
  await settled();
  const refused = expect(waiting.taking).rejects.toMatchObject({ code: 'invalid_state' });
  await seats.close();
  await refused;
  await expect(take('a').taking).rejects.toMatchObject({ code: 'invalid_state' });
});

test('few programs are begun at the same time on a thread; one that rests, ends or takes long lets the next begin', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const { take } = seatsWith({ maxThreads: 1, maxThreadBytes: 4096 * MiB, maxBytes: 4096 * MiB });
    const [rests, ends, long] = await Promise.all([take('a').taking, take('a').taking, take('a').taking]);
    const line = [take('a'), take('a'), take('a'), take('a')];
    const seated = async () => {
      await settled();
      return line.filter(({ seat }) => seat()).length;
    };
    expect(await seated()).toBe(0);
    expect(line[0]?.reasons).toEqual(['processor: the programs before this one are begun first']);
    rests.setBusy(false);
    expect(await seated()).toBe(1);
    ends.release();
    expect(await seated()).toBe(2);
    rests.setBusy(true);
    line[0]?.seat()?.release();
    expect(await seated()).toBe(2);
    vi.advanceTimersByTime(1000);
    expect(await seated()).toBe(4);
    long.release();
    long.setBusy(true);
    expect(await seated()).toBe(4);
  } finally {
    vi.useRealTimers();
  }
});

test('a thread that is being prepared is given up to a tenant who needs it, which is no failure; that it dies is one', async () => {
  const given = seatsWith({ maxThreads: 1 });
  const filling = given.seats.fill('', (thread) => thread.prepare('cpython'));
  expect((await given.take('a').taking).thread.alive).toBe(true);
  await filling;
  const broken = seatsWith({ maxThreads: 1 });
  const failing = broken.seats.fill('', (thread) => thread.prepare('cpython'));
  broken.opened[0]?.gone({ message: 'it broke down', suspect: undefined, brokeDown: true });
  await expect(failing).rejects.toThrow('it broke down');
});
