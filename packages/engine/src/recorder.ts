/**
 * Writes down what comes out of a machine: output, calls and notes, as changes of its task.
 *
 * A machine that comes back from a checkpoint emits again what is written already. That is known by its place, and is not
 * written a second time; a call that is another one than before is `replay_diverged`.
 */
import { type Emission, type HostedMachine, toWire } from '@fermata/protocol';
import type { CallDesk } from './call-desk.ts';
import type { KnownCalls } from './known-calls.ts';
import type { LiveTask } from './live-task.ts';
import { wireOfOutput } from './output-text.ts';

/** Output is durable, and so visible, no later than this. */
const OUTPUT_DELAY_MS = 50;
const PROGRESS_DELAY_MS = 500;

export interface RecorderOptions {
  flushSoon: (ms: number) => void;
  /** Told what passes and is not kept. */
  tell: (kind: string, data: unknown) => void;
  /** The program has asked for one. */
  askForCheckpoint: () => void;
}

type Note = Extract<Emission, { kind: 'note' }>['note'];

export class Recorder {
  readonly #desk: CallDesk;
  readonly #live: LiveTask;
  readonly #known: KnownCalls;
  readonly #machine: HostedMachine;
  readonly #options: RecorderOptions;
  #emitted: { outputBytes: number; calls: number; notes: number };
  #bytes = 0;

  /** `emitted`: what has come out of the machine before. */
  constructor(desk: CallDesk, live: LiveTask, known: KnownCalls, machine: HostedMachine, emitted: { outputBytes: number; calls: number; notes: number }, options: RecorderOptions) {
    this.#desk = desk;
    this.#live = live;
    this.#known = known;
    this.#machine = machine;
    this.#emitted = { ...emitted };
    this.#options = options;
  }

  /** What has come out of the machine. */
  get emitted(): { outputBytes: number; calls: number; notes: number } {
    return { ...this.#emitted };
  }
  /** Written down here, about. */
  get bytes(): number {
    return this.#bytes;
  }

  take(emitted: readonly Emission[]): void {
    for (const emission of emitted) {
      if (emission.kind === 'output') this.#output(emission.chunk);
      else if (emission.kind === 'call') this.#call(emission.call);
      else {
        this.#emitted.notes++;
        if (this.#emitted.notes > this.#live.row.mark.notes) this.#note(emission.note);
      }
    }
    const { position } = this.#machine.report;
    if (position) this.#options.tell('position', position);
  }

  #output({ stream, offset: place, bytes }: Extract<Emission, { kind: 'output' }>['chunk']): void {
    const live = this.#live;
    const offset = place - (live.row.origin?.outputBytes ?? 0);
    this.#emitted.outputBytes = offset + bytes.length;
    const known = Math.max(0, live.row.mark.outputBytes - offset);
    if (known >= bytes.length) return;
    const fresh = bytes.subarray(known);
    this.#bytes += fresh.length;
    live.record('output', { stream, offset: offset + known, ...wireOfOutput(fresh) });
    live.change({ mark: { ...live.row.mark, outputBytes: offset + bytes.length } });
    this.#options.flushSoon(OUTPUT_DELAY_MS);
  }

  #call(made: Extract<Emission, { kind: 'call' }>['call']): void {
    this.#emitted.calls++;
    const call = this.#known.accept(made, (n, known) => this.#desk.accept(this.#live, { ...made, id: n }, known));
    if (!call) return;
    this.#bytes += call.args.length;
    this.#desk.performReady(this.#live);
    if (call.status === 'waiting') this.#options.flushSoon(OUTPUT_DELAY_MS);
  }

  #note(note: Note): void {
    const live = this.#live;
    live.change({ mark: { ...live.row.mark, notes: this.#emitted.notes } });
    switch (note.note) {
      case 'step':
        live.record('step', { name: note.name });
        live.change({ step: note.name });
        this.#options.flushSoon(OUTPUT_DELAY_MS);
        break;
      case 'step_result':
        live.record('step_result', { name: note.name, value: toWire(note.value) });
        break;
      case 'progress':
        live.change({ progress: note.value });
        this.#options.tell('progress', { value: note.value });
        this.#options.flushSoon(PROGRESS_DELAY_MS);
        break;
      case 'finding':
        live.record('finding', { message: note.message, line: note.line });
        break;
      case 'checkpoint':
        this.#options.askForCheckpoint();
        break;
    }
  }
}
