import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      'packages/*/test/**/*.test.{ts,tsx}',
      'apps/*/test/**/*.test.{ts,tsx}',
      '{sim,e2e,bench,examples}/**/*.test.ts',
      'tools/test/**/*.test.ts',
    ],
    exclude: ['**/node_modules/**'],
    globalSetup: ['./tools/test-bundle.ts'],
    setupFiles: ['./tools/test-file-setup.ts'],
    /**
     * Node loads and runs the sources, as it does for users: a simulated life takes a sixth less CPU time than with the
     * imports that vite rewrites, and nothing is transformed. Modules cannot be mocked.
     */
    experimental: { viteModuleRunner: false, nodeLoader: false },
    /**
     * All tests of one worker share its module graph: 1,600 small tests in 80 files took 1.8 s this way and 16 s with a
     * fresh graph for each file (2 cores). A test must leave nothing behind, as it should not anyway.
     * Processes were as fast as threads, and let tests kill, change directory and load native code.
     */
    pool: 'forks',
    isolate: false,
    /** By default one core is left idle, which on two cores is half of them. */
    maxWorkers: '100%',
    /** Only what hangs should run into it: a slow or busy machine is no failure. */
    testTimeout: 90_000,
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 120_000,
    allowOnly: false,
  },
});
