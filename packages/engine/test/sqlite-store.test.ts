import { createSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import { storeConformance } from './store-conformance.ts';
import { temporaryFolder } from './temporary-folder.ts';

storeConformance('a SQLite store', () => createSqliteStore({ folder: temporaryFolder() }));
storeConformance('a SQLite store that keeps everything in files', () => createSqliteStore({ folder: temporaryFolder(), inlineBytes: 0 }));
