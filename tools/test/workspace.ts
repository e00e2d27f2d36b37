/** A small workspace on disk with this repository's own configuration, in which the real programs can run. */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export const ROOT = path.resolve(import.meta.dirname, '../..');

const CONFIGURATION = [
  'biome.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'knip.json',
  '.oxlintrc.json',
  'vitest.config.ts',
  '.gitignore',
];
/** Named by vitest.config.ts, as is test-bundle.ts, which has nothing to do here. */
const SETUP = 'tools/test-file-setup.ts';

const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`;

const FILES: Readonly<Record<string, string>> = {
  'package.json': json({ name: 'workspace', type: 'module', private: true, workspaces: ['packages/*'] }),
  'tools/test-bundle.ts': 'export default function setup(): void {}\n',
  'packages/core/package.json': json({ name: '@nebula/core', type: 'module', exports: { '.': './src/index.ts' } }),
  'packages/core/src/index.ts': "export { double } from './double.ts';\n",
  'packages/core/src/double.ts': 'export function double(value: number): number {\n  return value * 2;\n}\n',
};

export interface Workspace extends Disposable {
  readonly root: string;
}

export function makeWorkspace(changes: Readonly<Record<string, string>> = {}): Workspace {
  const root = mkdtempSync(path.join(tmpdir(), 'nebula-workspace-'));
  for (const name of CONFIGURATION) copyFileSync(path.join(ROOT, name), path.join(root, name));
  // Without `.cache`: the types check would replace what the compiler keeps there of the repository itself.
  const modules = path.join(ROOT, 'node_modules');
  mkdirSync(path.join(root, 'node_modules'));
  for (const name of readdirSync(modules).filter((each) => each !== '.cache'))
    symlinkSync(path.join(modules, name), path.join(root, 'node_modules', name));
  mkdirSync(path.join(root, '.git'));
  mkdirSync(path.join(root, 'tools'));
  copyFileSync(path.join(ROOT, SETUP), path.join(root, SETUP));
  for (const [name, text] of Object.entries({ ...FILES, ...changes })) {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
}
