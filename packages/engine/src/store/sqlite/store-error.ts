/** What went wrong in SQLite or the file system, as an error of ours that says what to do. */
import { FermataError } from '@fermata/protocol';

const FULL = 13;
const WORDS: Record<number, { text: string; hint: string }> = {
  5: { text: 'another program holds the database', hint: 'end the program that has the file open' },
  6: { text: 'another program holds the database', hint: 'end the program that has the file open' },
  8: { text: 'the database cannot be written', hint: 'check the rights of the data folder and whether its disk is mounted for writing' },
  10: { text: 'the disk gave an error', hint: "check the disk and the system's log; what was committed before is kept" },
  11: { text: 'the database is damaged', hint: 'move the folder away and restore the last backup' },
  [FULL]: { text: 'the disk is full', hint: 'make room on the disk of the data folder; then what failed can be tried again' },
  14: { text: 'the database cannot be opened', hint: 'check the path and the rights of the data folder' },
  26: { text: 'the file is not a database', hint: 'move the folder away and restore the last backup' },
};
const FILE_WORDS: Record<string, number> = { ENOSPC: FULL, EDQUOT: FULL, EIO: 10, EACCES: 14, EPERM: 14, EROFS: 8, ENOENT: 14, ENOTDIR: 14 };
/** TOOBIG, CONSTRAINT, MISMATCH, RANGE: about the values that one call brought. */
const OF_THE_CALL = new Set([18, 19, 20, 25]);

/** SQLite's primary result code, if it is an error of SQLite. */
function resultCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

/** Whether others that are in the same transaction need not care. */
export function isOfTheCall(error: unknown): boolean {
  const code = resultCode(error);
  return code === undefined || OF_THE_CALL.has(code);
}

export function storeError(error: unknown, place: string): FermataError {
  if (error instanceof FermataError) return error;
  const said = error instanceof Error ? error.message : String(error);
  const fileCode = error instanceof Error && 'code' in error ? FILE_WORDS[String(error.code)] : undefined;
  const words = WORDS[resultCode(error) ?? fileCode ?? -1];
  if (!words) return new FermataError('store_failed', `${place}: ${said}`, { cause: error });
  return new FermataError('store_failed', `${place}: ${words.text} (${said})`, { hint: words.hint, cause: error });
}
