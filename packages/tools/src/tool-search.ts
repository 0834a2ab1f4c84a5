/**
 * How a program finds its tools: `search` by words, and `describe` for what one takes and returns. They belong to every program
 * that may have tools, tell of no others, and a tool of such a name takes their place.
 *
 * A word is found in any of its forms (`invoices`, `invoicing`), also by its beginning, wherever a name breaks (`listOpenItems`,
 * `list_open_items`, `list.open`). The same tools and words give the same answer.
 */
import { defineTool, type Tool } from './tool.ts';
import { ToolError } from './tool-error.ts';

export const SEARCH = 'search';
export const DESCRIBE = 'describe';

type Told = Pick<Tool, 'name' | 'description'>;
/** Words, with what they come to without their endings. */
type Words = Map<string, string>;

const USUAL_LIMIT = 20;
const MOST = 100;
const LONGEST_QUERY = 1000;
/** Words of a query, and characters of a description, that are looked at. */
const MOST_WORDS = 16;
const READ_DESCRIPTION = 1000;
/** What a word is worth that is found: as it stands, in another form, as a beginning, and inside of a word. */
const WORTH = { same: 8, form: 6, beginning: 4, inside: 1 };
const IN_NAME = 3;
/** Fewer letters stand in too many words. */
const SHORTEST_BEGINNING = 3;
const SAYS_NOTHING = new Set(
  'a an and are as at be by can do for from how i in into is it me my need of on or please should that the this to tool tools use want what which with'.split(' '),
);

const known = new WeakMap<Told, { name: Words; description: Words }>();

/** Those of the tools in which most of the words are found, the best first. */
export function searchTools(tools: readonly Told[], query: string, limit = USUAL_LIMIT): { name: string; description: string }[] {
  const all = [...wordsOf(query.slice(0, LONGEST_QUERY))];
  const told = all.filter(([word]) => !SAYS_NOTHING.has(word));
  const wanted = (told.length > 0 ? told : all).slice(0, MOST_WORDS);
  const found = tools.map((tool) => ({ tool, worths: worthsOf(tool, wanted) }));
  // A word that few tools have says more than one that many have.
  const weights = wanted.map((_, i) => Math.log(1 + tools.length / Math.max(1, found.filter(({ worths }) => worths[i]).length)));
  const most = Math.max(0, ...found.map(({ worths }) => worths.filter(Boolean).length));
  const fitting = most === 0 ? [] : found.filter(({ worths }) => worths.filter(Boolean).length === most);
  const scoreOf = (worths: readonly number[]) => worths.reduce((sum, worth, i) => sum + worth * (weights[i] as number), 0);
  return fitting
    .map(({ tool, worths }) => ({ tool, score: scoreOf(worths) }))
    .sort((a, b) => b.score - a.score || a.tool.name.length - b.tool.name.length || (a.tool.name < b.tool.name ? -1 : 1))
    .slice(0, limit)
    .map(({ tool: { name, description } }) => ({ name, description }));
}

const TEXT = { type: 'string' } as const;
const SEARCHED = {
  type: 'object',
  properties: { query: TEXT, limit: { type: 'integer', minimum: 1, maximum: MOST } },
  required: ['query'],
  additionalProperties: false,
} as const;
const NAMED = { type: 'object', properties: { name: TEXT }, required: ['name'], additionalProperties: false } as const;

/** `search` and `describe` as tools, for a program whose tools are `tools`. */
export function findingTools(tools: () => readonly Tool[]): Tool[] {
  return [
    defineTool({
      name: SEARCH,
      description: 'Finds tools by what they do; the best first',
      parameters: SEARCHED,
      idempotent: true,
      execute: ({ query, limit }) => searchTools(tools(), query, limit),
    }),
    defineTool({
      name: DESCRIBE,
      description: 'What a tool takes and returns, as JSON Schemas',
      parameters: NAMED,
      idempotent: true,
      execute: ({ name }) => described(tools(), name),
    }),
  ];
}

function described(tools: readonly Tool[], wanted: string) {
  const found = tools.find(({ name }) => name === wanted);
  if (!found) {
    const [near] = searchTools(tools, wanted, 1);
    throw new ToolError(`there is no tool ${wanted.slice(0, LONGEST_QUERY)}${near ? `; did you mean ${near.name}?` : ''}`, { name: 'UnknownTool' });
  }
  const { name, description, parameters, result } = found;
  return { name, description, parameters, ...(result ? { result } : {}) };
}

/** What each of the words is worth in a tool; 0 where it is not found. */
function worthsOf(tool: Told, wanted: readonly [string, string][]): number[] {
  const { name, description } = wordsOfTool(tool);
  return wanted.map((word) => Math.max(IN_NAME * worthIn(name, word), worthIn(description, word)));
}

function worthIn(words: Words, [word, form]: [string, string]): number {
  let worth = words.has(word) ? WORTH.same : 0;
  if (worth > 0) return worth;
  for (const [other, otherForm] of words) {
    if (otherForm === form) return WORTH.form;
    const isBeginning = (form.length >= SHORTEST_BEGINNING && other.startsWith(form)) || (otherForm.length > SHORTEST_BEGINNING && word.startsWith(otherForm));
    if (isBeginning) worth = WORTH.beginning;
    else if (word.length >= SHORTEST_BEGINNING && other.includes(word)) worth = Math.max(worth, WORTH.inside);
  }
  return worth;
}

function wordsOfTool(tool: Told): { name: Words; description: Words } {
  const words = known.get(tool) ?? { name: wordsOf(tool.name), description: wordsOf(tool.description.slice(0, READ_DESCRIPTION)) };
  known.set(tool, words);
  return words;
}

function wordsOf(text: string): Words {
  const parted = text.normalize('NFKC').replace(/(\p{Ll}|\p{N})(\p{Lu})|(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1$3 $2$4');
  return new Map((parted.toLowerCase().match(/[\p{L}\p{M}]+|\p{N}+/gu) ?? []).map((word) => [word, formOf(word)]));
}

/** A word without its ending, so that its forms are one; what comes out need not be a word. */
function formOf(word: string): string {
  const bare = word
    .replace(/(?<=.{2})(ies|ied|ying)$/, 'y')
    .replace(/(?<=.{3})(ations?|ions?|ings?|ed|ers?|(?<=ss|sh|ch|x)es|(?<!s)s)$/, '')
    .replace(/(?<=.{2})e$/, '');
  return bare.replace(/([^aeiouls])\1$/, '$1');
}
