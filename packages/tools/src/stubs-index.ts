/** What `@fermata/tools/stubs` offers: tools as declarations that a program's author reads. Apart, because it needs nothing else. */
export { pythonStubs } from './stubs/python.ts';
export type { StubTool } from './stubs/stub-tool.ts';
export { typescriptStubs } from './stubs/typescript.ts';
