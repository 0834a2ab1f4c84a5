/** Whether to check a program at all. Apart from the check itself, so that nothing of it is loaded where it would find nothing. */

/** What a task may do; see API `tool_constraints`. */
export interface CodeConstraints {
  /** Modules that the program may import, and what is in them. Absent: all. */
  allowedLibraries?: readonly string[];
  /** Modules without which the program is not to be run. */
  requiredLibraries?: readonly string[];
  /** Programs that must not be started, by name. */
  blockedCommands?: readonly string[];
  strict?: boolean;
}

/** Words without which nothing can be found in a program that has no constraints. */
const TELLING =
  /\btools\b|\bfetch\b|XMLHttpRequest|WebSocket|EventSource|child_process|subprocess|\bos\b|\bpty\b|socket|urllib|http|requests|aiohttp|ftplib|smtplib|poplib|imaplib/;

/** Whether the check of this program could find anything that is told about a task. */
export function isWorthChecking(code: string, { allowedLibraries, requiredLibraries, blockedCommands, strict }: CodeConstraints): boolean {
  return allowedLibraries !== undefined || Boolean(requiredLibraries?.length) || Boolean(blockedCommands?.length) || Boolean(strict) || TELLING.test(code);
}
