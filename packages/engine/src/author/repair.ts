/** What is wrong with a program goes back to the model that wrote it. */
import { type AuthorFacts, complaint, cutStart, fenced, replyText, writingPrompt } from '@fermata/models/author';
import { type Authored, ERROR_CODES, type ErrorCode, type ModelMessage, type TaskFault } from '@fermata/protocol';
import { beginAnew } from '../endings.ts';
import type { CheckFinding } from '../engine-options.ts';
import type { LiveTask } from '../live-task.ts';
import type { KnownFault, Story } from './story.ts';

const REPAIRS = 3;
const MOST_PRINTED_CHARS = 2_000;
/** A person has decided; there is no room for another program; no program has what is not there. */
const FINAL = new Set(['approval_rejected', 'journal_limit', 'library_missing']);

/** Whether another program may do better: the fault is the program's own. */
export function isRepairable({ code }: TaskFault): boolean {
  const { class: of } = ERROR_CODES[code as ErrorCode] ?? {};
  return (of === 'guest' || of === 'limit') && !FINAL.has(code);
}

/** Records it, and has the task begin anew with the next program; false where that has happened as often as it may. */
export function goesBack(live: LiveTask, { repairs }: Story, error: TaskFault, { findings, printed }: { findings?: readonly CheckFinding[]; printed?: string }): boolean {
  const { authored, request } = live.row;
  if (repairs >= (request.model?.maxRepairs ?? REPAIRS)) return false;
  const more = { ...(findings?.length ? { findings } : {}), ...(printed ? { printed: cutStart(printed, MOST_PRINTED_CHARS) } : {}) };
  live.record('repair', { repair: repairs + 1, version: authored?.version ?? null, error, ...more });
  beginAnew(live);
  live.change({ authored: authored && { ...authored, stage: 'refused' }, step: 'repairing', line: null });
  return true;
}

/** The request for the next program: what was asked and written before, and what is wrong with it. */
export function messagesAfter({ written }: Story, fault: KnownFault, facts: AuthorFacts, authored: Authored | null): ModelMessage[] {
  // A fork has the program of its parent, and not what its model was asked.
  const before: ModelMessage[] = written
    ? [...written.ask.messages, { role: 'assistant', content: replyText(written.reply) }]
    : [...writingPrompt(facts), ...(authored ? [{ role: 'assistant' as const, content: fenced(authored) }] : [])];
  const edited = written && authored?.editedBy !== undefined && fault.error.code !== 'model_error' ? authored : undefined;
  return [...before, { role: 'user', content: complaint({ ...fault, edited }) }];
}
