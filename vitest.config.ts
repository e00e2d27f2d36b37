import { defineConfig, type Plugin } from 'vitest/config';

/**
 * All tests of one worker share its module graph: 1,600 small tests in 80 files took 1.8 s this way and 16 s with a
 * fresh graph for each file (2 cores). It asks of a test that it leaves nothing behind, which it should not anyway.
 * Processes were as fast as threads, and let tests kill, change directory and load native code.
 */
/**
 * A project in a temporary folder may import our packages: the program lends it its own copies, and so does the test
 * runner, which loads such files by itself. Without this it would depend on what other tests had loaded before.
 */
const lend: Plugin = {
  name: 'lend-packages',
  enforce: 'pre',
  resolveId(id) {
    return id.startsWith('@nebula/') ? this.resolve(id, import.meta.filename, { skipSelf: true }) : null;
  },
};

export default defineConfig({
  plugins: [lend],
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
    pool: 'forks',
    isolate: false,
    /** By default one core is left idle, which on two cores is half of them. */
    maxWorkers: '100%',
    /** Only what hangs should run into it: a slow or busy machine is no failure. */
    testTimeout: 90_000,
    hookTimeout: 120_000,
    allowOnly: false,
  },
});
