/**
 * Takes the types out of a TypeScript program, on the host and before it starts, with `amaro` (the stripper that Node
 * itself uses).
 *
 * Types alone are replaced by blanks, so every line and column stays. Enums, namespaces and parameter properties need
 * code of their own; then the places of the result are mapped back. The program is wrapped in an async function for the
 * parser's sake, since `return` and `await` may stand at its top.
 */
import { createRequire, SourceMap } from 'node:module';
import { FermataError } from '@fermata/protocol';

/** The user's own line and column (from 1) for one of the stripped code. */
export type SourceMapping = (line: number, column: number) => { line: number; column: number };

export interface StrippedSource {
  code: string;
  /** Absent where all places are as they were. */
  original?: SourceMapping;
}

const PREFIX = 'async function main(){';
const SUFFIX = '\n}';

interface AmaroError {
  code?: string;
  message: string;
  startLine?: number;
  startColumn?: number;
  snippet?: string;
}

type Transform = (code: string, options: { mode: 'strip-only' | 'transform'; sourceMap: boolean }) => { code: string; map?: string };
let transform: Transform | undefined;

/** Throws a `FermataError` of code `syntax_error`, whose message names the place, where the program cannot be parsed. */
export function stripTypes(source: string): StrippedSource {
  transform ??= createRequire(import.meta.url)('amaro').transformSync as Transform;
  const text = withoutFence(source);
  const wrapped = PREFIX + text + SUFFIX;
  try {
    const { code } = transform(wrapped, { mode: 'strip-only', sourceMap: false });
    return { code: code.slice(PREFIX.length, -SUFFIX.length) };
  } catch (error) {
    if ((error as AmaroError).code !== 'UnsupportedSyntax') throw syntaxError(error as AmaroError, text);
  }
  try {
    const { code, map = '{}' } = transform(wrapped, { mode: 'transform', sourceMap: true });
    const lines = code.trimEnd().split('\n');
    return { code: lines.slice(1, -1).join('\n'), original: mapping(new SourceMap(JSON.parse(map))) };
  } catch (error) {
    throw syntaxError(error as AmaroError, text);
  }
}

function mapping(map: SourceMap): SourceMapping {
  return (line, column) => {
    // The first line of the result, which is the wrapper's head, was cut off.
    const entry = map.findEntry(line, column - 1);
    if (!('originalLine' in entry)) return { line, column };
    return { line: entry.originalLine + 1, column: unwrapped(entry.originalLine, entry.originalColumn) + 1 };
  };
}

function unwrapped(line: number, column: number): number {
  return line === 0 ? Math.max(0, column - PREFIX.length) : column;
}

/** As the guests do: a Markdown fence around the whole program goes, the lines stay where they are. */
export function withoutFence(source: string): string {
  const fenced = /^(\s*)(`{3,}|~{3,})[ \t]*[\w+-]*[ \t]*\r?\n([\s\S]*?)\n[ \t]*\2\s*$/.exec(source);
  return fenced ? `${fenced[1]}\n${fenced[3]}` : source;
}

function syntaxError({ message, startLine, startColumn }: AmaroError, source: string): FermataError {
  if (startLine === undefined || startColumn === undefined) return new FermataError('syntax_error', `SyntaxError: ${message}`);
  const lines = source.split('\n');
  if (startLine > lines.length) {
    const place = { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
    return new FermataError('syntax_error', 'SyntaxError: unexpected end of the program: something is not closed', place);
  }
  const column = unwrapped(startLine - 1, startColumn) + 1;
  const word = /^(?:import|export)\b/.exec((lines[startLine - 1] ?? '').slice(column - 1));
  const said = word ? `${word[0]} is not available here: use the globals (tools, files, console, URL, Intl, crypto, ...) instead of modules` : message;
  return new FermataError('syntax_error', `SyntaxError: ${said}`, { line: startLine, column });
}
