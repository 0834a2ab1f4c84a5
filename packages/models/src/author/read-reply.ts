/** What a model's reply says: a program, something to be looked up, or only words. */
import type { Language, ModelReply } from '@fermata/protocol';

export interface FoundProgram {
  language: Language;
  code: string;
}
export type Lookup = { name: 'search_tools'; query: string } | { name: 'read_result'; from: number; length: number };
/** `words`: nothing but text, which answers a conversation; who has asked for a program is told by `message` what is missing. */
export type ReadReply = { kind: 'program'; program: FoundProgram } | { kind: 'lookups'; lookups: Lookup[] } | { kind: 'fault' | 'words'; message: string };

type Reply = Pick<ModelReply, 'text' | 'calls' | 'finish'>;

const NAMES: Record<Language, readonly string[]> = { python: ['python', 'py', 'python3'], javascript: ['javascript', 'js', 'mjs'], typescript: ['typescript', 'ts'] };
const LANGUAGES: ReadonlyMap<string, Language> = new Map(Object.entries(NAMES).flatMap(([language, names]) => names.map((name) => [name, language as Language] as const)));
/** Line by line: one pattern for whole blocks would try long lines again and again, and a reply may be made for that. */
const OPENING = /^ {0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)/;
const CLOSING = /^ {0,3}([`~]{3,})[ \t]*$/;

/** Of a request for a program. `wish`: the language that it is to be in. */
export function readReply(reply: Reply, wish?: Language): ReadReply {
  const { calls, finish, text } = reply;
  const call = calls.find(({ name }) => name === 'run_program');
  if (call) {
    const { language, code } = (call.arguments ?? {}) as { language?: unknown; code?: unknown };
    const named = typeof language === 'string' ? LANGUAGES.get(language.toLowerCase()) : language === undefined ? wish : undefined;
    if (typeof code !== 'string' || !named) return fault('run_program takes { "language": "python" | "javascript" | "typescript", "code": "<the whole program>" }');
    return inLanguage({ language: named, code }, wish);
  }
  const program = finish === 'length' ? undefined : fencedProgram(text, wish);
  if (program) return inLanguage(program, wish);
  const lookups = lookupsIn(reply);
  if (lookups.length > 0) return { kind: 'lookups', lookups };
  const other = calls[0];
  if (other) return fault(`there is no function ${other.name}, or its arguments do not fit; reply with the program`);
  if (finish === 'length') return fault('the reply was cut because it was too long, so there is no whole program in it; write a shorter one, and nothing besides');
  if (finish === 'filter') return fault('the reply was withheld by the filter of the model, so there is no program in it');
  const message = 'there is no program in the reply; write it whole, in one fenced block that names its language, as ```python';
  // A block without a language may be meant to be the program; one in a language of others is part of the words.
  return { kind: text.trim() === '' || blocksIn(text).some(({ label }) => label === '') ? 'fault' : 'words', message };
}

/** Calls of functions by which something is looked up. */
export function lookupsIn({ calls }: Pick<ModelReply, 'calls'>): Lookup[] {
  return calls.flatMap(({ name, arguments: args }): Lookup[] => {
    const { query, from, length } = (args ?? {}) as { query?: unknown; from?: unknown; length?: unknown };
    if (name === 'search_tools' && typeof query === 'string') return [{ name, query: query.slice(0, 500) }];
    if (name === 'read_result' && isCount(from) && isCount(length) && length > 0) return [{ name, from, length }];
    return [];
  });
}

/** The reply as a message that the model is shown again: its calls stand in it as text. */
export function replyText({ text, calls }: Pick<ModelReply, 'text' | 'calls'>): string {
  const called = calls.map(({ name, arguments: args }) => {
    const { language, code } = (args ?? {}) as { language?: unknown; code?: unknown };
    if (name === 'run_program' && typeof code === 'string') return fenced({ language: LANGUAGES.get(String(language).toLowerCase()) ?? 'javascript', code });
    return `${name}(${JSON.stringify(args ?? {})})`;
  });
  return [text, ...called].filter(Boolean).join('\n\n') || '(nothing)';
}

export function fenced({ language, code }: FoundProgram): string {
  const longest = (code.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${code.replace(/\n$/, '')}\n${fence}`;
}

/** The last one: what comes before it are parts or drafts of it. */
function fencedProgram(text: string, wish: Language | undefined): FoundProgram | undefined {
  const blocks = blocksIn(text);
  const named = blocks.flatMap(({ label, code }) => {
    const language = LANGUAGES.get(label);
    return language === undefined ? [] : [{ language, code }];
  });
  const plain = wish === undefined ? [] : blocks.flatMap(({ label, code }) => (label === '' ? [{ language: wish, code }] : []));
  return named.at(-1) ?? plain.at(-1);
}

/** Blocks, each closed or running to the end of the text. */
function blocksIn(text: string): { label: string; code: string }[] {
  const blocks: { label: string; code: string }[] = [];
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  let open: { fence: string; label: string; from: number } | undefined;
  for (const [at, line] of lines.entries()) {
    if (open && CLOSING.exec(line)?.[1]?.startsWith(open.fence)) {
      blocks.push({ label: open.label, code: [...lines.slice(open.from, at), ''].join('\n') });
      open = undefined;
    } else if (!open && at < lines.length - 1) {
      const [, fence, label = ''] = OPENING.exec(line) ?? [];
      if (fence !== undefined) open = { fence, label: label.toLowerCase(), from: at + 1 };
    }
  }
  if (open) blocks.push({ label: open.label, code: lines.slice(open.from).join('\n') });
  return blocks;
}

function inLanguage({ language, code }: FoundProgram, wish: Language | undefined): ReadReply {
  if (code.trim() === '') return fault('the program is empty');
  if (wish === 'python' || (language === 'python' && wish !== undefined)) {
    return language === wish ? { kind: 'program', program: { language, code } } : fault(`the program is to be in ${wish}, and this one is in ${language}`);
  }
  // What is JavaScript is TypeScript as well.
  return { kind: 'program', program: { language: wish === 'typescript' ? 'typescript' : language, code } };
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isInteger(value) && value >= 0;
const fault = (message: string): ReadReply => ({ kind: 'fault', message });
