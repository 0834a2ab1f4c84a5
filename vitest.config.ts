import { defineConfig } from 'vitest/config';

/** Timeouts are generous because a first use builds an image's base and CI machines are slow; no test waits for one. */
export default defineConfig({
  test: {
    include: ['packages/*/test/**/*.test.ts', 'tests/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 300_000,
  },
});
