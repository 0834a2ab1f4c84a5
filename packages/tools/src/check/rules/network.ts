/** What needs a network, where there is none. */
import type { ProgramFacts } from '../facts.ts';
import type { Found } from './found.ts';

export function networkFound({ network }: ProgramFacts): Found[] {
  return network.map(({ by, at }) => ({
    rule: 'no_network',
    severity: 'warning',
    at,
    message: `${by} will find no network here: have a tool fetch it, or give the task network access to the host.`,
  }));
}
