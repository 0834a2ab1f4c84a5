/**
 * The main script of a child process: one Worker with machines, and the way between it and the parent.
 *
 * It reads images from the cache, writes nothing, and ends when the parent is gone. Its heart beats in this thread, which
 * does nothing else, so a silent one means that the process is stuck.
 */
import { loadImage } from '../wasm/image-store.ts';
import type { FromChild, ToChild } from './child-messages.ts';
import { plainError } from './thread-messages.ts';
import { newTurnWord } from './turn-word.ts';
import { type LoadImage, WorkerPort } from './worker-port.ts';

const BEAT_MS = 250;
/** The descriptor on which the parent gave the file of the turn word. */
export const TURN_FILE = 4;

const [cacheDir] = process.argv.slice(2);
const images = new Map<string, ReturnType<LoadImage>>();
const load: LoadImage = (name) => {
  const loading = images.get(name) ?? loadImage(name, cacheDir);
  images.set(name, loading);
  return loading;
};

function tell(message: FromChild): void {
  // The parent may be gone by now; then so are we, by 'disconnect'.
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

const port = new WorkerPort(
  load,
  {
    message: (message) => tell({ from: 'thread', message }),
    gone: ({ message }) => {
      tell({ from: 'child', threadGone: message });
      process.exitCode = 1;
      process.disconnect?.();
    },
  },
  newTurnWord(TURN_FILE),
);
port.hold(true);

process.on('message', (message: ToChild) => {
  if (message.to === 'thread') return port.send(message.message);
  port.give(message.give).then(
    () => tell({ from: 'child', given: message.give, error: undefined }),
    (error: unknown) => tell({ from: 'child', given: message.give, error: plainError(error) }),
  );
});
process.on('disconnect', () => process.exit());
setInterval(() => tell({ from: 'child', beat: true, turnMs: port.turn?.sinceMs ?? 0 }), BEAT_MS);
