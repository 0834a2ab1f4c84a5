/**
 * What a model is told of the tools that its program may call, within a bound: declarations of all of them, or where these are too
 * long, how many there are of which kind and how a program finds them.
 */
import { DESCRIBE, SEARCH } from '../tool-search.ts';
import { pythonStubs } from './python.ts';
import type { StubTool } from './stub-tool.ts';
import { typescriptStubs } from './typescript.ts';

export interface PromptTools {
  text: string;
  /** Whether every tool is declared in it; if not, the program has to search. */
  complete: boolean;
}

/** Groups that are named, the largest first; what others there are is said in sum. */
const MOST_GROUPS = 24;

const HOW = {
  python: (name: string) => `  found = tools.${SEARCH}("what you want to do", limit=10)  # [{"name": ..., "description": ...}, ...], the best first
  tools.${DESCRIBE}(found[0]["name"])  # {"name", "description", "parameters", "result"}: JSON Schemas
  tools.${name}(...)  # a call, by the name that was found; or tools["${name}"](...)`,
  javascript: (name: string) => `  const found = await tools.${SEARCH}({ query: 'what you want to do', limit: 10 }); // [{ name, description }, ...], the best first
  await tools.${DESCRIBE}({ name: found[0].name }); // { name, description, parameters, result }: JSON Schemas
  await tools.${name}({ ... }); // a call, by the name that was found; or tools['${name}']({ ... })`,
};

const FIND_FIRST = "Where you do not know a tool's name and parameters yet, first write a program that searches and returns what it finds.";

/** `maxCharacters`: of the declarations; the other text is as short as it can be. `first`: how the model gets to know tools that are not declared. */
export function toolsForPrompt(tools: readonly StubTool[], language: 'python' | 'javascript', maxCharacters: number, first = FIND_FIRST): PromptTools {
  const stubs = language === 'python' ? pythonStubs(tools) : typescriptStubs(tools);
  if (stubs.length <= maxCharacters) return { text: stubs, complete: true };
  const name = tools[0]?.name ?? '';
  const groups = groupsOf(tools);
  const named = groups.slice(0, MOST_GROUPS).map(([group, count]) => `${group} (${count})`);
  const others = groups.slice(MOST_GROUPS).reduce((sum, [, count]) => sum + count, 0);
  const told = [...named, ...(others > 0 ? [`others (${others})`] : [])].join(', ');
  const text = `There are ${tools.length} tools, too many to be listed here. A program finds them:
${HOW[language](name)}
By group: ${told}.
${first}
`;
  return { text, complete: false };
}

/** What stands before the first dot of names, with how many names that is; names without one together. */
function groupsOf(tools: readonly StubTool[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const { name } of tools) {
    const dot = name.indexOf('.');
    const group = dot < 0 ? 'without a group' : name.slice(0, dot);
    counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
}
