/** What a model looks up before it writes a program or an answer: tools, and the rest of a result. */
import { type StubTool, typescriptStubs } from '@fermata/tools/stubs';
import { cutText } from './cut-text.ts';
import type { Lookup } from './read-reply.ts';

/** How often a model may look something up, for one task. */
export const MOST_LOOKS = 8;
export const MOST_READ_CHARS = 8_000;
const MOST_TOOLS = 12;
const MOST_STUB_CHARS = 12_000;

/** What is told in return. `result`: the JSON of the program's result, once there is one. */
export function lookedUp(lookups: readonly Lookup[], { tools, result }: { tools: readonly StubTool[]; result?: string | undefined }): string {
  return lookups
    .map((lookup) => {
      if (lookup.name === 'search_tools') return searched(lookup.query, tools);
      if (result === undefined) return 'There is no result yet.';
      const piece = result.slice(lookup.from, lookup.from + Math.min(lookup.length, MOST_READ_CHARS));
      return `Characters ${lookup.from} to ${lookup.from + piece.length} of ${result.length} of the result:\n${piece}`;
    })
    .join('\n\n');
}

function searched(query: string, tools: readonly StubTool[]): string {
  const words = query
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
  const scored = tools.map((tool) => {
    const [name, text] = [tool.name.toLowerCase(), tool.description.toLowerCase()];
    return { tool, score: words.reduce((sum, word) => sum + (name.includes(word) ? 2 : text.includes(word) ? 1 : 0), 0) };
  });
  const found = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
  if (found.length === 0) return `No tool fits ${JSON.stringify(query)}. Use fewer or other words.`;
  const shown = found.slice(0, MOST_TOOLS).map(({ tool }) => tool);
  const more = found.length > shown.length ? ` (the ${shown.length} that fit best, of ${found.length})` : '';
  return `Tools that fit ${JSON.stringify(query)}${more}:\n\n\`\`\`typescript\n${cutText(typescriptStubs(shown), MOST_STUB_CHARS)}\n\`\`\``;
}
