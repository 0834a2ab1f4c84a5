/** All programs that a model wrote for a task, or a person made of them. */
import { isAuthored, type Store, type TaskRow } from '@fermata/protocol';
import type { ProgramVersion } from '../engine-api.ts';
import { bodyOf } from '../journal.ts';
import { readJournal } from '../replay.ts';

/** Oldest first. */
export async function programsOf(store: Store, row: TaskRow): Promise<ProgramVersion[]> {
  const programs: ProgramVersion[] = [];
  if (!isAuthored(row.request)) return programs;
  for await (const entry of readJournal(store, row)) {
    const program = bodyOf(entry, 'program');
    if (program) programs.push({ ...program, createdAt: entry.at });
  }
  return programs;
}
