/** What the check of a program finds, each at its place and with what to do about it. */

/** Of an error, the rule is also the code of the task that it ends. */
export type CheckRule =
  | 'syntax_error'
  | 'library_not_allowed'
  | 'library_missing'
  | 'policy_violation'
  | 'unknown_tool'
  | 'invalid_arguments'
  | 'not_awaited'
  | 'no_network'
  | 'no_processes';

export interface Finding {
  rule: CheckRule;
  /** An error: the program is not run. A warning: it is run, and may well fail. */
  severity: 'error' | 'warning';
  /** From 1, in the user's own source. */
  line: number;
  column: number;
  /** One sentence that says what is wrong and what to write instead. */
  message: string;
}
