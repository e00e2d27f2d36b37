/**
 * Which package may import which, and which folder of the core.
 *
 *     core ◀── ports ◀── engine, drivers          core ◀── sdk ◀── actions
 *     client ◀── server ──▶ engine                sdk, engine, drivers ◀── testing
 *     client, drivers ◀── worker                  the command line chooses
 *
 * Besides the arrows themselves: packages are entered through the names in their `exports` only, everything imported
 * is declared, sources do not import tests, no two files of a package need each other, and the reference interpreter
 * of the simulator runs no code of the core.
 */
import { isBuiltin } from 'node:module';
import path from 'node:path/posix';
import { type Import, importsOf } from './imports.ts';
import { at, type Code, isCode, isConformance, isTest, type Repository, type Verdict } from './repository.ts';

/** `types`: by `import type` only. `./name`: values through this entrance only, types through any. */
type Allowed = 'all' | 'types' | `./${string}`;

/** The packages that the sources of a package may import. */
const ARROWS: Readonly<Record<string, Readonly<Record<string, Allowed>>>> = {
  core: {},
  ports: { core: 'all' },
  engine: { core: 'all', ports: 'all' },
  drivers: { core: 'all', ports: 'all' },
  // Authors of actions install it: neither engine nor drivers come along, and little of the core is loaded.
  sdk: { core: './authoring', ports: 'types' },
  // Runs workflows with the real engine in memory.
  testing: { core: 'all', ports: 'all', engine: 'all', drivers: 'all', sdk: 'all' },
  // Talks to a server, and runs actions in a sandbox of its own.
  worker: { core: 'all', ports: 'all', drivers: 'all', client: 'all' },
  actions: { core: './authoring', sdk: 'all' },
  client: {},
  // Draws definitions and runs in the browser.
  canvas: { core: 'types' },
  // Pages in the browser: they speak the operations of the contract, and nothing else.
  studio: { core: 'all', canvas: 'all', client: 'all' },
  // The engine uses ports only: the app that composes it chooses the drivers.
  server: { core: 'all', ports: 'all', engine: 'all', client: 'all' },
};

/** Entrances for some packages only: the command line, too, runs workflows through the engine. */
const RESERVED: Readonly<Record<string, readonly string[]>> = { '@nebula/core/run': ['engine', 'testing'] };

/**
 * The folders of a package that has layers, the lowest first: what each may import of the others. Files beside the
 * folders are common ground; of those, only the ones in COMPOSING import folders.
 *
 *     expression, schema, graph, definition ──▶ plan ──▶ run ──▶ view ──▶ rehearsal; plan ──▶ verify
 */
const FOLDERS: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, 'all' | 'types'>>>>>> = {
  core: {
    capability: {},
    expression: {},
    schema: { expression: 'all' },
    graph: { definition: 'types' },
    retry: { expression: 'types', plan: 'types' },
    imports: { definition: 'all', retry: 'all' },
    definition: { expression: 'all', graph: 'all', imports: 'all' },
    plan: { capability: 'all', definition: 'all', expression: 'all', graph: 'all', schema: 'all' },
    run: { capability: 'all', definition: 'types', expression: 'all', plan: 'all', retry: 'all', schema: 'all' },
    view: { plan: 'all', run: 'all' },
    rehearsal: { plan: 'all', run: 'all', view: 'all' },
    verify: { capability: 'all', definition: 'all', expression: 'all', graph: 'all', plan: 'all', schema: 'all' },
  },
};

/** Files of the core that put its folders together: compiling needs the catalog, which knows the action of an import. */
const COMPOSING = new Set([
  'index.ts',
  'run.ts',
  'view.ts',
  'authoring.ts',
  'compile.ts',
  'catalog.ts',
  'definition-checks.ts',
]);

/** The reference interpreter is written from the language alone: it runs no code of ours outside of its folder. */
const MODEL = 'sim/model/';
/** Files of that folder that compare it with the core. */
const COMPARING = new Set(['core-run.ts', 'compare.ts']);

function isModel(file: string): boolean {
  return file.startsWith(MODEL) && !isTest(file) && !COMPARING.has(path.basename(file));
}

interface Manifest {
  readonly folder: string;
  readonly name: string;
  readonly exports: Readonly<Record<string, unknown>>;
  /** Installed wherever the package is. */
  readonly shipped: ReadonlySet<string>;
  /** Installed in this repository only. */
  readonly dev: ReadonlySet<string>;
}

/** A file with the package it belongs to; the root package owns what no other one does. */
interface ImportingFile {
  readonly code: Code;
  readonly owner: Manifest;
  /** Code that is installed with the package, as opposed to tests and tools. */
  readonly shipped: boolean;
}

export function checkArrows(repository: Repository): Verdict {
  const manifests = readManifests(repository);
  const byName = new Map(manifests.map((manifest) => [manifest.name, manifest]));
  const root = manifests.find((manifest) => manifest.folder === '');
  if (root === undefined) return { problems: ['package.json is missing'] };
  const problems = manifests.flatMap((manifest) => findDeadExports(repository, manifest));
  const edges = new Map<string, Map<string, Import>>();
  let imports = 0;
  for (const file of repository.files.filter(isCode)) {
    const code = repository.code(file);
    if (code.broken !== null) problems.push(`${file} cannot be parsed: ${code.broken}`);
    const importer: ImportingFile = { code, owner: ownerOf(file, manifests), shipped: isShipped(file) };
    const targets = new Map<string, Import>();
    for (const entry of importsOf(code)) {
      imports += 1;
      const { specifier } = entry;
      if (specifier === null || isBuiltin(specifier)) continue;
      if (specifier.startsWith('.')) {
        const target = path.join(path.dirname(file), specifier);
        if (repository.has(target) && (!entry.typeOnly || !targets.has(target))) targets.set(target, entry);
        problems.push(...judgeRelative(importer, entry, target, manifests));
      } else {
        problems.push(...judgePackage(importer, entry, specifier, byName, root));
      }
    }
    edges.set(file, targets);
  }
  problems.push(...findCycles(edges));
  return { problems, summary: `${imports} imports in ${edges.size} files` };
}

/** Files of the root that tests of every package may import. */
const TEST_SUPPORT = 'tools/test-support/';

/** Parts of the root with dependencies of their own, which the root's install leaves out. */
const APART = ['bench/peers', 'bench/studio/xyflow'];

function readManifests(repository: Repository): Manifest[] {
  return repository.files
    .filter(
      (file) =>
        /^((packages|apps)\/[^/]+\/)?package\.json$/.test(file) ||
        APART.some((folder) => file === `${folder}/package.json`),
    )
    .map((file) => {
      const json = JSON.parse(repository.text(file)) as Record<string, Record<string, unknown> | undefined>;
      const names = (...kinds: string[]) => new Set(kinds.flatMap((kind) => Object.keys(json[kind] ?? {})));
      return {
        folder: file === 'package.json' ? '' : path.dirname(file),
        name: String(json.name),
        exports: json.exports ?? {},
        shipped: names('dependencies', 'peerDependencies', 'optionalDependencies'),
        dev: names('devDependencies'),
      };
    });
}

function ownerOf(file: string, manifests: readonly Manifest[]): Manifest {
  return (
    manifests.find(({ folder }) => folder !== '' && file.startsWith(`${folder}/`)) ??
    manifests.find(({ folder }) => folder === '')!
  );
}

function isShipped(file: string): boolean {
  return /^(packages|apps)\/[^/]+\/(src|bin)\//.test(file) && !isTest(file) && !isConformance(file);
}

function judgeRelative(
  importer: ImportingFile,
  entry: Import,
  target: string,
  manifests: readonly Manifest[],
): string[] {
  const problem = (text: string) => [at(importer.code, entry.offset, text)];
  if (target.startsWith('..')) return problem(`${entry.specifier} is outside of the repository`);
  const owner = ownerOf(target, manifests);
  const isWithinRoot = APART.includes(importer.owner.folder) && owner.folder === '';
  if (isModel(importer.code.path) && !isModel(target) && !entry.typeOnly)
    return problem(`${entry.specifier} is not part of the model: it may import types only`);
  const isSupport = !importer.shipped && target.startsWith(TEST_SUPPORT);
  if (owner !== importer.owner && !isWithinRoot && !isSupport)
    return problem(`reaches into ${owner.name}: import it by its name`);
  if (importer.shipped && !isShipped(target)) return problem(`${entry.specifier} is not installed with the package`);
  return judgeFolders(path.basename(owner.folder), importer.code.path, target, entry).flatMap(problem);
}

/** Arrows between the folders of one package. */
function judgeFolders(owner: string, file: string, target: string, entry: Import): string[] {
  const folders = FOLDERS[owner];
  const [from, to] = [folderOf(file), folderOf(target)];
  if (folders === undefined || from === undefined || to === undefined || from === to || to === '') return [];
  if (from === '') {
    const isComposing = COMPOSING.has(path.basename(file));
    return isComposing ? [] : [`${path.basename(file)} may not import the folder ${to} of ${owner}`];
  }
  const arrows = folders[from];
  if (arrows === undefined)
    return [`${owner}/${from} has no line in tools/checks/arrows.ts yet: say there what it may import`];
  return judge(`${owner}/${from}`, `${owner}/${to}`, arrows[to], entry);
}

/** The folder in the sources of its package; empty for a file beside the folders, undefined for one elsewhere. */
function folderOf(file: string): string | undefined {
  return /^packages\/[^/]+\/src\/(?:([^/]+)\/)?/.exec(file)?.map((part) => part ?? '')[1];
}

function judge(from: string, to: string, allowed: Allowed | undefined, entry: Import): string[] {
  if (allowed === undefined) return [`${from} may not import ${to}`];
  if (allowed === 'all' || entry.typeOnly) return [];
  if (allowed === 'types') return [`${from} may import types of ${to} only: use import type`];
  const isThrough = entry.specifier?.endsWith(`/${to}${allowed.slice(1)}`) ?? false;
  return isThrough ? [] : [`${from} may import values of ${to} through ${allowed} only`];
}

function judgePackage(
  importer: ImportingFile,
  entry: Import,
  specifier: string,
  byName: ReadonlyMap<string, Manifest>,
  root: Manifest,
): string[] {
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  const found: string[] = [];
  const problem = (text: string) => found.push(at(importer.code, entry.offset, text));
  const target = byName.get(name);
  if (target !== undefined) {
    const entrance = `.${specifier.slice(name.length)}`;
    if (isApp(target) && !isApp(importer.owner)) problem(`imports ${name}: only apps import an app`);
    else if (!(entrance in target.exports)) problem(`${specifier} is not in the exports of ${name}`);
    if (importer.shipped) for (const text of judgeArrow(importer, target, entry)) problem(text);
    const reserved = RESERVED[specifier];
    if (importer.shipped && reserved?.includes(path.basename(importer.owner.folder)) === false)
      problem(`${specifier} is for ${reserved.join(' and ')} only`);
    if (isModel(importer.code.path) && !entry.typeOnly) problem(`the model may import types of ${name} only`);
  }
  if (!isDeclared(importer, entry, name, target !== undefined, root)) {
    problem(`${name} is not declared in ${path.join(importer.owner.folder, 'package.json')}`);
  }
  return found;
}

/** An app may put another one to work, as the command line does with the server. */
function isApp({ folder }: Manifest): boolean {
  return folder.startsWith('apps/');
}

/** Puts everything together, and may import all of it. */
const COMPOSER = 'apps/cli';

function judgeArrow({ owner }: ImportingFile, target: Manifest, entry: Import): string[] {
  if (owner.folder === COMPOSER || isApp(target)) return [];
  const from = path.basename(owner.folder);
  const to = path.basename(target.folder);
  const arrows = ARROWS[from];
  if (arrows === undefined) return [`${from} has no line in tools/checks/arrows.ts yet: say there what it may import`];
  return judge(from, to, arrows[to], entry);
}

function isDeclared(importer: ImportingFile, entry: Import, name: string, isOurs: boolean, root: Manifest): boolean {
  const { owner } = importer;
  if (owner.shipped.has(name) || owner.name === name) return true;
  if (isOurs) return !importer.shipped;
  if (importer.shipped && !entry.typeOnly) return false;
  return owner.dev.has(name) || root.dev.has(name) || root.shipped.has(name) || root.dev.has(`@types/${name}`);
}

function findDeadExports(repository: Repository, manifest: Manifest): string[] {
  const file = path.join(manifest.folder, 'package.json');
  return Object.entries(manifest.exports)
    .filter(([, target]) => typeof target !== 'string' || !repository.has(path.join(manifest.folder, target)))
    .map(([name, target]) => `${file} exports ${name} as ${JSON.stringify(target)}, which is not a file`);
}

/** Every cycle is shown once, as the path that closes it. */
function findCycles(edges: ReadonlyMap<string, ReadonlyMap<string, Import>>): string[] {
  const problems: string[] = [];
  const done = new Set<string>();
  const trail: string[] = [];
  const visit = (file: string): void => {
    const seenAt = trail.indexOf(file);
    if (seenAt >= 0) problems.push(describeCycle(trail.slice(seenAt), edges));
    if (seenAt >= 0 || done.has(file)) return;
    trail.push(file);
    for (const target of edges.get(file)?.keys() ?? []) visit(target);
    trail.pop();
    done.add(file);
  };
  for (const file of edges.keys()) visit(file);
  return problems;
}

function describeCycle(cycle: readonly string[], edges: ReadonlyMap<string, ReadonlyMap<string, Import>>): string {
  const arrow = (from: string, to: string) => (edges.get(from)!.get(to)!.typeOnly ? '─type→' : '→');
  const steps = cycle.map((file, i) => `${file} ${arrow(file, cycle[(i + 1) % cycle.length]!)}`);
  return `import cycle: ${steps.join(' ')} ${cycle[0]}`;
}
