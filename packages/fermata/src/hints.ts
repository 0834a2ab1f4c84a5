/**
 * What to do about an error, in one sentence. Options are called as the reader knows them: by their names in the
 * library, or by those on the command line.
 */
import { type ErrorCode, type Language, LIMITS } from '@fermata/protocol';

export type Words = 'library' | 'cli';

const NAMES = {
  library: { stdin: 'the option `stdin`', files: 'the option `files`', tools: '`restore(bytes, { tools })`', network: '`network_access`, or `networkTools`' },
  cli: { stdin: '`fermata run prog.py < data`', files: '`--file /work/name=file`', tools: '`--tools <file>`', network: '`--allow-net <host>`' },
} as const satisfies Record<Words, Record<string, string>>;

type Advice = (names: (typeof NAMES)[Words]) => string;

interface GuestHint {
  languages: readonly Language[];
  /** What the error's message, with its name before it, looks like. */
  message: RegExp;
  advice: Advice;
}

const PYTHON = ['python'] as const;
const JAVASCRIPT = ['javascript', 'typescript'] as const;

const noNetwork: Advice = ({ network }) => `There is no network here: have a tool fetch it, or let the program reach the host (${network}).`;
const noProcesses = () => 'No other program can be started here: do it in Python itself, or have a tool do it.';
const onlyWork: Advice = ({ files }) => `Only /work and /tmp are here, and nothing of the host: put what the program needs there (${files}), and write there.`;
const noModules = () => 'There are no modules here: use the globals (tools, files, URL, crypto, ...), and define all else in the program itself.';

/** The first one that fits counts. */
const GUEST_HINTS: readonly GuestHint[] = [
  {
    languages: PYTHON,
    message: /^ModuleNotFoundError: No module named '(httpx|aiohttp|urllib3|websockets?|_ssl)\b/,
    advice: ({ network }) => `Use requests or urllib.request, which reach what the task may reach (${network}), or have a tool do it.`,
  },
  {
    languages: PYTHON,
    message: /^ModuleNotFoundError: No module named '(numpy|pandas|polars|scipy|sklearn|matplotlib)\b/,
    advice: () => 'There are no packages here: use lists with math, statistics, csv and sqlite3 of the standard library, or have a tool do it.',
  },
  {
    languages: PYTHON,
    message: /^ModuleNotFoundError: No module named /,
    advice: ({ files }) => `Only the standard library is here: use that, put the module into /work (${files}), or have a tool do it.`,
  },
  {
    languages: PYTHON,
    message: /^EOFError: EOF when reading a line/,
    advice: ({ stdin }) => `Standard input is at its end, and nobody can type more: give it with ${stdin}, or read the task's input instead.`,
  },
  { languages: PYTHON, message: /no other processes|no processes in this machine/, advice: noProcesses },
  { languages: PYTHON, message: /this machine has no network/, advice: noNetwork },
  { languages: PYTHON, message: /^\w+: \[Errno \d+\] .*: '\/(?!(work|tmp)(\/|'))/, advice: onlyWork },
  { languages: PYTHON, message: /^FileNotFoundError: /, advice: ({ files }) => `Files of the host are not here: give the program its files (${files}).` },
  { languages: JAVASCRIPT, message: /^(ReferenceError: (require|module|exports) is not defined|\w+: (import|export)\b.* is not available here)/, advice: noModules },
  {
    languages: JAVASCRIPT,
    message: /^(ReferenceError: (XMLHttpRequest|WebSocket|EventSource) is not defined|TypeError: fetch failed: this task has no network)/,
    advice: noNetwork,
  },
  {
    languages: JAVASCRIPT,
    message: /^ReferenceError: process is not defined/,
    advice: () => 'This is not Node: the task is given in `input`, the result is what the program returns, and console.error writes to stderr.',
  },
  {
    languages: JAVASCRIPT,
    message: /^ReferenceError: Buffer is not defined/,
    advice: () => 'This is not Node: use Uint8Array with TextEncoder and TextDecoder, or atob and btoa.',
  },
  {
    languages: JAVASCRIPT,
    message: /^ReferenceError: fs is not defined/,
    advice: () => 'Use the global `files`: files.readText(path), files.write(path, data), files.list(path).',
  },
  { languages: JAVASCRIPT, message: /^Error: E\w+: .*, '\/(?!(work|tmp)(\/|'))/, advice: onlyWork },
  { languages: JAVASCRIPT, message: /^Error: ENOENT: /, advice: ({ files }) => `Files of the host are not here: give the program its files (${files}).` },
];

/** What to do about an error of this code and message, where that is known. `language`: of the program whose error it is. */
export function hintOf({ code, message }: { code: ErrorCode; message: string }, words: Words, language?: Language): string | undefined {
  const limit = Object.values(LIMITS).find((candidate) => candidate.code === code);
  if (limit) return limit.advice(words === 'library' ? limit.option : limit.flag);
  if (code === 'model_error') return 'See that the model is configured and its key and address are right, or send code and its language in place of an instruction.';
  if (code === 'tools_missing') return `Tools are not in a snapshot: give them again with ${NAMES[words].tools}.`;
  if (language === undefined || (code !== 'guest_error' && code !== 'syntax_error')) return undefined;
  return GUEST_HINTS.find((hint) => hint.languages.includes(language) && hint.message.test(message))?.advice(NAMES[words]);
}

/** The error with its hint in these words; one that has a hint of its own keeps it where none is known here. */
export function withHint<E extends { code: ErrorCode; message: string; hint?: string }>(error: E, words: Words, language: Language): E {
  const hint = hintOf(error, words, language) ?? error.hint;
  return hint === undefined ? error : { ...error, hint };
}
