/** The tools of a program, as its author is told of them. */
import type { Language } from '@fermata/protocol';
import { pythonStubs, type StubTool, typescriptStubs } from '@fermata/tools/stubs';

/** Declarations that are longer are not shown; the model looks for the tools that it needs. */
export const MOST_STUB_CHARS = 24_000;
const MOST_GROUPS = 40;

/** Declarations of all of them, or undefined where they are too long. */
export function stubsOf(tools: readonly StubTool[], language: Language | undefined): string | undefined {
  // More of them than fit need not be written out to know it.
  if (tools.length > MOST_STUB_CHARS / 24) return undefined;
  const stubs = language === 'python' ? pythonStubs(tools) : typescriptStubs(tools);
  return stubs.length > MOST_STUB_CHARS ? undefined : stubs;
}

export function toolsText(tools: readonly StubTool[], language: Language | undefined): string {
  if (tools.length === 0) return 'There are no tools; `tools` is empty.';
  const how = {
    python: 'call `tools.group.name(key=value)` (it blocks), or `await asyncio.gather(tools.a(...), tools.b(...))` inside of a coroutine',
    javascript: 'call `await tools.group.name({ key: value })`, several at once with `Promise.all`',
  };
  const ways = language === 'python' ? how.python : language === undefined ? `in JavaScript and TypeScript, ${how.javascript}; in Python, ${how.python}` : how.javascript;
  const stubs = stubsOf(tools, language);
  const failures = 'A tool that fails throws `ToolError` (`fermata.ToolError` in Python); catch it only where the program can go on without the result.';
  if (stubs !== undefined) {
    return `Tools are the only way out of the program: ${ways}. ${failures}\n\n\`\`\`${language === 'python' ? 'python' : 'typescript'}\n${stubs}\`\`\``;
  }
  const groups = [...Map.groupBy(tools, ({ name }) => name.split('.').slice(0, -1).join('.')).entries()].map(([group, { length }]) => `${group || '(no group)'}: ${length}`);
  const shown = groups.length > MOST_GROUPS ? [...groups.slice(0, MOST_GROUPS), `and ${groups.length - MOST_GROUPS} more groups`] : groups;
  return [
    `Tools are the only way out of the program: ${ways}. ${failures}`,
    `There are ${tools.length} tools, too many to show. By group: ${shown.join('; ')}.`,
    'Before you write the program, find those that you need by the function `search_tools`, which shows their declarations; do not guess names or arguments.',
    'A program can look as well, where what it needs depends on data: `await tools.search({ query })` gives `[{ name, description }]`, `await tools.describe({ name })` the JSON Schemas, and `tools[name](arguments)` calls one (Python: `tools.search(query)`, `tools.describe(name)`, `tools[name](...)`).',
  ].join('\n');
}
