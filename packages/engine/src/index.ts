/** What the package `@fermata/engine` offers. */
export type * from './engine-api.ts';
export { createMemoryStore } from './store/memory/memory-store.ts';
export { backup, restoreFolder } from './store/sqlite/backup.ts';
export { type FolderOwner, type OwnerNote, ownerOf, takeFolder } from './store/sqlite/folder-owner.ts';
export { createSqliteStore, type SqliteStore, type SqliteStoreOptions } from './store/sqlite/sqlite-store.ts';
