import { describe, expect, it } from 'vitest';
import { repositoryOf } from '../checks/repository.ts';
import { checkTidiness } from '../checks/tidiness.ts';

const problemsOf = (files: Record<string, string>) => checkTidiness(repositoryOf(files)).problems;
const warningsOf = (text: string, file = 'packages/core/src/a.ts') =>
  checkTidiness(repositoryOf({ [file]: text })).warnings;
/** Fixtures that must not themselves be found in this file. */
const [work, root, users] = ['work', 'root', 'Users'].map((name) => `/${name}/`);
const later = ['TO', 'DO'].join('');

describe('tidiness', () => {
  it.each([
    'utils.ts',
    'helpers.ts',
    'common.ts',
    'string-utils.ts',
    'RunManager.ts',
    'run-manager.ts',
    'types.ts',
    'interfaces.ts',
    'types.d.ts',
    'utils/a.ts',
    'test/helpers/a.ts',
  ])('refuses a file called %s', (name) => {
    expect(problemsOf({ [`packages/core/src/${name}`]: '' })).toHaveLength(1);
  });

  it('accepts meaningful names', () => {
    expect(
      problemsOf({
        'packages/core/src/media-types.ts': '',
        'packages/core/src/commonmark.ts': '',
        'packages/core/src/futil.ts': '',
        '.editorconfig': '',
      }),
    ).toEqual([]);
  });

  it('refuses export *', () => {
    expect(problemsOf({ 'a.ts': "export * from './b.ts';" })).toEqual([
      'a.ts:1 export * hides what a file offers: name the exports',
    ]);
    expect(problemsOf({ 'a.ts': "export * as b from './b.ts';" })).toHaveLength(1);
    expect(problemsOf({ 'a.ts': "export { b } from './b.ts'; // not export *" })).toEqual([]);
  });

  it.each([
    'it.only',
    'it.skip',
    'it.todo',
    'describe.only',
    'describe.skip',
    'test.concurrent.only',
    'it.skip.each([1])',
    'it.each([1]).only',
  ])('refuses %s in a test', (call) => {
    expect(problemsOf({ 'packages/core/test/a.test.ts': `${call}('works', () => {});` })).toHaveLength(1);
    expect(problemsOf({ 'packages/ports/conformance/store.ts': `${call}('works', () => {});` })).toHaveLength(1);
  });

  it('refuses tests that are held back by an option', () => {
    expect(problemsOf({ 'a.test.ts': "it('works', { skip: true }, () => {});" })).toHaveLength(1);
    expect(problemsOf({ 'a.test.ts': "it('works', { skip: false, timeout: 9 }, () => {});" })).toEqual([]);
  });

  it('accepts skipIf when a comment says why', () => {
    expect(problemsOf({ 'a.test.ts': "it.skipIf(!postgres)('works', () => {});" })).toEqual([
      'a.test.ts:1 skipIf needs a comment that says why',
    ]);
    expect(
      problemsOf({ 'a.test.ts': "// Needs a PostgreSQL server.\nit.skipIf(!postgres)('works', () => {});" }),
    ).toEqual([]);
  });

  it('refuses leftovers in comments and documents, not in strings', () => {
    expect(problemsOf({ 'a.ts': `\n// ${later}: later` })).toEqual([`a.ts:2 ${later} left behind`]);
    expect(problemsOf({ 'a.ts': '/** FIXME */' })).toHaveLength(1);
    expect(problemsOf({ 'a.md': `- ${later} write this` })).toHaveLength(1);
    expect(problemsOf({ 'a.ts': `const title = '${later}';` })).toEqual([]);
  });

  it.each([
    `cd ${work}main`,
    `"${work}a"`,
    `see(${root}.cache)`,
    `${users}ada/nebula`,
    `file://${work}a`.replace('file://', 'path='),
  ])('refuses the path in %s', (text) => {
    for (const file of ['a.md', 'a.json', '.ci/run', 'a.yaml']) expect(problemsOf({ [file]: text })).toHaveLength(1);
  });

  it.each([`src${work}a.ts`, `./work/a.ts`, `https://example.com${work}a`, '/workflows/a', `\${base}${work}a`])(
    'accepts the path in %s',
    (text) => {
      expect(problemsOf({ 'a.md': text })).toEqual([]);
    },
  );

  it('keeps hosts out of the lock file', () => {
    const lock = (line: string) => problemsOf({ 'package-lock.json': `{\n${line}\n}` });
    expect(lock('"resolved": "https://npm.example.com/a/-/a-1.0.0.tgz"')).toHaveLength(1);
    expect(lock('"resolved": "git+ssh://git@example.com/a.git"')).toHaveLength(1);
    expect(lock('"from": "registry.npmjs.org"')).toHaveLength(1);
    expect(lock('"resolved": "packages/core", "funding": { "url": "https://example.com" }')).toEqual([]);
  });

  it('warns of long files and functions, unless they say why', () => {
    const file = 'const a = 1;\n'.repeat(501);
    expect(warningsOf(file)).toEqual(['packages/core/src/a.ts has 501 lines']);
    expect(warningsOf('const a = 1;\n'.repeat(500))).toEqual([]);
    expect(warningsOf(`/** Long because the table is one piece. */\n${file}`)).toEqual([]);
    const body = '  work();\n'.repeat(69);
    expect(warningsOf(`export function decide() {\n${body}}`)).toEqual([
      'packages/core/src/a.ts:1 decide has 71 lines',
    ]);
    expect(warningsOf(`const decide = () => {\n${body}};`)).toEqual(['packages/core/src/a.ts:1 decide has 71 lines']);
    expect(warningsOf(`class Run {\n  decide() {\n${body}}\n}`)).toEqual([
      'packages/core/src/a.ts:2 decide has 71 lines',
    ]);
    expect(warningsOf(`describe('a', () => {\n${body}});`, 'packages/core/test/a.test.ts')).toEqual([]);
  });
});
