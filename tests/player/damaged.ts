/** Snapshots that somebody has laid hands on: changed, cut, lengthened and made up bytes, the same ones at every run. */

/** How each one differs, and its bytes. `wanted` of them. */
export function* damaged(bytes: Uint8Array, wanted: number): Generator<{ how: string; bytes: Uint8Array }> {
  const random = generator(bytes.length);
  const place = () => random(bytes.length);
  const kinds: (() => { how: string; bytes: Uint8Array })[] = [
    () => {
      const at = place();
      return { how: `bit ${at}.${at & 7} turned over`, bytes: changedAt(bytes, at, (old) => old ^ (1 << (at & 7))) };
    },
    () => {
      const at = random(Math.min(64, bytes.length));
      return { how: `byte ${at} of the header is another`, bytes: changedAt(bytes, at, (old) => (old + 1 + random(255)) & 0xff) };
    },
    () => {
      const length = place();
      return { how: `cut to ${length} bytes`, bytes: bytes.slice(0, length) };
    },
    () => {
      const more = 1 + random(100);
      return { how: `${more} bytes more`, bytes: Buffer.concat([bytes, new Uint8Array(more)]) };
    },
    () => {
      const at = place();
      return { how: `the parts before and from ${at} exchanged`, bytes: Buffer.concat([bytes.slice(at), bytes.slice(0, at)]) };
    },
    () => ({ how: 'noise', bytes: Uint8Array.from({ length: random(5000) }, () => random(256)) }),
  ];
  for (let i = 0; i < wanted; i++) {
    const one = (kinds[i % kinds.length] as (typeof kinds)[0])();
    if (!Buffer.from(one.bytes).equals(bytes)) yield one;
  }
}

function changedAt(bytes: Uint8Array, at: number, change: (old: number) => number): Uint8Array {
  const copy = bytes.slice();
  copy[at] = change(copy[at] as number);
  return copy;
}

/** A small generator of numbers below `limit`; good enough to spread damage. */
function generator(seed: number): (limit: number) => number {
  let state = seed | 1;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}
