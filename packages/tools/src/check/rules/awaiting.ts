/** Tool calls whose results nothing waits for. */
import type { ProgramFacts } from '../facts.ts';
import type { Found } from './found.ts';

export function awaitingFound({ toolCalls }: ProgramFacts): Found[] {
  return toolCalls
    .filter(({ unawaited }) => unawaited)
    .map(({ path, at }) => ({ rule: 'not_awaited', severity: 'warning', at, message: `The call of tools.${path} is not awaited: write \`await tools.${path}(...)\`.` }));
}
