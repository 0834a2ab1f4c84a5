/** A program's source as its machine takes it, and the way back from places in it to the user's own. */
import { type StrippedSource, stripTypes } from '@fermata/machine';
import { FermataError, type Program } from '@fermata/protocol';
import type { TaskError } from './task-result.ts';

export interface PreparedSource {
  code: string;
  /** Set where the program cannot even be prepared; it must not be started then. */
  error?: TaskError;
  /** An error of the prepared code, told in places and lines of the user's own source. */
  explain(error: TaskError): TaskError;
}

const unchanged = (error: TaskError) => error;

export function prepareSource({ language, code }: Program): PreparedSource {
  if (language !== 'typescript') return { code, explain: unchanged };
  try {
    const stripped = stripTypes(code);
    return { code: stripped.code, explain: (error) => mapped(error, stripped, code) };
  } catch (error) {
    if (!(error instanceof FermataError)) throw error;
    const { message, line, column } = error;
    return {
      code,
      explain: unchanged,
      error: { code: 'syntax_error', name: 'SyntaxError', message, ...(line && column ? { line, column, traceback: excerpt(code, line, column) } : {}) },
    };
  }
}

/** Where the places have moved, the excerpt at the head of the traceback and every `main.ts:line:column` are redone. */
function mapped(error: TaskError, { original }: StrippedSource, source: string): TaskError {
  if (!original || error.line === undefined) return error;
  const { line, column } = original(error.line, error.column ?? 1);
  const stack = (error.traceback ?? '').split('\n').slice(3).join('\n');
  const frames = stack.replace(/main\.ts:(\d+):(\d+)/g, (_, l: string, c: string) => {
    const place = original(Number(l), Number(c));
    return `main.ts:${place.line}:${place.column}`;
  });
  return { ...error, line, column, traceback: `${excerpt(source, line, column)}\n${frames}` };
}

function excerpt(source: string, line: number, column: number): string {
  return `main.ts:${line}\n${source.split('\n')[line - 1] ?? ''}\n${' '.repeat(column - 1)}^`;
}
