/** The tools of a program, as its author is told of them. */
import type { Language } from '@fermata/protocol';
import { type PromptTools, type StubTool, toolsForPrompt } from '@fermata/tools/stubs';

/** Declarations that are longer are not shown; the model looks for the tools that it needs. */
const MOST_STUB_CHARS = 24_000;
/** So many characters a declaration takes at the least: of more tools than fit none is written out to know it. */
const LEAST_STUB_CHARS = 16;

const CALLS = {
  python: 'call `tools.group.name(key=value)` (it blocks), or `await asyncio.gather(tools.a(...), tools.b(...))` inside of a coroutine',
  javascript: 'call `await tools.group.name({ key: value })`, several at once with `Promise.all`',
};
const FAILURES = 'A tool that fails throws `ToolError` (`fermata.ToolError` in Python); catch it only where the program can go on without the result.';
const SEARCH_FIRST = 'Before you write the program, find the tools that you need by the function `search_tools`, which shows their declarations; do not guess names or arguments.';

/** Whether each of them is declared. */
export function areDeclared(tools: readonly StubTool[], language: Language | undefined): boolean {
  return tools.length === 0 || promptTools(tools, language).complete;
}

export function toolsText(tools: readonly StubTool[], language: Language | undefined): string {
  if (tools.length === 0) return 'There are no tools; `tools` is empty.';
  const ways = language === undefined ? `in JavaScript and TypeScript, ${CALLS.javascript}; in Python, ${CALLS.python}` : CALLS[guestOf(language)];
  const { text, complete } = promptTools(tools, language);
  const shown = complete ? `\`\`\`${language === 'python' ? 'python' : 'typescript'}\n${text}\`\`\`` : text.trimEnd();
  return `Tools are the only way out of the program: ${ways}. ${FAILURES}\n\n${shown}`;
}

function promptTools(tools: readonly StubTool[], language: Language | undefined): PromptTools {
  const most = tools.length * LEAST_STUB_CHARS > MOST_STUB_CHARS ? 0 : MOST_STUB_CHARS;
  return toolsForPrompt(most > 0 ? tools : briefly(tools), guestOf(language), most, SEARCH_FIRST);
}

/** Without what makes declarations long to write. */
function briefly(tools: readonly StubTool[]): StubTool[] {
  return tools.map(({ name }) => ({ name, description: '', parameters: {} }));
}

/** Where the model chooses, declarations in TypeScript are read by all. */
const guestOf = (language: Language | undefined) => (language === 'python' ? 'python' : 'javascript');
