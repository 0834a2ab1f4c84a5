/** The program of an instruction, shown to a person before it runs: a call that waits for a review, which no program has made. */
import { type Authored, type CallRow, FermataError, type Language } from '@fermata/protocol';
import { callIdOf } from '../call-desk.ts';
import { resultOf } from '../call-result.ts';
import type { LiveTask } from '../live-task.ts';

const PLAN = 'plan';
const LANGUAGES: readonly unknown[] = ['python', 'javascript', 'typescript'];

interface Plan {
  language: Language;
  code: string;
}

/** Numbers below zero are those of plans; programs' own calls count from 1. */
export const isPlan = ({ n }: Pick<CallRow, 'n'>) => n < 0;

/** The review of this version, asked for if it was not before. */
export function planOf(live: LiveTask, { version, language, code }: Authored, now: number): CallRow {
  const known = live.call(-version);
  if (known) return known;
  const [n, callId, value] = [-version, callIdOf(live.ref, -version), { language, code }];
  live.record('call', { call_id: callId, n, tool: PLAN, arguments: { value }, decision: 'wait', waits_for: 'review' });
  return live.putCall({
    ...{ n, callId, tool: PLAN, args: JSON.stringify({ value }), editedArgs: null, status: 'waiting', waitsFor: 'review', expiresAt: null, notBefore: null },
    ...{ tries: 0, result: null, delivered: false, createdAt: now, settledAt: null, by: null, decision: null },
  });
}

/** What a person has made of it; undefined where the plan was rejected, for the reason. */
export function decidedPlan(call: CallRow): { plan: Plan } | { rejected: string } {
  const result = resultOf(call);
  if ('error' in result) return { rejected: result.error.message };
  return { plan: result.ok as unknown as Plan };
}

/** Throws `invalid_request` for what a person cannot put in the place of a plan. */
export function checkPlan(value: unknown): void {
  const { language, code } = (value ?? {}) as Partial<Plan>;
  if (LANGUAGES.includes(language) && typeof code === 'string' && code.trim() !== '') return;
  throw new FermataError('invalid_request', 'the value of a plan is { "language": "python" | "javascript" | "typescript", "code": "<the program>" }');
}
