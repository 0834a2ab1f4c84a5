/** The clock of a machine: it never goes back, it moves with fuel, and a saved clock goes on. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BOOT_MS, VirtualClock } from '../src/wasm/virtual-clock.ts';

const nsPerFuel = fc.oneof(fc.constantFrom(0, 1, 3.7, 25, 1e6), fc.double({ min: 0.001, max: 1000, noNaN: true }));
const nowMs = fc.oneof(fc.integer({ min: 0, max: 4e12 }), fc.double({ min: 1.7e12, max: 1.9e12, noNaN: true }));
const step = fc.record({ fuel: fc.nat(1e9), anchorMs: fc.option(nowMs) });

test('no clock ever goes back, whatever anchors are set', () => {
  fc.assert(
    fc.property(nsPerFuel, nowMs, fc.array(step, { maxLength: 20 }), (rate, startMs, steps) => {
      const clock = new VirtualClock(rate);
      clock.start(startMs, 0);
      let fuel = 0;
      let last = [clock.realtimeNs(0), clock.monotonicNs(0), clock.cpuNs(0)] as const;
      for (const { fuel: used, anchorMs } of steps) {
        fuel += used;
        const before = [clock.realtimeNs(fuel), clock.monotonicNs(fuel), clock.cpuNs(fuel)] as const;
        if (anchorMs !== null) clock.anchor(anchorMs, fuel);
        const after = [clock.realtimeNs(fuel), clock.monotonicNs(fuel), clock.cpuNs(fuel)] as const;
        for (const i of [0, 1, 2] as const) {
          expect(before[i]).toBeGreaterThanOrEqual(last[i]);
          expect(after[i]).toBeGreaterThanOrEqual(before[i]);
        }
        last = after;
      }
    }),
    { numRuns: 1000 },
  );
});

test('an anchor in the future moves the clock there, one in the past holds it', () => {
  const clock = new VirtualClock(1000);
  clock.start(5000, 0);
  clock.anchor(9000, 10);
  expect(clock.realtimeNs(10)).toBe(9_000_000_000n);
  clock.anchor(1000, 10);
  expect(clock.realtimeNs(10)).toBe(9_000_000_000n);
});

test('time passes with fuel at the constant rate, and monotonic time starts at one second', () => {
  const clock = new VirtualClock(25);
  expect(clock.realtimeNs(0)).toBe(BigInt(BOOT_MS) * 1_000_000n);
  clock.start(5000.9, 100);
  expect(clock.monotonicNs(100)).toBe(1_000_000_000n);
  expect(clock.realtimeNs(104)).toBe(5_000_000_100n);
  expect(clock.cpuNs(104)).toBe(2600n);
});

test('a clock made from a saved state goes on as the first one would have', () => {
  fc.assert(
    fc.property(nsPerFuel, nowMs, nowMs, fc.nat(1e9), fc.nat(1e9), (rate, startMs, anchorMs, fuel, more) => {
      const first = new VirtualClock(rate);
      first.start(startMs, 0);
      first.anchor(anchorMs, fuel);
      const second = new VirtualClock(rate, first.state);
      expect(second.realtimeNs(fuel + more)).toBe(first.realtimeNs(fuel + more));
      expect(second.monotonicNs(fuel + more)).toBe(first.monotonicNs(fuel + more));
    }),
  );
});
