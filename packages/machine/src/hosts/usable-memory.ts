import { totalmem } from 'node:os';

/** Bytes that the operating system, or the container, lets this process have. */
export function usableMemory(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}
