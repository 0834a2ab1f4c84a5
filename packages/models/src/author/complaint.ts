/** What is wrong with a program, as its author is told. */
import type { TaskFault } from '@fermata/protocol';
import { cutStart, cutText } from './cut-text.ts';
import { type FoundProgram, fenced } from './read-reply.ts';

export interface Fault {
  error: TaskFault;
  /** Of the check, where that has refused the program. */
  findings?: readonly { rule: string; severity: string; line: number; column: number; message: string }[] | undefined;
  /** The end of what it has printed. */
  printed?: string | undefined;
  /** What a person has made of the program before it ran. */
  edited?: FoundProgram | undefined;
}

const MOST_MESSAGE_CHARS = 2_000;
const MOST_TRACEBACK_CHARS = 3_000;
const MOST_PRINTED_CHARS = 1_500;
const MOST_FINDINGS = 20;

/** The message that goes back to the model. */
export function complaint({ error, findings = [], printed, edited }: Fault): string {
  const { code, message, line, column, traceback, hint } = error;
  const found = findings.filter(({ severity }) => severity === 'error');
  const lead =
    code === 'model_error'
      ? 'Your reply could not be used'
      : code === 'approval_rejected'
        ? 'A person has looked at the program and does not want it to run'
        : found.length > 0
          ? 'The check found faults in the program, so it was not run'
          : 'The program failed';
  const place = line === undefined ? '' : ` (line ${line}${column === undefined ? '' : `, column ${column}`})`;
  const parts = [
    ...(edited ? [`A person changed the program before it ran, to:\n\n${fenced(edited)}`] : []),
    found.length > 0
      ? `${lead}:\n${found
          .slice(0, MOST_FINDINGS)
          .map((finding) => `- line ${finding.line}, column ${finding.column}, ${finding.rule}: ${finding.message}`)
          .join('\n')}`
      : `${lead}: ${code}${place}: ${cutText(message, MOST_MESSAGE_CHARS)}`,
    ...(traceback ? [`Traceback:\n${cutStart(traceback, MOST_TRACEBACK_CHARS)}`] : []),
    ...(printed ? [`It had printed, at the end:\n${cutStart(printed, MOST_PRINTED_CHARS)}`] : []),
    ...(hint ? [`Hint: ${hint}`] : []),
    'Reply with the whole program, corrected. Calls of tools that succeeded before are not repeated: the same call with the same arguments is given the same result again.',
  ];
  return parts.join('\n\n');
}
