/**
 * Bundles our packages, and those that they import, before the tests, for the programs that tests start: `nebula run`
 * loads 120 modules instead of 580, and takes 0.3 s of CPU instead of 0.7 s. With imported packages as they are,
 * `nebula serve` would load 1,050 modules instead of 230, and take 1.2 s instead of 0.75 s.
 *
 *  1 Programs import the same names. `redirect.mjs` (in `NODE_OPTIONS`) resolves the entry of a package to its bundle,
 *    for modules of a user's project, too: no process has a module twice.
 *  2 `import.meta.url` is that of the source: files beside it are found.
 *  3 The folder is named by the hash of all that went into it, so it is never out of date.
 *
 * With `TEST_BUNDLES=off` programs load the sources: a change of the sources is tried without 3 s for new bundles.
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseSync } from 'oxc-parser';
import { rolldown } from 'rolldown';
import type { TestProject } from 'vitest/node';
import { CONFORMANCE, packagesOf } from './release/packages.ts';

const THREADS = [
  'apps/server/src/definitions/thread.ts',
  'packages/drivers/src/sqlite/commit-thread.ts',
  'packages/drivers/src/sqlite/checkpoint-thread.ts',
  'packages/drivers/src/sqlite/copy-thread.ts',
  'packages/drivers/src/sqlite/read-thread.ts',
];
/** Native code is found beside its own files. */
const NATIVE = /^(better-sqlite3|@node-rs\/)/;
const ROOT = path.dirname(import.meta.dirname);
const CACHE = path.join(ROOT, 'node_modules/.cache/nebula-bundles');
const KEPT_MS = 24 * 60 * 60 * 1000;

export default async function setup({ provide }: TestProject): Promise<void> {
  if (process.env['TEST_BUNDLES'] !== 'off') provide('redirect', await bundled());
}

async function bundled(): Promise<string> {
  const folder = path.join(CACHE, hashOfSources());
  const redirect = path.join(folder, 'redirect.mjs');
  if (existsSync(redirect)) return redirect;
  mkdirSync(CACHE, { recursive: true });
  removeOld();
  const draft = mkdtempSync(path.join(CACHE, 'draft-'));
  chmodSync(draft, 0o755);
  const entries = entriesOf();
  const build = await rolldown({
    cwd: ROOT,
    input: entries,
    platform: 'node',
    external: NATIVE,
    plugins: [
      {
        name: 'source-url',
        transform: (code, file) => (code.includes('import.meta') ? withSourceUrl(code, file) : null),
      },
    ],
  });
  await build.write({
    dir: draft,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
    keepNames: true,
  });
  await build.close();
  const table = Object.entries(entries).map(([name, file]) => [pathToFileURL(file).href, `./${name}.mjs`]);
  // Its hook would answer for the command's own modules before the redirect is asked.
  table.push([pathToFileURL(path.join(ROOT, 'apps/cli/bin/own-modules.js')).href, './own-modules.mjs']);
  writeFileSync(path.join(draft, 'own-modules.mjs'), 'export function findOwnModules() {}\n');
  writeFileSync(path.join(draft, 'redirect.mjs'), redirectText(table));
  try {
    renameSync(draft, folder);
  } catch (error) {
    // Another run of the tests was faster.
    if (!existsSync(redirect)) throw error;
    rmSync(draft, { recursive: true });
  }
  return redirect;
}

/** Tests that are still running may use a bundle of yesterday's sources, and no older one. */
function removeOld(): void {
  for (const name of readdirSync(CACHE)) {
    const folder = path.join(CACHE, name);
    const ageMs = Date.now() - statSync(folder).mtimeMs;
    if (ageMs > KEPT_MS) rmSync(folder, { recursive: true, force: true });
  }
}

function entriesOf(): Record<string, string> {
  const exported = packagesOf(ROOT).flatMap(({ folder, manifest }) =>
    Object.values(manifest.exports ?? {}).map((file) => path.join(folder, file)),
  );
  const files = [...exported, 'apps/cli/src/main.ts', ...THREADS].map((file) => path.join(ROOT, file));
  return Object.fromEntries(files.map((file) => [bundleName(file), file]));
}

function bundleName(file: string): string {
  return path.relative(ROOT, file).replace(/\.ts$/, '').replaceAll(path.sep, '-');
}

/** Threads are started by their file, which no hook sees: the URL of their bundle stands in the code. */
function withSourceUrl(code: string, file: string): string {
  const url = JSON.stringify({ url: pathToFileURL(file).href });
  const { importMetas } = parseSync(file, code).module;
  return importMetas.reduceRight((text, { start, end }) => {
    const [before, after] = [text.slice(0, start), text.slice(end)];
    const [whole, thread] = /'(\.\/[\w-]*thread\.ts)', $/.exec(before) ?? [];
    if (whole === undefined) return `${before}(${url})${after}`;
    const bundle = bundleName(path.join(path.dirname(file), thread!));
    return `${before.slice(0, -whole.length)}'./${bundle}.mjs', import.meta${after}`;
  }, code);
}

function redirectText(table: readonly (readonly string[])[]): string {
  return `
import { registerHooks } from 'node:module';
const bundles = new Map(${JSON.stringify(table)});
const folder = new URL('.', import.meta.url).href;
registerHooks({
  resolve(specifier, context, next) {
    // From one bundle to another: Node would look at the file system three times.
    if (specifier.startsWith('./') && context.parentURL?.startsWith(folder))
      return { url: folder + specifier.slice(2), format: 'module', shortCircuit: true };
    const resolved = next(specifier, context);
    const bundle = bundles.get(resolved.url);
    return bundle === undefined ? resolved : { ...resolved, url: new URL(bundle, import.meta.url).href, format: 'module' };
  },
});
`;
}

function hashOfSources(): string {
  const hash = createHash('sha256');
  const folders = packagesOf(ROOT).flatMap(({ folder }) => [`${folder}/src`, `${folder}/${CONFORMANCE}`]);
  for (const folder of folders.filter((each) => existsSync(path.join(ROOT, each)))) {
    for (const name of readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).sort()) {
      if (name.endsWith('.ts')) hash.update(`${folder} ${name}\0`).update(readFileSync(path.join(ROOT, folder, name)));
    }
  }
  for (const file of ['package-lock.json', 'tools/test-bundle.ts']) hash.update(readFileSync(path.join(ROOT, file)));
  return hash.digest('hex').slice(0, 16);
}
