/**
 * Judging by somebody else's schemas and rules: patterns and branches of theirs may have been made to take for ever. One
 * judgement has so much time in all, whatever it is made up of. The clock shows time that passes; where others want the processor, a
 * judgement that had little of it gets another try.
 */
import { Script } from 'node:vm';

/** Of one judgement. */
export const JUDGING_MS = 250;

export class TookTooLong extends Error {
  override readonly name = 'TookTooLong';
}

const JUDGEMENT = Symbol.for('fermata.judgement');
const script = new Script(`globalThis[Symbol.for('${JUDGEMENT.description}')]()`, { filename: 'fermata-judgement' });

const MOST_TRIES = 4;

/**
 * What `judge` comes to, which may be broken off and begun again; throws {@link TookTooLong} where that is not known in time. To arm
 * it costs more than a plain check.
 */
export function inTime<T>(judge: () => T, ms = JUDGING_MS): T {
  for (let tries = 1; ; tries++) {
    const began = cpuNowMs();
    try {
      return underClock(judge, ms);
    } catch (error) {
      if (!(error instanceof TookTooLong) || tries === MOST_TRIES || cpuNowMs() - began >= ms / 2) throw error;
    }
  }
}

/** Processor time of this thread, where Node can tell it; else every judgement has one try. */
function cpuNowMs(): number {
  const usage = process.threadCpuUsage?.();
  return usage ? (usage.user + usage.system) / 1000 : performance.now();
}

function underClock<T>(judge: () => T, ms: number): T {
  // Only a script can be given a timeout, so the call goes through a global.
  let outcome: { value: T } | { thrown: unknown } | undefined;
  (globalThis as Record<symbol, unknown>)[JUDGEMENT] = () => {
    try {
      outcome = { value: judge() };
    } catch (thrown) {
      outcome = { thrown };
    }
  };
  try {
    script.runInThisContext({ timeout: ms, displayErrors: false });
  } catch (cause) {
    throw new TookTooLong(`it took more than ${ms} ms`, { cause });
  } finally {
    delete (globalThis as Record<symbol, unknown>)[JUDGEMENT];
  }
  if (outcome && 'value' in outcome) return outcome.value;
  throw outcome?.thrown;
}
