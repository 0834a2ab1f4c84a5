/**
 * Error codes: one table, stable, classed by who must act.
 *
 * guest: the program's own fault, a value in the outcome. limit: the program met a bound. request: the caller's fault.
 * system: ours or the machine's; the task can go on elsewhere or later.
 */
export const ERROR_CODES = {
  guest_error: { class: 'guest', text: 'The program ended with an uncaught error.' },
  syntax_error: { class: 'guest', text: 'The program could not be parsed.' },
  library_not_allowed: { class: 'guest', text: 'The program imports a library that its task does not allow.' },
  library_missing: { class: 'guest', text: 'The task requires a library that its image does not have.' },
  tool_error: { class: 'guest', text: 'A tool failed and the program did not catch it.' },
  unknown_tool: { class: 'guest', text: 'The program called a tool that does not exist.' },
  invalid_arguments: { class: 'guest', text: 'A call, or a request, has arguments that do not fit.' },
  policy_violation: { class: 'guest', text: 'The program does what its policy or its constraints deny.' },
  approval_rejected: { class: 'guest', text: 'A call was not approved and the program did not catch that.' },
  timeout: { class: 'limit', text: 'The wall time ran out.' },
  cpu_limit: { class: 'limit', text: 'The processor time ran out.' },
  memory_limit: { class: 'limit', text: 'The program needed more memory than its limit.' },
  disk_limit: { class: 'limit', text: 'The program wrote more to files than its limit.' },
  output_limit: { class: 'limit', text: 'The program printed, or noted of itself, more than its limit.' },
  journal_limit: { class: 'limit', text: 'More had to be kept of the course of the task than its limit.' },
  tool_call_limit: { class: 'limit', text: 'The program started more tool calls than its limit.' },
  outcome_unknown: { class: 'request', text: 'A call was started and its outcome was never recorded; it is not repeated without a decision.' },
  invalid_request: { class: 'request', text: 'The request does not have the form that is documented.' },
  invalid_state: { class: 'request', text: 'The task is not in a state in which this can be done.' },
  not_found: { class: 'request', text: 'There is no such thing, or it belongs to somebody else.' },
  conflict: { class: 'request', text: 'The name is taken, or another decision was made before.' },
  checkpoint_invalid: { class: 'request', text: 'A snapshot is damaged, cut, not sealed as required, or not ours.' },
  checkpoint_too_large: { class: 'request', text: 'The task holds more memory and files than a snapshot may.' },
  environment_mismatch: { class: 'request', text: 'A snapshot belongs to another image or format than this one.' },
  tools_missing: { class: 'request', text: 'The program of a snapshot was given tools that are not there now.' },
  unauthorized: { class: 'request', text: 'The request has no valid API key.' },
  forbidden: { class: 'request', text: 'The API key does not have the scope that this needs.' },
  body_too_large: { class: 'request', text: 'The body of the request is larger than the server takes.' },
  unsupported_media_type: { class: 'request', text: 'The body of the request is of a type that is not taken there.' },
  sandbox_lost: { class: 'system', text: 'The machine broke down and was discarded.' },
  sandbox_unavailable: { class: 'system', text: 'This sandbox cannot be had on this machine.' },
  resources_exhausted: { class: 'system', text: 'There is no room for this now, or never with these limits.' },
  source_failed: { class: 'system', text: 'A tool source cannot be reached, or does not answer as it should.' },
  model_error: { class: 'system', text: 'No model could be asked, or none answered with what was needed.' },
  checkpoint_failed: { class: 'system', text: 'A checkpoint could not be stored; the task goes on without it.' },
  replay_diverged: { class: 'system', text: 'The program, run again on its record, did something else than before.' },
  store_failed: { class: 'system', text: 'The store cannot be written or read.' },
  store_locked: { class: 'system', text: 'Another process owns the data folder.' },
  internal: { class: 'system', text: 'A fault of Fermata itself.' },
} as const satisfies Record<string, { class: 'guest' | 'limit' | 'request' | 'system'; text: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Every error that Fermata throws. `hint` says what to do about it. */
export class FermataError extends Error {
  override readonly name = 'FermataError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  /** Where in the user's code, from 1, if it is about a place there. */
  readonly line: number | undefined;
  readonly column: number | undefined;
  constructor(code: ErrorCode, message: string, options: { hint?: string; line?: number; column?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.line = options.line;
    this.column = options.column;
  }
}

/** A bound of one tenant: others are not affected. */
export class QuotaExceeded extends FermataError {
  constructor(message: string, hint: string) {
    super('resources_exhausted', message, { hint });
  }
}
