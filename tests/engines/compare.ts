/** Sets a module's outcomes beside those of the reference. */
import type { ImageName } from '@fermata/protocol';
import type { Outcomes, TestOutcome } from './engine-tests.ts';
import { KNOWN_DIFFERENCES, type KnownDifference } from './known-differences.ts';

export interface Difference {
  id: string;
  reference: TestOutcome;
  machine: TestOutcome;
  /** Absent: nobody has explained it. */
  known?: KnownDifference;
}

const ABSENT: TestOutcome = { is: 'absent' };

/** Tests of either side that did not end alike, or that only one side has. */
export function compare(image: ImageName, reference: Outcomes, machine: Outcomes): Difference[] {
  const ids = new Set([...Object.keys(reference), ...Object.keys(machine)]);
  return [...ids].sort().flatMap((id) => {
    const pair = { id, reference: reference[id] ?? ABSENT, machine: machine[id] ?? ABSENT };
    if (pair.reference.is === pair.machine.is) return [];
    const known = KNOWN_DIFFERENCES[image].find((entry) => explains(entry, pair));
    return [known ? { ...pair, known } : pair];
  });
}

function explains({ id, machine, detail }: KnownDifference, difference: Difference): boolean {
  const fits = id === undefined || (typeof id === 'string' ? id === difference.id : id.test(difference.id));
  return fits && (machine === undefined || machine === difference.machine.is) && (detail === undefined || detail.test(difference.machine.detail ?? ''));
}
