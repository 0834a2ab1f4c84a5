/** What the package `@fermata/engine` offers: the engine of durable tasks, and the stores that it can stand on. */
export { taskOfCall } from './call-desk.ts';
export { createEngine } from './engine.ts';
export type * from './engine-api.ts';
export type { CallHistory, CheckableTool, CheckedProgram, EngineOptions, EngineTool, EngineToolCall, EngineTools, Moment, PreparedProgram, Verdict } from './engine-options.ts';
export { fileBlob } from './files.ts';
export { verifyChain } from './journal.ts';
export { createMemoryStore } from './store/memory/memory-store.ts';
export { backup, restoreFolder } from './store/sqlite/backup.ts';
export { type FolderOwner, type OwnerNote, takeFolder } from './store/sqlite/folder-owner.ts';
export { createSqliteStore, type SqliteStore, type SqliteStoreOptions } from './store/sqlite/sqlite-store.ts';
export { checkableTools } from './task-program.ts';
