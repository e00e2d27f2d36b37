import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import { makeCopy } from '../mutate/copy.ts';
import { changesIn, drawMutations } from '../mutate/draw.ts';
import { describeChange, type Mutation, mutated, staleIn } from '../mutate/mutation.ts';
import { NAMED } from '../mutate/named/index.ts';
import { Results, summaryOf } from '../mutate/results.ts';
import { nearTestsOf, testsOf } from '../mutate/tests-of.ts';
import { Trials } from '../mutate/trial.ts';
import { makeWorkspace, ROOT, type Workspace } from './workspace.ts';

const SOURCE = 'packages/core/src/double.ts';
const TEST = 'packages/core/test/double.test.ts';

const wrong: Mutation = {
  id: 'wrong',
  file: SOURCE,
  find: 'value * 2',
  replace: 'value * 3',
  breaks: 'A double is a triple.',
  killers: [TEST],
};

/** A workspace whose packages import each other as those of the repository do: through links in `node_modules`. */
function linkedWorkspace(files: Readonly<Record<string, string>> = {}): Workspace {
  const workspace = makeWorkspace({
    [TEST]: `import { double } from '@nebula/core';
import { expect, it } from 'vitest';
it('doubles', () => expect(double(4)).toBe(8));
`,
    ...files,
  });
  const own = path.join(workspace.root, 'node_modules/@nebula');
  rmSync(own);
  mkdirSync(own);
  symlinkSync('../../packages/core', path.join(own, 'core'));
  return workspace;
}

describe('npm run mutate', () => {
  it('[PKG-40] [PKG-41] [PKG-43] kills in a copy, ends what hangs, names survivors, and continues', async () => {
    using workspace = linkedWorkspace();
    const { root } = workspace;
    const before = readFileSync(path.join(root, SOURCE), 'utf8');
    const harmless = { ...wrong, id: 'harmless', replace: '2 * value' };
    const endless = { ...wrong, id: 'endless', find: 'return', replace: 'for (;;) {}\n  return' };
    const file = path.join(root, 'results.jsonl');
    using copy = makeCopy(root);
    const written = new Results(file, false);
    const trials = new Trials(copy, written, {});
    await trials.begin([wrong]);
    const results = [];
    for (const mutation of [wrong, harmless]) results.push((await trials.try(mutation)).result);
    results.push((await new Trials(copy, written, { limitMs: 3_000 }).try(endless)).result);
    expect(results.map(({ verdict }) => verdict)).toEqual([
      { status: 'killed', by: `${TEST}: doubles` },
      { status: 'survived' },
      { status: 'timeout', by: TEST },
    ]);
    expect(summaryOf(results)).toContain('2 of 3 killed (66.7 %), 1 of them by the time limit; 1 survived');
    expect(summaryOf(results)).toContain(`${SOURCE}:2\n- return value * 2;\n+ return 2 * value;`);
    for (const folder of [root, copy.root]) expect(readFileSync(path.join(folder, SOURCE), 'utf8')).toBe(before);
    // Known results are not tried again; a changed mutation is another one.
    const again = new Trials(copy, new Results(file, true), {});
    expect(await again.try(wrong)).toMatchObject({ isKnown: true, result: { verdict: { status: 'killed' } } });
    expect(await again.try({ ...wrong, replace: 'value * 4' })).toMatchObject({ isKnown: false });
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(4);
  });

  it('[PKG-42] a test that fails without the mutation, and a test that does not exist, kill nothing', async () => {
    using workspace = linkedWorkspace({
      'packages/core/test/broken.test.ts':
        "import { expect, it } from 'vitest';\nit('is broken', () => expect(1).toBe(2));\n",
    });
    using copy = makeCopy(workspace.root);
    const trials = new Trials(copy, new Results(path.join(workspace.root, 'results.jsonl'), false), {});
    const named = (killer: string) => ({ ...wrong, killers: [killer] });
    await expect(trials.begin([named('packages/core/test/broken.test.ts')])).rejects.toThrow(/it can kill nothing/);
    await expect(trials.begin([named('packages/core/test/nothing.test.ts')])).rejects.toThrow(/No test matches/);
    await expect(trials.begin([named(`${TEST} triples`)])).rejects.toThrow(/No test matches/);
  });

  it('[PKG-42] says what it does not know, and lists what it does', async () => {
    const run = (...args: string[]) =>
      new Promise<{ code: unknown; output: string }>((resolve) => {
        const program = path.join(ROOT, 'tools/mutate/mutate.ts');
        execFile(process.execPath, [program, ...args], { cwd: ROOT }, (error, stdout, stderr) =>
          resolve({ code: error?.code ?? 0, output: stdout + stderr }),
        );
      });
    const [unknown, number, near, list] = await Promise.all([
      run('no-such-mutation'),
      run('--random', 'many'),
      run('--near'),
      run('--list', '--file', 'core/src/run/journal'),
    ]);
    expect(unknown).toEqual({ code: 2, output: "There is no mutation 'no-such-mutation': see --list.\n" });
    expect(number).toEqual({ code: 2, output: "--random takes a number, not 'many'.\n" });
    expect(near).toEqual({ code: 2, output: '--near belongs to --random.\n' });
    expect(list).toMatchObject({ code: 0, output: expect.stringContaining('snapshot-drops-undone') });
  });
});

describe('named mutations', () => {
  it('[PKG-44] match their sources, each exactly once', () => {
    expect(staleIn(ROOT, NAMED)).toEqual([]);
    expect(NAMED.length).toBeGreaterThanOrEqual(80);
    expect(NAMED.filter(({ sim }) => sim === true).length).toBeGreaterThanOrEqual(27);
    const perFile = Map.groupBy(NAMED, ({ file }) => file);
    expect([...perFile].filter(([, own]) => own.length > 5)).toEqual([]);
  });

  it('[PKG-44] name tests that exist', () => {
    const paths = NAMED.flatMap(({ killers }) => killers.map((killer) => killer.split(' ')[0] as string));
    expect(paths.filter((name) => !existsSync(path.join(ROOT, name)))).toEqual([]);
    expect(NAMED.filter(({ killers }) => killers.length === 0)).toEqual([]);
  });

  it('[PKG-44] a mutation that matches nothing, or twice, is stale', () => {
    expect(() => mutated(wrong, 'return value + value;')).toThrow(/wrong is stale: its text occurs 0 times/);
    expect(() => mutated(wrong, 'value * 2; value * 2')).toThrow(/occurs 2 times/);
    expect(() => mutated({ ...wrong, replace: wrong.find }, 'value * 2')).toThrow(/changes nothing/);
    const stale = { ...wrong, file: 'packages/core/src/heap.ts' };
    expect(staleIn(ROOT, [stale, stale])).toEqual([
      expect.stringContaining('occurs 0 times'),
      'wrong is the id of two mutations.',
      expect.stringContaining('occurs 0 times'),
    ]);
  });

  it('[PKG-40] a change is shown with its line, also a removed one', () => {
    const text = 'a();\n  b();\nc();\n';
    const removed = { ...wrong, find: '  b();\n', replace: '' };
    expect(describeChange(removed, text)).toEqual({ line: 2, diff: '- b();' });
    expect(describeChange({ ...wrong, find: 'b', replace: 'd' }, text)).toEqual({ line: 2, diff: '- b();\n+ d();' });
  });
});

describe('drawn mutations', () => {
  it('[PKG-45] are the same for the same seed, and each is still a program', () => {
    const drawn = drawMutations(ROOT, 40, 7, 'core/src/run');
    expect(drawn).toHaveLength(40);
    expect(drawMutations(ROOT, 40, 7, 'core/src/run')).toEqual(drawn);
    expect(drawMutations(ROOT, 40, 8, 'core/src/run')).not.toEqual(drawn);
    expect(staleIn(ROOT, drawn)).toEqual([]);
    for (const mutation of drawn) {
      const text = mutated(mutation, readFileSync(path.join(ROOT, mutation.file), 'utf8'));
      expect([mutation.id, parseSync(mutation.file, text).errors]).toEqual([mutation.id, []]);
    }
  });

  it('[PKG-45] change what runs, and no types', () => {
    const text = `type Two = 2;
export function f(a: number, b?: 'x' | true): boolean {
  g(a);
  if (a >= 1 && !b) return [a].some(Boolean);
  return a - 1 < 0;
}
`;
    const shown = changesIn('a.ts', text).map(({ start, end, text: now }) => `${text.slice(start, end)} → ${now}`);
    expect(shown).toEqual([
      '{ → { return undefined as never;',
      'g(a); → {}',
      'a >= 1 && !b → !(a >= 1 && !b)',
      'a >= 1 && !b → ((a >= 1) || (!b))',
      '>= → >',
      '1 → (1 + 1)',
      '!b → (b)',
      'some → every',
      '- → +',
      '1 → (1 + 1)',
      '< → <=',
      '0 → (0 + 1)',
    ]);
  });

  it('[PKG-45] are tried with the nearest tests first', () => {
    expect(testsOf(ROOT, 'packages/core/src/run/undo/undo.ts')).toEqual([
      ['packages/core/test/run/undo/'],
      ['packages/core/test/run/'],
      ['packages/core/test/'],
      ['packages/engine/test/', 'packages/testing/test/', 'sim/smoke.test.ts'],
    ]);
    expect(nearTestsOf(ROOT, 'packages/core/src/run/decide/decide.ts')).toEqual([['packages/core/test/run/']]);
    expect(nearTestsOf(ROOT, 'packages/engine/src/turn/turns.ts')).toEqual([['packages/engine/test/']]);
  });
});
