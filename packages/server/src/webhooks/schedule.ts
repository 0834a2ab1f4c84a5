/** When a webhook that was not taken is tried again: 5 s later, then after three times as long each time, 4 h at most, for about a day. */
const FIRST_MS = 5_000;
const FACTOR = 3;
const LONGEST_MS = 4 * 3_600_000;
const MAX_TRIES = 14;
/** An endpoint may ask for more time, but not for more than this. */
const LONGEST_ASKED_MS = 3_600_000;

/** Milliseconds until the next try; undefined when it is over. `tries`: those that were made. `random`: 0 to 1. */
export function nextTryIn(tries: number, random: number, askedMs = 0): number | undefined {
  if (tries >= MAX_TRIES) return undefined;
  const plain = Math.min(FIRST_MS * FACTOR ** (tries - 1), LONGEST_MS);
  return Math.round(Math.max(plain * (0.9 + 0.2 * random), Math.min(askedMs, LONGEST_ASKED_MS)));
}
