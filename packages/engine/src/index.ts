/** What the package `@fermata/engine` offers. */
export type * from './engine-api.ts';
export { createMemoryStore } from './store/memory/memory-store.ts';
export { type FolderOwner, type OwnerNote, ownerOf, takeFolder } from './store/sqlite/folder-owner.ts';
export { createSqliteStore, type SqliteStoreOptions } from './store/sqlite/sqlite-store.ts';
