/** The packages of the repository that are published, and the `package.json` that each of them is published with. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly license?: string;
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, string>>;
  readonly engines?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export interface Package {
  /** From the root of the repository, e.g. `packages/sdk`. */
  readonly folder: string;
  /** Without the scope. */
  readonly shortName: string;
  readonly manifest: Manifest;
}

/** The folder of compiled files in a published package: as deep as `src`, so that paths to `package.json` hold. */
export const COMPILED = 'lib';

/** Beside the sources: contract suites, which the authors of drivers run. */
export const CONFORMANCE = 'conformance';

/** Published as the files that it is built into: browsers load them, and nothing imports it. */
export const BUNDLED = 'apps/studio';

/** The folder of those files. */
export const BUILT = 'dist';

/** Beside the command: the examples that `nebula demo` copies. */
export const DEMO = 'demo';

export function readManifest(file: string): Manifest {
  return JSON.parse(readFileSync(file, 'utf8')) as Manifest;
}

export function packagesOf(root: string): Package[] {
  return ['packages', 'apps'].flatMap((parent) =>
    readdirSync(path.join(root, parent))
      .sort()
      .map((name) => {
        const folder = `${parent}/${name}`;
        const manifest = readManifest(path.join(root, folder, 'package.json'));
        return { folder, shortName: manifest.name.replace(/^@[^/]+\//, ''), manifest };
      }),
  );
}

/** Names JavaScript and declarations where the repository names sources, and leaves out what only the repository needs. */
export function publishedManifest({ folder, manifest }: Package, root: Manifest): object {
  const { name, version, description, license, bin, dependencies } = manifest;
  const isBundled = folder === BUNDLED;
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    ...(bin !== undefined && { bin }),
    ...(manifest.exports !== undefined && { exports: publishedExports(manifest.exports, folder) }),
    files: [
      isBundled ? BUILT : COMPILED,
      ...(Object.hasOwn(manifest.exports ?? {}, `./${CONFORMANCE}`) ? [CONFORMANCE] : []),
      ...(bin === undefined ? [] : ['bin', DEMO]),
    ],
    engines: root.engines,
    ...(dependencies !== undefined && !isBundled && { dependencies }),
    publishConfig: { access: 'public' },
  };
}

function publishedExports(exports: Readonly<Record<string, string>>, folder: string): object {
  const entries = Object.entries(exports).map(([name, source]) => {
    const [, from, stem] = /^\.\/(src|conformance)\/(.+)\.ts$/.exec(source) ?? [];
    if (stem === undefined)
      throw new Error(`${folder}/package.json exports ${name} as ${source}, which is not compiled`);
    const to = from === 'src' ? COMPILED : from;
    return [name, { types: `./${to}/${stem}.d.ts`, default: `./${to}/${stem}.js` }];
  });
  return { ...Object.fromEntries(entries), './package.json': './package.json' };
}
