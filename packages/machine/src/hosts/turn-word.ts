/**
 * Which machine has its turn, in memory that outlives the Worker: whoever finds the Worker dead learns whose turn it was.
 *
 * A Worker shares the word with its process. The word of a child process is in a file that the parent has open, too,
 * because a child that breaks down can tell nobody.
 */
import { readSync, writeSync } from 'node:fs';

export interface TurnWord {
  /** [id of the machine, or 0; milliseconds since the Worker's process began at which the turn started] */
  shared: SharedArrayBuffer;
  /** File descriptor of the word that the parent process reads; absent in a thread of the user's own process. */
  file: number | undefined;
}

export function newTurnWord(file?: number): TurnWord {
  return { shared: new SharedArrayBuffer(8), file };
}

/** Marks the turns of a Worker. */
export function turnMarker({ shared, file }: TurnWord): (machine: number) => void {
  const word = new Int32Array(shared);
  const bytes = new Int32Array(1);
  return (machine) => {
    Atomics.store(word, 1, Math.round(performance.now()));
    Atomics.store(word, 0, machine);
    if (file === undefined) return;
    bytes[0] = machine;
    writeSync(file, bytes, 0, 4, 0);
  };
}

/** Whose turn it is, if it is any machine's, and for how long. */
export function currentTurn({ shared }: TurnWord): { machine: number; sinceMs: number } | undefined {
  const word = new Int32Array(shared);
  const machine = Atomics.load(word, 0);
  return machine === 0 ? undefined : { machine, sinceMs: performance.now() - Atomics.load(word, 1) };
}

/** What a child process wrote to its word before it died. */
export function turnInFile(file: number): number | undefined {
  const bytes = new Int32Array(1);
  return readSync(file, bytes, 0, 4, 0) === 4 && bytes[0] !== 0 ? bytes[0] : undefined;
}
