/**
 * Drives a machine deterministically, so that two runs of one program can be compared: answers and times are functions
 * of the calls alone, and the first pending call is always answered first.
 */
import type { Machine } from '@fermata/machine';
import type { Call, CallResult, Input, Language, Outcome, Program, Value } from '@fermata/protocol';

export const SEED = new Uint8Array(32).fill(7);
const START_MS = Date.UTC(2026, 0, 2, 3, 4, 5);
const ANSWER_MS = 25;
/** As much as the fuel word holds with room for a refill. */
const ALL_FUEL = 2_000_000_000;

/** What a run comes to; two runs are identical if these are equal. */
export interface Ending {
  outcome: string;
  stdout: string;
  stderr: string;
  calls: number;
  fuel: number;
  hash: string;
}

/** What has to travel with a snapshot from one segment to the next. */
export interface Progress {
  stdout: string;
  stderr: string;
  nowMs: number;
}

export const newProgress = (): Progress => ({ stdout: '', stderr: '', nowMs: START_MS });

export function programOf(language: Language, code: string): Program {
  return { language, code, input: { n: 3 }, tools: TOOLS.map((name) => ({ name, parameters: null })) };
}

const TOOLS = ['echo', 'add', 'fail', 'group.twice'];

function answer({ name, args }: Call): CallResult {
  if (name === 'fail') return { error: { name: 'Refused', message: 'refused on purpose', data: args } };
  if (name === 'add') return { ok: Number(args.a) + Number(args.b) };
  if (name === 'group.twice') return { ok: [args, args] as Value };
  return { ok: args };
}

/** Runs on until the program ends, or has used `stopAt` fuel or a little more. Undefined: stopped. */
export function drive(machine: Machine, program: Program, progress: Progress, stopAt: number): Ending | undefined {
  for (;;) {
    const { waits } = machine;
    let input: Input = { kind: 'go' };
    if (waits.for === 'start') input = { kind: 'start', program, seed: SEED, nowMs: progress.nowMs };
    else if (waits.for === 'answer') {
      const [call] = machine.pending;
      progress.nowMs = call ? progress.nowMs + ANSWER_MS : Math.max(progress.nowMs, waits.dueMs ?? 0);
      input = call ? { kind: 'answer', callId: call.id, result: answer(call), nowMs: progress.nowMs } : { kind: 'timer', nowMs: progress.nowMs };
    }
    const outcome = machine.advance(input, Math.max(0, Math.min(ALL_FUEL, stopAt - machine.fuel)));
    for (const emission of outcome.emitted) if (emission.kind === 'output') progress[emission.chunk.stream] += Buffer.from(emission.chunk.bytes).toString('latin1');
    if (outcome.kind === 'slice-used' || outcome.kind === 'calls') {
      if (machine.fuel >= stopAt) return undefined;
      continue;
    }
    return ending(machine, outcome, progress);
  }
}

function ending(machine: Machine, outcome: Outcome, { stdout, stderr }: Progress): Ending {
  const { emitted: _, ...rest } = outcome;
  const text = JSON.stringify(rest, (_key, value) => (typeof value === 'bigint' ? `${value}n` : value));
  return { outcome: text, stdout, stderr, calls: machine.usage.calls, fuel: machine.fuel, hash: outcome.kind === 'limit' ? '' : machine.hash() };
}

/** The fields in which two endings differ, with both values cut short. */
export function differences(a: Ending, b: Ending): string[] {
  return (Object.keys(a) as (keyof Ending)[]).filter((key) => a[key] !== b[key]).map((key) => `${key}: ${String(a[key]).slice(-120)} <> ${String(b[key]).slice(-120)}`);
}
