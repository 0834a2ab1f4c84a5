/** A program's source as its machine takes it, and the way back from places in it to the user's own. */
import { type SourceMapping, stripTypes, withoutFence } from '@fermata/machine';
import { CALL_PROGRAM, FermataError, type Program } from '@fermata/protocol';
import { asStrict, strictLibraries, strictPrologue } from './strict-program.ts';
import type { TaskError } from './task-result.ts';

export interface PreparedSource {
  code: string;
  /** In the place of the program's own. */
  allowedLibraries?: string[];
  /** Set where the program cannot even be prepared; it must not be started then. */
  error?: TaskError;
  /** An error of the prepared code, told in places and lines of the user's own source. */
  explain(error: TaskError): TaskError;
}

type Source = Pick<Program, 'language' | 'code' | 'allowedLibraries' | 'strict' | 'file'>;

const unchanged = (error: TaskError) => error;
/** Places in a program that is ours say nothing to its user. */
const withoutPlaces = ({ line: _line, column: _column, traceback: _traceback, ...error }: TaskError): TaskError => error;

export function prepareSource(source: Source): PreparedSource {
  const prepared = preparedAs(source);
  const { file, language } = source;
  if (file === undefined || language === 'python') return prepared;
  // In the machine all programs in JavaScript have one name.
  const named = (error: TaskError) => (error.traceback === undefined ? error : { ...error, traceback: error.traceback.replace(/\bmain\.[jt]s(?=:\d)/g, () => file) });
  return { ...prepared, explain: (error) => named(prepared.explain(error)), ...(prepared.error ? { error: named(prepared.error) } : {}) };
}

function preparedAs(source: Source): PreparedSource {
  const { language, code, strict } = source;
  if (language === 'python') return strict ? { code, allowedLibraries: strictLibraries(source), explain: asStrict } : { code, explain: unchanged };
  if (code === CALL_PROGRAM) return { code, explain: withoutPlaces };
  if (language === 'javascript') return strict ? withPrologue(withoutFence(code), undefined, code, 'main.js') : { code, explain: unchanged };
  try {
    const stripped = stripTypes(code);
    if (strict) return withPrologue(stripped.code, stripped.original, code, 'main.ts');
    return { code: stripped.code, explain: (error) => mapped(error, stripped.original, code, 'main.ts') };
  } catch (error) {
    return { code, explain: unchanged, error: syntaxFault(error, code) };
  }
}

/** The program with its source as a machine takes it. */
export function withSource(program: Program, { code, allowedLibraries }: PreparedSource): Program {
  return { ...program, code, ...(allowedLibraries === undefined ? {} : { allowedLibraries }) };
}

/** The text that the check looks at, and where its places are in the user's own source, if elsewhere. */
export function checkableSource({ language, code }: Pick<Program, 'language' | 'code'>): { code: string; original?: SourceMapping } | { error: TaskError } {
  if (language !== 'typescript') return { code: withoutFence(code) };
  try {
    return stripTypes(code);
  } catch (error) {
    return { error: syntaxFault(error, code) };
  }
}

/** Throws on what is no fault of the source. */
function syntaxFault(error: unknown, code: string): TaskError {
  if (!(error instanceof FermataError)) throw error;
  const { message, line, column } = error;
  return { code: 'syntax_error', name: 'SyntaxError', message, ...(line && column ? { line, column, traceback: excerpt(code, line, column, 'main.ts') } : {}) };
}

/** `original`: where places of `prepared` are in the user's own source, if elsewhere. */
function withPrologue(prepared: string, original: SourceMapping | undefined, source: string, file: string): PreparedSource {
  const prologue = strictPrologue(prepared);
  const shifted: SourceMapping = (line, column) => {
    const own = line === 1 ? Math.max(1, column - prologue.length) : column;
    return original ? original(line, own) : { line, column: own };
  };
  return { code: prologue + prepared, explain: (error) => asStrict(mapped(outOf(prologue, error), shifted, source, file)) };
}

/** An error that was thrown in the prologue is one of the line that led into it. */
function outOf(prologue: string, error: TaskError): TaskError {
  const isIn = (line: number, column: number) => line === 1 && column <= prologue.length;
  if (!isIn(error.line ?? 0, error.column ?? 1)) return error;
  const lines = (error.traceback ?? '').split('\n').map((text) => ({ text, place: /main\.[jt]s:(\d+):(\d+)/.exec(text)?.slice(1).map(Number) as [number, number] | undefined }));
  const kept = lines.filter(({ place }) => !place || !isIn(...place));
  const [line, column] = kept.find(({ place }) => place)?.place ?? [1, prologue.length + 1];
  return { ...error, line, column, traceback: kept.map(({ text }) => text).join('\n') };
}

/** Where the places have moved, the excerpt at the head of the traceback and every `file:line:column` are redone. */
function mapped(error: TaskError, original: SourceMapping | undefined, source: string, file: string): TaskError {
  if (!original || error.line === undefined) return error;
  const { line, column } = original(error.line, error.column ?? 1);
  const lines = (error.traceback ?? '').split('\n');
  // There is no mark below a line that is very long.
  const stack = lines.slice(/^\s*\^$/.test(lines[2] ?? '') ? 3 : 2).join('\n');
  const frames = stack.replace(/main\.[jt]s:(\d+):(\d+)/g, (_, l: string, c: string) => {
    const place = original(Number(l), Number(c));
    return `${file}:${place.line}:${place.column}`;
  });
  return { ...error, line, column, traceback: `${excerpt(source, line, column, file)}\n${frames}` };
}

function excerpt(source: string, line: number, column: number, file: string): string {
  return `${file}:${line}\n${source.split('\n')[line - 1] ?? ''}\n${' '.repeat(column - 1)}^`;
}
