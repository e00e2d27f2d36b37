import { describe, expect, it } from 'vitest';
import { checkPromises, checkStyle, checkTypes, checkUnused } from '../checks/programs.ts';
import type { Verdict } from '../checks/repository.ts';
import { makeWorkspace } from './workspace.ts';

const FILE = 'packages/core/src/double.ts';
const DOUBLE = 'export function double(value: number): number {\n  return value * 2;\n}\n';

async function findingsOf(check: (root: string) => Promise<Verdict>, changes: Record<string, string>): Promise<string> {
  using workspace = makeWorkspace(changes);
  return (await check(workspace.root)).problems.join('\n');
}

describe('programs with our configuration', () => {
  it('types', { concurrent: true }, async () => {
    expect(await findingsOf(checkTypes, {})).toBe('');
    const wrong = `${DOUBLE}export const text: string = double(1);\nexport enum Colour {\n  Red,\n}\n`;
    const found = await findingsOf(checkTypes, { [FILE]: wrong });
    expect(found).toMatch(/double\.ts\(4,14\): error TS2322/);
    expect(found).toMatch(/double\.ts\(5,13\): error TS1294/);
    const strictOnly = `${DOUBLE}export const none = new Set([[1][0]]).has(undefined);\n`;
    expect(await findingsOf(checkTypes, { [FILE]: strictOnly })).toMatch(/double\.ts\(4,\d+\): error TS2345/);
  });

  it('style', { concurrent: true }, async () => {
    expect(await findingsOf(checkStyle, {})).toBe('');
    const found = await findingsOf(checkStyle, {
      'packages/core/src/format.ts': 'export const a  =  1\n',
      'packages/core/src/any.ts': 'export const a: any = 1;\n',
      'packages/core/src/unmarked.ts': "import { Stats } from 'node:fs';\n\nexport type A = Stats;\n",
      'packages/core/src/unneeded.ts': `import fs from 'node:fs';\n\n${DOUBLE}`,
      'packages/core/src/unsorted.ts': "import b from 'b';\nimport a from 'a';\n\nexport const c = [a, b];\n",
    });
    expect(found).toMatch(/format\.ts: format/);
    expect(found).toMatch(/any\.ts.*noExplicitAny/);
    expect(found).toMatch(/unmarked\.ts.*useImportType/);
    expect(found).toMatch(/unneeded\.ts.*noUnusedImports/);
    expect(found).toMatch(/unsorted\.ts.*organizeImports/);
  });

  it('promises', { concurrent: true }, async () => {
    const careful = `${DOUBLE}export async function later(): Promise<void> {\n  await Promise.resolve();\n}\n`;
    expect(await findingsOf(checkPromises, { [FILE]: careful })).toBe('');
    const careless = [
      careful,
      'export function forget(kind: "a" | "b"): number {',
      '  later();',
      '  [1].forEach(async () => await later());',
      '  if (later()) return 3;',
      '  switch (kind) {',
      '    case "a":',
      '      return 1;',
      '  }',
      '  return 2;',
      '}',
      'export async function hurry(): Promise<number> {',
      '  return await 1;',
      '}',
    ].join('\n');
    const found = await findingsOf(checkPromises, { [FILE]: careless });
    for (const rule of [
      'no-floating-promises',
      'no-misused-promises',
      'switch-exhaustiveness-check',
      'await-thenable',
    ]) {
      expect(found).toContain(rule);
    }
  });

  it('promises: a default hides a missing case', { concurrent: true }, async () => {
    const text = [
      'export function size(kind: "a" | "b"): number {',
      '  switch (kind) {',
      '    case "a":',
      '      return 1;',
      '    default:',
      '      return 2;',
      '  }',
      '}',
    ].join('\n');
    const files = ['packages/core', 'packages/testing', 'apps/cli', 'apps/server'].map((at) => `${at}/src/size.ts`);
    const found = await findingsOf(checkPromises, Object.fromEntries(files.map((file) => [file, `${text}\n`])));
    for (const file of files) expect(found).toMatch(new RegExp(`${file}.*switch-exhaustiveness-check`));
  });

  it('unused', { concurrent: true }, async () => {
    expect(await findingsOf(checkUnused, {})).toBe('');
    const found = await findingsOf(checkUnused, {
      [FILE]: `${DOUBLE}export const forgotten = 1;\nexport interface Lonely {\n  readonly a: number;\n}\n`,
      'packages/core/src/nobody.ts': 'export const nobody = 1;\n',
      'packages/core/test/double.test.ts': "import { double } from '../src/double.ts';\n\ndouble(1);\n",
      'packages/core/test/orphan.ts': 'export const orphan = 1;\n',
      'packages/core/package.json':
        '{ "name": "@nebula/core", "exports": { ".": "./src/index.ts" }, "dependencies": { "yaml": "2" } }\n',
    });
    expect(found).toContain('double.ts: forgotten');
    expect(found).toContain('double.ts: Lonely');
    expect(found).toContain('src/nobody.ts');
    expect(found).toContain('test/orphan.ts');
    expect(found).toContain('packages/core/package.json: yaml');
    expect(found).not.toContain('double.test.ts');
  });
});
