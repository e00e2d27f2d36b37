/**
 * Keeps builds by a hash of everything that goes into them, in `node_modules/.cache/nebula-studio`. A build is moved into
 * place when it is complete, so several processes may build at the same time, and none sees a part of a build.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import path from 'node:path';

/** Builds that were used since: servers that run may serve them. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** Returns the folder of the build. `build` fills a new folder. */
export async function cachedBuild(studio: string, build: (outDir: string) => Promise<unknown>): Promise<string> {
  const root = path.resolve(studio, '../..');
  const cache = path.join(root, 'node_modules/.cache/nebula-studio');
  const folder = path.join(cache, hashOfInputs(root, studio));
  if (existsSync(folder)) {
    const now = new Date();
    utimesSync(folder, now, now);
    return folder;
  }
  mkdirSync(cache, { recursive: true });
  removeOld(cache);
  const draft = mkdtempSync(path.join(cache, 'draft-'));
  try {
    await build(draft);
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Another process was faster.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

function removeOld(cache: string): void {
  for (const name of readdirSync(cache)) {
    const folder = path.join(cache, name);
    if (Date.now() - statSync(folder).mtimeMs > KEPT_MS) rmSync(folder, { recursive: true, force: true });
  }
}

function hashOfInputs(root: string, studio: string): string {
  const hash = createHash('sha256');
  for (const file of inputsOf(root, studio)) {
    hash
      .update(`${path.relative(root, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex').slice(0, 20);
}

/** Sources of the Studio and of our packages that it may import, and the build itself. */
export function sourceFolders(root: string, studio: string): string[] {
  return [path.join(studio, 'src'), path.join(studio, 'build'), ...ourPackages(root, studio)];
}

function inputsOf(root: string, studio: string): string[] {
  const sources = sourceFolders(root, studio).flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name)),
  );
  const manifests = [path.join(studio, 'package.json'), path.join(root, 'package-lock.json')].filter(existsSync);
  return [...sources, ...manifests].sort();
}

/** The source folders of the packages of this repository that the Studio depends on, directly or not. */
function ourPackages(root: string, studio: string): string[] {
  const found = new Set<string>();
  const add = (folder: string): void => {
    const { dependencies = {} } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as {
      readonly dependencies?: Readonly<Record<string, string>>;
    };
    for (const name of Object.keys(dependencies)) {
      if (!name.startsWith('@nebula/')) continue;
      const other = path.join(root, 'packages', name.slice('@nebula/'.length));
      if (found.has(other)) continue;
      found.add(other);
      add(other);
    }
  };
  add(studio);
  return [...found].map((folder) => path.join(folder, 'src'));
}
