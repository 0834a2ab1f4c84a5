/**
 * The Worker side of a thread host: the machines of one thread, and its scheduler.
 *
 * Between turns it takes messages from the port without going back to the event loop, so a stop request reaches a busy
 * thread within one turn. Some machines of each image that was used are kept prepared; they hold nothing of any task.
 */

import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { ImageName } from '@fermata/protocol';
import type { GuestInstance } from '../wasm/guest-instance.ts';
import { Image } from '../wasm/image.ts';
import { Machine } from '../wasm/machine.ts';
import { Scheduler, underTimeout } from './scheduler.ts';
import { type FromThread, NEW_REPORT, plainError, type ToThread } from './thread-messages.ts';
import { turnMarker } from './turn-word.ts';
import { usableMemory } from './usable-memory.ts';
import type { WorkerData } from './worker-port.ts';

const PREPARED_PER_IMAGE = 2;
/** How much memory of machines that are gone is kept for those to come, and for how long when none come. */
const RETIRED_BYTES = Math.min(512 * 1024 * 1024, usableMemory() / 16);
const RETIRED_MS = 2000;
/** A thread that had nothing to do for so long makes machines in advance. */
const IDLE_MS = 20;
const INSPECT_MS = 2000;
/** What can be done between two turns, far from their timeout. */
const QUICK: readonly ToThread['op'][] = ['advance', 'stop', 'create', 'dispose'];

if (!parentPort) throw new Error('thread.js runs only as a Worker');
const port = parentPort;
const post = (message: FromThread) => port.postMessage(message);

const images = new Map<ImageName, Image>();
const prepared = new Map<ImageName, Machine[]>();
/** Of machines that are gone; to make a new one of an old instance is cheaper than to have the memory for another. */
const retired = new Map<ImageName, GuestInstance[]>();
let idle: NodeJS.Timeout | undefined;
let quiet: NodeJS.Timeout | undefined;
/** A message that came in the middle of a turn and has to wait for its end. */
let deferred: ToThread | undefined;
const { turn, mail } = workerData as WorkerData;
const posted = new Int32Array(mail);
const scheduler = new Scheduler(
  {
    emitted: (entry, emitted) => post({ kind: 'emitted', id: entry.id, emitted, report: scheduler.report(entry) }),
    outcome: (entry, outcome, emitted) => post({ kind: 'outcome', id: entry.id, outcome, emitted, report: scheduler.report(entry) }),
    lost: (entry, error) => post({ kind: 'lost', id: entry.id, error: plainError(error), report: scheduler.report(entry) }),
    between,
  },
  turnMarker(turn),
);

port.on('message', (message: ToThread) => {
  receive(message);
  while (scheduler.busy) {
    scheduler.turn();
    const left = deferred;
    deferred = undefined;
    if (left) receive(left);
    for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) receive(next.message);
  }
  prepareWhenIdle();
});

function between(lingerMs: number): boolean {
  const until = performance.now() + lingerMs;
  for (;;) {
    const seen = Atomics.load(posted, 0);
    const message = (receiveMessageOnPort(port) as { message: ToThread } | undefined)?.message;
    if (message && QUICK.includes(message.op)) receive(message);
    else if (message) {
      deferred = message;
      return false;
    } else if (scheduler.busy || performance.now() >= until) return true;
    else Atomics.wait(posted, 0, seen, until - performance.now());
  }
}

function receive(message: ToThread): void {
  try {
    const value = handle(message);
    if ('request' in message) post({ kind: 'answer', request: message.request, value });
  } catch (error) {
    if ('request' in message) post({ kind: 'refused', request: message.request, error: plainError(error) });
    else throw error;
  }
}

function handle(message: ToThread): unknown {
  switch (message.op) {
    case 'image':
      images.set(message.name, new Image(message.parts));
      return;
    case 'prepare':
      while (prepareOne(message.image));
      return;
    case 'create':
      return create(message);
    case 'restore': {
      const machine = Machine.restore(image(message.image), message.snapshot, message.open, () => take(message.image));
      const entry = scheduler.add(message.id, machine);
      return { limits: machine.limits, report: scheduler.report(entry), restored: { pending: machine.pending, waits: machine.waits, attachment: machine.attachment } };
    }
    case 'advance':
      return scheduler.advance(message.id, message.input, message.budget);
    case 'stop':
      return scheduler.stop(message.id);
    case 'checkpoint':
      return scheduler.get(message.id).machine.checkpoint(message.seal, message.ground);
    case 'snapshot':
      return scheduler.get(message.id).machine.snapshot(message.seal, message.attachment);
    case 'hash':
      return scheduler.get(message.id).machine.hash();
    case 'inspect':
      return scheduler.get(message.id).machine.inspect((look) => underTimeout(look, INSPECT_MS));
    case 'readFile':
      return scheduler.get(message.id).machine.readFile(message.path);
    case 'files':
      return scheduler.get(message.id).machine.workFiles();
    case 'dispose':
      return retire(message.id);
  }
}

function create({ id, image: name, limits }: Extract<ToThread, { op: 'create' }>): void {
  try {
    const machine = take(name);
    machine.setLimits(limits);
    scheduler.add(id, machine);
  } catch (error) {
    post({ kind: 'lost', id, error: plainError(error), report: NEW_REPORT });
  }
}

function image(name: ImageName): Image {
  const found = images.get(name);
  if (!found) throw new Error(`no image ${name}`);
  return found;
}

function take(name: ImageName): Machine {
  return prepared.get(name)?.pop() ?? make(name);
}

function make(name: ImageName): Machine {
  return Machine.fresh(image(name), {}, retired.get(name)?.pop());
}

function retire(id: number): void {
  const machine = scheduler.remove(id);
  const instance = machine?.retire();
  if (!machine || !instance) return;
  const name = machine.image.manifest.name as ImageName;
  const kept = retired.get(name) ?? [];
  retired.set(name, kept);
  const bytes = [...retired.values()].flat().reduce((sum, { memory }) => sum + memory.length, instance.memory.length);
  if (kept.length < PREPARED_PER_IMAGE || bytes <= RETIRED_BYTES) kept.push(instance);
}

function prepareWhenIdle(): void {
  clearTimeout(idle);
  clearTimeout(quiet);
  idle = setTimeout(prepareNext, IDLE_MS);
  quiet = setTimeout(() => retired.clear(), RETIRED_MS);
}

/** One machine at a time, so that a message never waits for more than one. */
function prepareNext(): void {
  for (const name of images.keys()) if (prepareOne(name)) return void setImmediate(prepareNext);
}

/** Whether one was missing and made. Where there is no memory, none is. */
function prepareOne(name: ImageName): boolean {
  const ready = prepared.get(name) ?? [];
  prepared.set(name, ready);
  if (ready.length >= PREPARED_PER_IMAGE) return false;
  try {
    ready.push(make(name));
    return true;
  } catch {
    return false;
  }
}
