/** What `@fermata/tools/stubs` offers: what the author of a program is told of tools. Apart, because it needs nothing of what calls them. */
export { type PromptTools, toolsForPrompt } from './stubs/prompt.ts';
export { pythonStubs } from './stubs/python.ts';
export type { StubTool } from './stubs/stub-tool.ts';
export { typescriptStubs } from './stubs/typescript.ts';
export { searchTools } from './tool-search.ts';
