/** Who makes a request, and what they may do. */
import { FermataError } from '@fermata/protocol';

/** `read`: look. `run`: start and control tasks, answer client tools. `approve`: decide on calls. `admin`: all, and tools, webhooks, purging. */
export const SCOPES = ['read', 'run', 'approve', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

export interface Caller {
  tenant: string;
  scopes: readonly Scope[];
  /** For the journal. */
  by: string;
}

export function may(caller: Caller, scope: Scope): boolean {
  return caller.scopes.includes(scope) || caller.scopes.includes('admin');
}

/** Throws `forbidden`. */
export function mustHave(caller: Caller, scope: Scope): void {
  if (may(caller, scope)) return;
  throw new FermataError('forbidden', `this needs the scope ${scope}, and the key has ${caller.scopes.join(', ') || 'none'}`, { hint: `Use a key with the scope ${scope}.` });
}
