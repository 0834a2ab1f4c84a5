/**
 * Takes the types out of a TypeScript program, on the host and before it starts, with `amaro` (the stripper that Node
 * itself uses).
 *
 * Types alone are replaced by blanks, so every line and column stays. Enums, namespaces and parameter properties need
 * code of their own; then the places of the result are mapped back. The program is wrapped in an async function for the
 * parser's sake, since `return` and `await` may stand at its top.
 */
import { createRequire, SourceMap } from 'node:module';
import { dirname } from 'node:path';
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
const LONGEST_FENCE = 200;
/** Characters of a program: the stripper holds up everybody else while it works. */
const LONGEST = 512 * 1024;

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
  if (source.length > LONGEST) {
    const message = `SyntaxError: a program in TypeScript may have ${LONGEST} characters, and this one has ${source.length}: give it its data as input or files, or write it in JavaScript`;
    throw new FermataError('syntax_error', message);
  }
  const text = withoutFence(source);
  const wrapped = PREFIX + text + SUFFIX;
  try {
    const { code } = transformed(wrapped, { mode: 'strip-only', sourceMap: false });
    return { code: code.slice(PREFIX.length, -SUFFIX.length) };
  } catch (error) {
    if (error instanceof FermataError) throw error;
    if ((error as AmaroError).code !== 'UnsupportedSyntax') throw syntaxError(error as AmaroError, text);
  }
  try {
    const { code, map = '{}' } = transformed(wrapped, { mode: 'transform', sourceMap: true });
    const lines = code.trimEnd().split('\n');
    return { code: lines.slice(1, -1).join('\n'), original: mapping(new SourceMap(JSON.parse(map))) };
  } catch (error) {
    if (error instanceof FermataError) throw error;
    throw syntaxError(error as AmaroError, text);
  }
}

/**
 * An error leaves the stripper's WebAssembly without the part of its stack that was in use, so that after some of them, or one
 * deep enough, it breaks for everybody: after an error it is loaded anew.
 */
const transformed: Transform = (code, options) => {
  const require = createRequire(import.meta.url);
  transform ??= require('amaro').transformSync as Transform;
  try {
    return transform(code, options);
  } catch (error) {
    transform = undefined;
    const own = dirname(require.resolve('amaro'));
    for (const file of Object.keys(require.cache)) if (dirname(file) === own) delete require.cache[file];
    if ((error as AmaroError).code !== undefined) throw error;
    throw new FermataError('syntax_error', 'SyntaxError: the program is nested too deeply, or too large, to be read', { cause: error });
  }
};

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
  const start = source.search(/\S/);
  if (start < 0 || (source[start] !== '`' && source[start] !== '~')) return source;
  const head = source.indexOf('\n', start);
  const end = source.trimEnd();
  const tail = end.lastIndexOf('\n');
  // A first line that is longer is none of a fence, and must not be searched.
  if (head < 0 || head - start > LONGEST_FENCE || tail <= head) return source;
  const fence = /^(`{3,}|~{3,})[ \t]*[\w+-]*[ \t]*\r?$/.exec(source.slice(start, head))?.[1];
  if (fence === undefined || end.slice(tail + 1).trim() !== fence) return source;
  return `${source.slice(0, start)}\n${source.slice(head + 1, tail)}`;
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
