/** Sets a module's outcomes beside those of the reference. */
import type { Outcomes, TestOutcome } from './engine-tests.ts';
import type { KnownDifference } from './known-differences.ts';

export interface Difference {
  id: string;
  reference: TestOutcome;
  machine: TestOutcome;
  /** Absent: nobody has explained it. */
  known?: KnownDifference;
}

const ABSENT: TestOutcome = { is: 'absent' };

/** Tests of either side that did not end alike, or that only one side has. */
export function compare(explanations: readonly KnownDifference[], module: string, reference: Outcomes, machine: Outcomes): { tests: number; differences: Difference[] } {
  const ids = new Set([...Object.keys(reference), ...Object.keys(machine)].filter((id) => !isFixture(id)));
  const differences = [...ids].sort().flatMap((id): Difference[] => {
    const pair = { id, reference: outcomeOf(reference, id, module), machine: outcomeOf(machine, id, module) };
    if (pair.reference.is === pair.machine.is) return [];
    const known = explanations.find((entry) => explains(entry, pair));
    return [known ? { ...pair, known } : pair];
  });
  return { tests: ids.size, differences };
}

/** A test that was not run is what the fixture of its class or module came to, or the file as a whole. */
function outcomeOf(outcomes: Outcomes, id: string, module: string): TestOutcome {
  const own = outcomes[id];
  if (own) return own;
  const fixture = Object.keys(outcomes).find((name) => isFixture(name) && `${id}.`.startsWith(`${placeOf(name)}.`));
  return outcomes[fixture ?? module] ?? ABSENT;
}

/** What stands for tests that could not be run: their class, their module, or a module that could not be imported. */
const FIXTURE = /^(?:setUpClass|tearDownClass|setUpModule|tearDownModule|module) \((.*)\)|^unittest\.loader\.(?:ModuleSkipped|_FailedTest)\.(?:test\.)?(.*)/;
const isFixture = (id: string) => FIXTURE.test(id);

function placeOf(fixture: string): string {
  const [, named, module] = FIXTURE.exec(fixture) ?? [];
  return named ?? `test.${module}`;
}

function explains({ id, reference, machine, detail }: KnownDifference, difference: Difference): boolean {
  const fits = id === undefined || (typeof id === 'string' ? id === difference.id : id.test(difference.id));
  return (
    fits &&
    (reference === undefined || reference === difference.reference.is) &&
    (machine === undefined || machine === difference.machine.is) &&
    (detail === undefined || detail.test(difference.machine.detail ?? ''))
  );
}
