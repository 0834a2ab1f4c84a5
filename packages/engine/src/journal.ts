/**
 * The journal of a task: numbered entries, each chained to the one before it by its hash, so that none can be changed, left
 * out or added between two others unseen.
 */
import { createHash } from 'node:crypto';
import { type Entry, FermataError, type Language, type ModelFunction, type ModelMessage, type ModelReply, type TaskFault, type ToolName } from '@fermata/protocol';
import type { CheckFinding } from './engine-options.ts';

/** What a model is asked for; the task's current step meanwhile. */
export type AskPhase = 'generating code' | 'repairing' | 'answering';

/** What entries tell, by kind. All of it is JSON; values are in their wire form. */
export interface EntryBodies {
  submitted: { request: unknown; by: string | null; fork_of?: unknown };
  /** A worker has taken the task. */
  leased: { epoch: number; worker: string; attempt: number; checkpoint_id: string | null };
  /** The program begins, from its start, at this time of its clock. */
  /** `tools`: those that the program was told of; a replay tells it of the same. */
  begun: { attempt: number; now_ms: number; image: string; tools?: ToolName[] };
  /** `rule`: the one of policy that has decided. */
  call: {
    call_id: string;
    n: number;
    tool: string;
    arguments: unknown;
    decision: 'allow' | 'deny' | 'wait' | 'known';
    waits_for?: string;
    rule?: string;
    reason?: string;
    expires_at?: number;
  };
  decided: { call_id: string; decision: unknown; by: string };
  call_started: { call_id: string; n: number; try: number };
  call_retry: { call_id: string; n: number; error: unknown; not_before: number };
  call_unknown: { call_id: string; n: number };
  call_settled: { call_id: string; n: number; result: unknown; by: string };
  /** The program was given the result of a call, at this time of its clock. */
  delivered: { n: number; now_ms: number };
  /** The program was told that the time it waits for has come. */
  timer: { now_ms: number };
  output: { stream: 'stdout' | 'stderr'; offset: number; text?: string; base64?: string };
  step: { name: string };
  step_result: { name: string; value: unknown };
  /** Of the program while it runs, or before that with its rule and severity. */
  finding: { message: string; line: number | null; column?: number; rule?: string; severity?: 'error' | 'warning' };
  asked: { desired: string; by: string | null };
  checkpoint: { checkpoint_id: string; reason: string; bytes: number; seq: number };
  checkpoint_failed: { message: string; code: string };
  waiting: { checkpoint_id: string; timer_at: number | null };
  queued: { reason: string };
  paused: { checkpoint_id: string | null; reason: string };
  /** `anew`: the program begins from its start. */
  retry: { attempt: number; not_before: number; error: unknown; anew: boolean };
  /** A model is asked for a program or an answer; `messages` and `functions` are all that it is told. */
  model_asked: { n: number; phase: AskPhase; model: string; messages: readonly ModelMessage[]; functions: readonly ModelFunction[] };
  model_replied: { n: number } & ModelReply;
  /** The answer could not be asked for; the program's result stands without it. */
  model_failed: { n: number; error: unknown };
  /** `by`: the model, or who has changed what it wrote. */
  program: { version: number; language: Language; code: string; by: string };
  /** What is wrong goes back to the model: with the program of this version, or with a reply that had none. */
  repair: { repair: number; version: number | null; error: TaskFault; findings?: readonly CheckFinding[]; printed?: string };
  /** So many tokens are spent; the task is paused. */
  over_budget: { tokens: number; max_tokens: number };
  /** The program has its result; the model is asked for the answer next. */
  returned: { output: unknown };
  /** `answer`: of an instruction. */
  succeeded: { output: unknown; answer?: string | null };
  failed: { error: unknown };
  cancelled: { by: string | null };
}
export type EntryKind = keyof EntryBodies;

/** What its body says. */
export function bodyOf<K extends EntryKind>(entry: Entry, kind: K): EntryBodies[K] | undefined {
  return entry.kind === kind ? (JSON.parse(entry.body) as EntryBodies[K]) : undefined;
}

/** What an entry takes besides its body, about. */
const ENTRY_BYTES = 128;

/** What an entry counts for in the limit of a journal. */
export function entryBytes({ body }: Pick<Entry, 'body'>): number {
  return ENTRY_BYTES + Buffer.byteLength(body);
}

export function nextEntry(before: { seq: number; hash: string }, at: number, kind: string, body: unknown): Entry {
  const unhashed = { seq: before.seq + 1, at, kind, body: JSON.stringify(body) };
  return { ...unhashed, hash: hashOf(before.hash, unhashed) };
}

function hashOf(before: string, { seq, at, kind, body }: Omit<Entry, 'hash'>): string {
  return createHash('sha256').update(`${before}\n${seq}\n${at}\n${kind}\n${body}\n`).digest('hex');
}

/** Throws `checkpoint_invalid` at the first entry that does not follow from the one before it. */
export function verifyChain(entries: readonly Entry[], before: { seq: number; hash: string } = { seq: 0, hash: '' }): void {
  for (const entry of entries) {
    if (entry.seq !== before.seq + 1 || entry.hash !== hashOf(before.hash, entry)) {
      throw new FermataError('checkpoint_invalid', `the journal does not hold at entry ${before.seq + 1}: it was changed, or an entry is missing`);
    }
    before = entry;
  }
}
