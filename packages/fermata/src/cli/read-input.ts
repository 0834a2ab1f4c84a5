/** What the command line reads for a program: the program itself, its standard input, its input, its files. */
import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { FermataError, fromWire, jsonFault, type Language, type Value } from '@fermata/protocol';

const LANGUAGES: Record<string, Language> = { '.py': 'python', '.js': 'javascript', '.mjs': 'javascript', '.ts': 'typescript', '.mts': 'typescript' };

/** How a Python program reads its standard input. JavaScript programs have none. */
const READS_STDIN = /stdin|\binput\s*\(|\b(open|read)\s*\(\s*0\b/;
/** After so long somebody is told what is waited for. */
const STDIN_PATIENCE_MS = 3000;

export interface ProgramText {
  code: string;
  language: Language;
  /** Its file's name without folders, if it came from a file. */
  file?: string;
  /** Whether it came from standard input, so that nothing is left there for it to read. */
  fromStdin: boolean;
}

export async function readProgram(file: string | undefined, { eval: code, lang }: { eval?: string; lang?: Language }): Promise<ProgramText> {
  if ((file === undefined) === (code === undefined)) throw new FermataError('invalid_request', 'give a file, - for standard input, or -e with code');
  const language = lang ?? LANGUAGES[extname(file ?? '')];
  if (!language) throw new FermataError('invalid_request', 'which language is it?', { hint: 'Say --lang python, javascript or typescript.' });
  if (code !== undefined) return { code, language, fromStdin: false };
  if (file === '-') return { code: utf8(await buffer(process.stdin), 'standard input'), language, fromStdin: true };
  return { code: utf8(await readBytes(file as string), file as string), language, file: basename(file as string).replace(/[\p{Cc}\p{Cs}]/gu, '?'), fromStdin: false };
}

/**
 * All of our standard input, for a program that reads it. It is not touched where it is a terminal, or where the program
 * does not look as if it would read it: whoever starts us may have left it open for ever.
 */
export async function readStdin({ code, language, fromStdin }: ProgramText, say: (text: string) => void): Promise<Uint8Array | undefined> {
  if (fromStdin || process.stdin.isTTY || language !== 'python' || !READS_STDIN.test(code)) return undefined;
  const patience = setTimeout(() => say('waiting for the end of standard input, which the program reads (< /dev/null gives it none)'), STDIN_PATIENCE_MS);
  try {
    return await buffer(process.stdin);
  } finally {
    clearTimeout(patience);
  }
}

/** `--input`: JSON, or `@` and the name of a file with JSON. */
export async function readInput(given: string | undefined): Promise<Value> {
  if (given === undefined) return undefined;
  if (!given.startsWith('@')) return parseInput(given, '--input');
  const file = given.slice(1);
  return parseInput(utf8(await readBytes(file), file), file);
}

/** JSON of an option or argument, as it goes over the wire; with `@` the JSON of a file. Says where it is broken. */
export async function readJson(given: string, option: string): Promise<unknown> {
  const file = given.startsWith('@') ? given.slice(1) : undefined;
  const text = file === undefined ? given : utf8(await readBytes(file), file);
  checkJson(text, file ?? option);
  return JSON.parse(text);
}

/** The same for a list of them, one a line. */
export async function readJsonLines(file: string): Promise<unknown[]> {
  const lines = utf8(file === '-' ? await buffer(process.stdin) : await readBytes(file), file).split('\n');
  return lines.flatMap((line, i) => {
    if (line.trim() === '') return [];
    checkJson(line, `${file}, line ${i + 1},`);
    return [JSON.parse(line) as unknown];
  });
}

function checkJson(json: string, source: string): void {
  const fault = jsonFault(json);
  if (fault) {
    throw new FermataError('invalid_request', `${source} is not JSON: line ${fault.line}, column ${fault.column}: unexpected ${fault.found}`, {
      hint: source.startsWith('--')
        ? `Give the shell the JSON in single quotes, or a file with ${source} @file.`
        : 'Names and texts are in double quotes, and no comma follows the last item.',
    });
  }
}

function parseInput(json: string, source: string): Value {
  checkJson(json, source);
  try {
    return fromWire(JSON.parse(json), 'input');
  } catch (cause) {
    throw new FermataError('invalid_request', `${source}: ${(cause as Error).message}`, { cause });
  }
}

/** `--file /work/name=file`. */
export async function readFileFor(spec: string): Promise<{ path: string; data: Uint8Array }> {
  const at = spec.indexOf('=');
  const [path, file] = [spec.slice(0, Math.max(at, 0)), spec.slice(at + 1)];
  if (!/^\/(work|tmp)\/./.test(path) || !file) throw new FermataError('invalid_request', `--file ${spec} is not of the form /work/name=file or /tmp/name=file`);
  return { path, data: await readBytes(file) };
}

export function readBytes(file: string): Promise<Buffer> {
  return readFile(file).catch((cause: NodeJS.ErrnoException) => {
    throw new FermataError('invalid_request', `${file} cannot be read: ${cause.message}`, { cause });
  });
}

function utf8(bytes: Uint8Array, source: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new FermataError('invalid_request', `${source} is not text in UTF-8`, { hint: 'Give bytes to a program as a file: --file /work/name=file.', cause });
  }
}
