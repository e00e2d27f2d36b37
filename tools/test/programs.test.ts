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

  it.each([
    ['format', `${DOUBLE}export const a  =  1\n`, /double\.ts: format/],
    ['any', `${DOUBLE}export const a: any = 1;\n`, /noExplicitAny/],
    [
      'an import of types that is not marked',
      `import { Stats } from 'node:fs';\n\nexport type A = Stats;\n${DOUBLE}`,
      /useImportType/,
    ],
    ['an import that is not used', `import fs from 'node:fs';\n\n${DOUBLE}`, /noUnusedImports/],
    ['an unsorted import', `import b from 'b';\nimport a from 'a';\n\nexport const c = [a, b];\n`, /organizeImports/],
  ])('style: %s', { concurrent: true }, async (_, text, expected) => {
    expect(await findingsOf(checkStyle, { [FILE]: text })).toMatch(expected);
  });

  it('style: nothing', { concurrent: true }, async () => {
    expect(await findingsOf(checkStyle, {})).toBe('');
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

  it.each(['packages/core', 'packages/testing', 'apps/cli', 'apps/server'])(
    'promises: a default hides a missing case in %s',
    { concurrent: true },
    async (folder) => {
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
      const found = await findingsOf(checkPromises, { [`${folder}/src/size.ts`]: `${text}\n` });
      expect(found).toContain('switch-exhaustiveness-check');
    },
  );

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
