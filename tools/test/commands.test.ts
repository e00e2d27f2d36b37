import { execFile } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runVitest, summarize } from '../test.ts';
import { makeWorkspace, ROOT } from './workspace.ts';

const NOTHING = { passed: 0, failed: 0, skipped: 0, brokenFiles: 0, unhandledRejections: 0 };
const header = "import { expect, it } from 'vitest';\n";

describe('npm test', () => {
  it('exits with its result', () => {
    expect(summarize({ tally: { ...NOTHING, passed: 3 }, exitCode: 0 }, [])).toEqual({
      ok: true,
      lines: ['3 passed, 0 failed'],
    });
    expect(summarize({ tally: { ...NOTHING, passed: 3, failed: 2, skipped: 1 }, exitCode: 1 }, [])).toEqual({
      ok: false,
      lines: ['3 passed, 2 failed, 1 skipped'],
    });
  });

  it.each([
    ['a check', { tally: { ...NOTHING, passed: 3 }, exitCode: 0 }, ['arrows']],
    ['no tests', { tally: NOTHING, exitCode: 0 }, []],
    ['only skipped tests', { tally: { ...NOTHING, skipped: 9 }, exitCode: 0 }, []],
    ['a file that does not load', { tally: { ...NOTHING, passed: 3, brokenFiles: 1 }, exitCode: 1 }, []],
    ['a stray error', { tally: { ...NOTHING, passed: 3, unhandledRejections: 1 }, exitCode: 1 }, []],
    ['a runner that dies', { tally: null, exitCode: null }, []],
    ['an exit code', { tally: { ...NOTHING, passed: 3 }, exitCode: 7 }, []],
  ])('counts %s as a failure', (_, run, failedChecks) => {
    const { ok, lines } = summarize(run, failedChecks);
    expect(ok).toBe(false);
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(/^\d+ passed, 1 failed/);
  });

  it('counts the actual results', async () => {
    using workspace = makeWorkspace({
      'packages/core/test/good.test.ts': `${header}it('a', () => {});\nit('b', (c) => c.skip());\nit('c', () => expect(1).toBe(2));`,
      'packages/core/test/broken.test.ts': "import './nothing.ts';",
      'packages/core/test/stray.test.ts': `${header}it('d', () => void Promise.reject(new Error('stray')));`,
    });
    const { tally, exitCode } = await runVitest(workspace.root, [], 'ignore');
    expect(tally).toEqual({ passed: 2, failed: 1, skipped: 1, brokenFiles: 1, unhandledRejections: 1 });
    expect(exitCode).not.toBe(0);
  });

  it('notices that there is nothing to run', async () => {
    using workspace = makeWorkspace();
    const run = await runVitest(workspace.root, [], 'ignore');
    expect(summarize(run, []).ok).toBe(false);
  });
});

describe('npm run check', () => {
  it('fails with the path and line of each problem, and knows its own names', async () => {
    const run = (cwd: string, ...args: string[]) =>
      new Promise<{ code: unknown; output: string }>((resolve) => {
        execFile(process.execPath, [path.join(ROOT, 'tools/check.ts'), ...args], { cwd }, (error, stdout, stderr) =>
          resolve({ code: error?.code ?? 0, output: stdout + stderr }),
        );
      });
    using workspace = makeWorkspace({ 'packages/core/src/clock.ts': '\nexport const at = Date.now();\n' });
    using unreadable = makeWorkspace({ 'packages/core/package.json': '{' });
    const [bad, good, unknown, broken] = await Promise.all([
      run(workspace.root, '--root', workspace.root, 'ambient', 'links'),
      run(workspace.root, '--root', workspace.root, 'links'),
      run(workspace.root, 'everything'),
      run(unreadable.root, '--root', unreadable.root, 'arrows', 'links'),
    ]);
    expect(bad.code).toBe(1);
    expect(bad.output).toMatch(/✗ ambient .*\n {4}packages\/core\/src\/clock\.ts:2 Date\.now/);
    expect(bad.output).toMatch(/✓ links \d+\.\d s/);
    expect(good.code).toBe(0);
    expect(unknown.code).toBe(2);
    expect(broken.code).toBe(1);
    expect(broken.output).toMatch(/✗ arrows/);
    expect(broken.output).toMatch(/✓ links/);
  });
});
