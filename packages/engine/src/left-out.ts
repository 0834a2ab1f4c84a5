/** Arguments that are not worth keeping: of a call that is refused before anybody has looked at them. */
import { createHash } from 'node:crypto';
import type { CallRow } from '@fermata/protocol';

/** So many characters are kept of any call. */
const KEPT = 1024;

/** What is kept in the place of arguments (as JSON), by which the same ones are known again. */
export function leftOut(args: string): string {
  if (args.length <= KEPT) return args;
  const sha256 = createHash('sha256').update(args).digest('hex');
  return JSON.stringify({ '(left out)': `${Buffer.byteLength(args)} bytes`, sha256 });
}

/** Whether it is the call that was recorded. `args` as JSON. */
export function isSameCall(before: Pick<CallRow, 'tool' | 'args'>, tool: string, args: string): boolean {
  return before.tool === tool && (before.args === args || before.args === leftOut(args));
}
