/** What `@fermata/tools/stubs` offers: tools as declarations, for whoever writes programs. Apart, because it needs nothing of the sources. */
export { pythonStubs } from './stubs/python.ts';
export { typescriptStubs } from './stubs/typescript.ts';
