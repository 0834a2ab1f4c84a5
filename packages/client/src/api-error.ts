/** What the server answers instead of what was asked for, or that it did not answer. */
import type { ProblemWire } from '@fermata/protocol/wire';

export class FermataApiError extends Error {
  override readonly name = 'FermataApiError';
  /** Stable; `unreachable` where there was no answer. */
  readonly code: string;
  /** 0 where there was no answer. */
  readonly status: number;
  readonly hint: string | undefined;
  readonly line: number | undefined;
  readonly column: number | undefined;
  constructor(problem: Pick<ProblemWire, 'code' | 'status' | 'detail' | 'hint' | 'line' | 'column'>, cause?: unknown) {
    super(problem.detail, cause === undefined ? undefined : { cause });
    this.code = problem.code;
    this.status = problem.status;
    this.hint = problem.hint;
    this.line = problem.line;
    this.column = problem.column;
  }
}

export async function errorOf(response: Response): Promise<FermataApiError> {
  const text = await response.text().catch(() => '');
  try {
    const problem = JSON.parse(text) as ProblemWire;
    if (typeof problem.code === 'string' && typeof problem.detail === 'string') return new FermataApiError({ ...problem, status: response.status });
  } catch {
    // Not from the server itself: a proxy answers in its own words.
  }
  return new FermataApiError({ code: 'internal', status: response.status, detail: `the server answered ${response.status} ${text.slice(0, 200)}`.trim() });
}
