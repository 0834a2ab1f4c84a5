/** What the package `@fermata/engine` offers. */
export { createEngine } from './engine.ts';
export type * from './engine-api.ts';
export type { EngineOptions, EngineTool, EngineToolCall, EngineTools, Moment, PreparedProgram, Verdict } from './engine-options.ts';
export { verifyChain } from './journal.ts';
