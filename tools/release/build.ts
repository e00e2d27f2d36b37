/**
 * `npm run build`: makes of every package a folder in `dist` that can be published: JavaScript, source maps,
 * declarations, a `package.json` of its own, the README and the licence; of the Studio, the bundle. `--pack` makes tarballs of them, too;
 * `--unchecked` leaves the check of types to `npm run check`, which halves the CPU time of the compiler.
 *
 * The repository itself runs its sources and never looks into `dist`.
 */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import {
  BUILT,
  BUNDLED,
  COMPILED,
  CONFORMANCE,
  DEMO,
  type Manifest,
  type Package,
  packagesOf,
  publishedManifest,
  readManifest,
} from './packages.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const COMPILER_OUTPUT = '.compiled';
export const TARBALLS = 'tarballs';

/** `dist`: the folder to fill; what it had before is deleted. */
export function build(root: string, dist: string, isPacked: boolean, isChecked = true): void {
  rmSync(dist, { recursive: true, force: true });
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
  const outDir = path.join(dist, COMPILER_OUTPUT);
  const options = ['--checkers', '1', ...(isChecked ? [] : ['--noCheck']), '--outDir', outDir];
  run(root, process.execPath, [tsc, '-p', 'tsconfig.build.json', ...options]);
  const rootManifest = readManifest(path.join(root, 'package.json'));
  const packages = packagesOf(root);
  for (const built of packages) writePackage(root, dist, built, rootManifest);
  rmSync(path.join(dist, COMPILER_OUTPUT), { recursive: true });
  if (isPacked) packAll(dist, packages);
}

function writePackage(root: string, dist: string, built: Package, rootManifest: Manifest): void {
  const { folder, shortName } = built;
  const target = path.join(dist, shortName);
  mkdirSync(target, { recursive: true });
  if (folder === BUNDLED) {
    run(root, process.execPath, [path.join(folder, 'build/build.ts'), '--out', path.join(target, BUILT)]);
  } else {
    moveCompiled(path.join(dist, COMPILER_OUTPUT, folder, 'src'), path.join(target, COMPILED), built);
  }
  const suites = path.join(dist, COMPILER_OUTPUT, folder, CONFORMANCE);
  if (existsSync(suites)) moveCompiled(suites, path.join(target, CONFORMANCE), built);
  if (built.manifest.bin !== undefined) {
    cpSync(path.join(root, folder, 'bin'), path.join(target, 'bin'), { recursive: true });
    for (const file of Object.values(built.manifest.bin)) rewrite(path.join(target, file), startsCompiled);
    copyDemo(root, path.join(target, DEMO));
  }
  writeFileSync(path.join(target, 'package.json'), json(publishedManifest(built, rootManifest)));
  copyFileSync(path.join(root, folder, 'README.md'), path.join(target, 'README.md'));
  copyFileSync(path.join(root, 'LICENSE'), path.join(target, 'LICENSE'));
}

function moveCompiled(from: string, to: string, { manifest }: Package): void {
  renameSync(from, to);
  for (const name of readdirSync(to, { recursive: true, encoding: 'utf8' })) {
    const file = path.join(to, name);
    if (name.endsWith('.d.ts') && manifest.exports === undefined) rmSync(file);
    else if (name.endsWith('.d.ts')) rewrite(file, withCompiledImports);
    else if (name.endsWith('.js')) rewrite(file, withCompiledUrls);
    else if (name.endsWith('.map')) rewrite(file, (map) => withSourceBeside(map, path.basename(from), name));
  }
}

/** The examples as they are, for `nebula demo`. */
function copyDemo(root: string, target: string): void {
  const isLeftOut = (file: string) => /\.test\.ts$|^examples\/(out|patterns|pattern-run\.ts)/.test(file);
  cpSync(path.join(root, 'examples'), path.join(target, 'examples'), {
    recursive: true,
    filter: (source) => !isLeftOut(path.relative(root, source).split(path.sep).join('/')),
  });
  copyFileSync(path.join(root, 'nebula.config.ts'), path.join(target, 'nebula.config.ts'));
}

/** The compiler leaves the URLs of worker threads and hooks as they are. */
export function withCompiledUrls(code: string): string {
  return code.replace(/(?<=\bnew URL\('\.{1,2}\/[^']+)\.ts(?=', import\.meta\.url\))/g, '.js');
}

/** Declarations, too, are left with the names of sources. */
export function withCompiledImports(declarations: string): string {
  return declarations.replace(/(?<=\b(?:from |import |import\()(['"])\.{1,2}\/[^'"\n]+)\.ts(?=\1)/g, '.js');
}

/** A map carries its source; the path says where it lies in the repository's package. */
function withSourceBeside(map: string, folder: string, name: string): string {
  const source = path.posix.join(
    folder,
    name
      .split(path.sep)
      .join('/')
      .replace(/\.js\.map$/, '.ts'),
  );
  const from = path.posix.dirname(path.posix.join(COMPILED, name.split(path.sep).join('/')));
  return JSON.stringify({ ...(JSON.parse(map) as object), sources: [path.posix.relative(from, source)] });
}

function startsCompiled(text: string): string {
  const changed = text.replaceAll(/'\.\.\/src\/([^']+)\.ts'/g, `'../${COMPILED}/$1.js'`);
  if (changed === text) throw new Error('the program does not start ../src/….ts');
  return changed;
}

function rewrite(file: string, change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}

function packAll(dist: string, packages: readonly Package[]): void {
  mkdirSync(path.join(dist, TARBALLS));
  const folders = packages.map(({ shortName }) => `./${shortName}`);
  run(dist, 'npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', TARBALLS, ...folders]);
}

function run(cwd: string, program: string, args: readonly string[]): void {
  // GOGC makes tsc, a Go program, collect garbage less often: a quarter less CPU time.
  const env = { ...process.env, GOGC: '400' };
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${error?.message ?? stdout + stderr}`);
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

if (import.meta.main) {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({ options: { pack: flag, unchecked: flag } });
  const startedMs = performance.now();
  const dist = path.join(ROOT, 'dist');
  build(ROOT, dist, values.pack, !values.unchecked);
  const names = readdirSync(dist).filter((name) => name !== TARBALLS);
  console.log(`${names.length} packages in dist${values.pack ? ', packed in dist/tarballs' : ''}`);
  console.log(`${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
}
