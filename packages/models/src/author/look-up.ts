/** What a model looks up before it writes a program or an answer: tools, and the rest of a result. */
import { type StubTool, searchTools, typescriptStubs } from '@fermata/tools/stubs';
import { cutText } from './cut-text.ts';
import type { Lookup } from './read-reply.ts';

/** How often a model may look something up, for one task. */
export const MOST_LOOKS = 8;
export const MOST_READ_CHARS = 8_000;
/** In one reply. */
const MOST_AT_ONCE = 8;
const MOST_TOOLS = 12;
const MOST_STUB_CHARS = 12_000;

/** What is told in return. `result`: the JSON of the program's result, once there is one. */
export function lookedUp(lookups: readonly Lookup[], { tools, result }: { tools: readonly StubTool[]; result?: string | undefined }): string {
  const left = lookups.length - MOST_AT_ONCE;
  const found = lookups.slice(0, MOST_AT_ONCE).map((lookup) => {
    if (lookup.name === 'search_tools') return searched(lookup.query, tools);
    if (result === undefined) return 'There is no result yet.';
    const piece = result.slice(lookup.from, lookup.from + Math.min(lookup.length, MOST_READ_CHARS));
    return `Characters ${lookup.from} to ${lookup.from + piece.length} of ${result.length} of the result:\n${piece}`;
  });
  return [...found, ...(left > 0 ? [`${left} more were not looked up: ask for ${MOST_AT_ONCE} at once, and no more.`] : [])].join('\n\n');
}

function searched(query: string, tools: readonly StubTool[]): string {
  const names = new Set(searchTools(tools, query, MOST_TOOLS).map(({ name }) => name));
  if (names.size === 0) return `No tool fits ${JSON.stringify(query)}. Use fewer or other words.`;
  const found = tools.filter(({ name }) => names.has(name));
  return `Tools that fit ${JSON.stringify(query)}:\n\n\`\`\`typescript\n${cutText(typescriptStubs(found), MOST_STUB_CHARS)}\n\`\`\``;
}
