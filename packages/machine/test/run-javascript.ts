/** Runs a JavaScript program in a machine of its own, answering its calls in the order in which they were started. */
import type { Call, CallResult, Input, Note, Outcome, Program, Value } from '@fermata/protocol';
import { loadImage } from '../src/wasm/image-store.ts';
import { Machine } from '../src/wasm/machine.ts';

export const START_MS = Date.UTC(2025, 5, 1, 12);
export const image = await loadImage('quickjs');

/** A tool gets the arguments and returns its value, or throws. */
export type TestTool = { parameters?: string[]; call: (args: Record<string, Value>) => Value };
export interface RunOptions extends Partial<Omit<Program, 'tools'>> {
  with?: Record<string, TestTool>;
  fuel?: (step: number) => number;
  /** Called wherever the machine has stopped; gives the machine to go on with. */
  onStop?: (machine: Machine) => Machine;
  machine?: Machine;
}
export interface Ran {
  outcome: Outcome;
  stdout: string;
  stderr: string;
  notes: Note[];
  calls: Call[];
  waitedMs: number;
  machine: Machine;
}

export const echo: TestTool = { call: (args) => args };

export function runJavaScript(code: string, options: RunOptions = {}): Ran {
  const { with: tools = {}, fuel = () => 1e9, onStop = (machine) => machine, machine: given, ...program } = options;
  let machine = given ?? Machine.fresh(image);
  const named = Object.entries(tools).map(([name, { parameters }]) => ({ name, parameters: parameters ?? null }));
  const texts = { stdout: '', stderr: '' };
  const notes: Note[] = [];
  const calls: Call[] = [];
  let nowMs = START_MS;
  let input: Input = { kind: 'start', program: { language: 'javascript', code, ...program, tools: named }, seed: new Uint8Array(32).fill(7), nowMs };
  for (let step = 0; ; step++) {
    const outcome = machine.advance(input, fuel(step));
    for (const emission of outcome.emitted) {
      if (emission.kind === 'output') texts[emission.chunk.stream] += Buffer.from(emission.chunk.bytes).toString();
      else if (emission.kind === 'note') notes.push(emission.note);
      else calls.push(emission.call);
    }
    if (outcome.kind !== 'slice-used' && outcome.kind !== 'calls') return { outcome, ...texts, notes, calls, waitedMs: nowMs - START_MS, machine };
    machine = onStop(machine);
    if (outcome.kind === 'slice-used') {
      input = { kind: 'go' };
      continue;
    }
    const call = calls.find(({ id }) => id === outcome.pending[0]);
    nowMs = call ? nowMs + 1 : Math.max(nowMs, outcome.dueMs ?? Number.NaN);
    input = call ? { kind: 'answer', callId: call.id, result: answer(tools[call.name], call), nowMs } : { kind: 'timer', nowMs };
  }
}

function answer(tool: TestTool | undefined, { args }: Call): CallResult {
  if (!tool) return { error: { name: 'UnknownTool', message: 'there is no such tool' } };
  try {
    return { ok: tool.call(args) };
  } catch (error) {
    const { name, message, data } = error as Error & { data?: Value };
    return { error: { name, message, ...(data === undefined ? {} : { data }) } };
  }
}

export function resultOf(code: string, options?: RunOptions): Value {
  const { outcome } = runJavaScript(code, options);
  if (outcome.kind !== 'done') throw new Error(`the program ended as ${outcome.kind}: ${'error' in outcome ? outcome.error?.traceback : ''}`);
  return outcome.value;
}

export function errorOf(code: string, options?: RunOptions) {
  const { outcome } = runJavaScript(code, options);
  if (outcome.kind !== 'failed') throw new Error(`the program ended as ${outcome.kind}`);
  return outcome.error;
}
