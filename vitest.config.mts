import { defineConfig } from 'vitest/config';

/** What these tests replace in their process would show in others. */
const ALONE = ['test/platform/silent-server.test.ts'];

export default defineConfig({
  test: {
    globalSetup: ['test/support/build.ts', 'test/support/temporary-files.ts'],
    setupFiles: ['test/support/clean-up.ts'],
    // One fewer is the default: half of a machine with two, while what tests wait for are mostly processes of their own.
    maxWorkers: '100%',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    dangerouslyIgnoreUnhandledErrors: false,
    projects: [
      // No module keeps state (docs/ARCHITECTURE.md), so that files can share what they import: half of the time of the tests went there.
      { extends: true, test: { name: 'shared', include: ['test/**/*.test.ts'], exclude: ALONE, isolate: false } },
      { extends: true, test: { name: 'alone', include: ALONE } },
    ],
  },
});
