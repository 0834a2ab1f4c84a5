import { createMemoryStore } from '../src/store/memory/memory-store.ts';
import { storeConformance } from './store-conformance.ts';

storeConformance('a memory store', createMemoryStore);
