/**
 * `npm run release -- --version 0.2.0` sets the version everywhere and gives the changelog a section for it.
 * `npm run release -- --check` says whether this commit can be released, builds, and lists what would be published.
 *
 * Neither publishes, tags or commits: the check ends with the commands for that.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { build, TARBALLS } from './build.ts';
import { type Manifest, packagesOf, readManifest } from './packages.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** The facts that decide whether a release is possible. */
export interface Candidate {
  /** By file, the root's first. */
  readonly manifests: Readonly<Record<string, Manifest>>;
  /** The versions of our packages in `package-lock.json`, by folder. */
  readonly locked: Readonly<Record<string, string | undefined>>;
  readonly changelog: string;
  /** Lines of `git status --porcelain`. */
  readonly changedFiles: readonly string[];
  /** The commit of the release's tag; undefined when there is no such tag. */
  readonly tagged: string | undefined;
  readonly head: string;
}

const VERSION = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;

export function tagOf(version: string): string {
  return `v${version}`;
}

/** Everything that stands in the way of a release. */
export function releaseProblems(candidate: Candidate): string[] {
  const { version } = candidate.manifests['package.json']!;
  const problems: string[] = [];
  if (!VERSION.test(version)) problems.push(`package.json: ${version} is not a version`);
  for (const [file, manifest] of Object.entries(candidate.manifests)) {
    if (manifest.version !== version) problems.push(`${file} has version ${manifest.version}, the root has ${version}`);
    for (const [name, range] of Object.entries(manifest.dependencies ?? {})) {
      if (name.startsWith('@nebula/') && range !== version) problems.push(`${file} depends on ${name} ${range}`);
    }
  }
  for (const [folder, locked] of Object.entries(candidate.locked)) {
    if (locked !== version) problems.push(`package-lock.json has ${folder} as ${locked}: run npm install`);
  }
  if (sectionOf(candidate.changelog, version) === '')
    problems.push(`CHANGELOG.md has no section "## ${version}" with text`);
  if (sectionOf(candidate.changelog, 'Unreleased') !== '') problems.push('CHANGELOG.md has unreleased changes');
  for (const line of candidate.changedFiles) problems.push(`not committed: ${line}`);
  if (candidate.tagged !== undefined && candidate.tagged !== candidate.head) {
    problems.push(`the tag ${tagOf(version)} is on another commit: ${candidate.tagged}`);
  }
  return problems;
}

/** The text under a heading of the changelog; empty when there is none. */
function sectionOf(changelog: string, name: string): string {
  const heading = new RegExp(`^## ${name.replaceAll('.', '\\.')}( .*)?$`, 'm');
  const [, , rest = ''] = changelog.split(heading);
  return rest.split(/^## /m)[0]!.trim();
}

/** The unreleased changes become those of the version. */
export function withReleased(changelog: string, version: string, date: string): string {
  const changed = changelog.replace(/^## Unreleased$/m, `## Unreleased\n\n## ${version} - ${date}`);
  if (changed === changelog) throw new Error('CHANGELOG.md has no section "## Unreleased"');
  return changed;
}

/** The text of a `package.json` with another version of itself and of our packages. */
export function withVersion(manifest: string, version: string): string {
  return manifest
    .replace(/^( {2}"version": ")[^"]+(?=")/m, `$1${version}`)
    .replaceAll(/("@nebula\/[^"]+": ")[^"]+(?=")/g, `$1${version}`);
}

function candidateOf(root: string): Candidate {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const files = ['package.json', ...packagesOf(root).map(({ folder }) => `${folder}/package.json`)];
  const manifests = Object.fromEntries(files.map((file) => [file, readManifest(path.join(root, file))]));
  const lock = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version?: string }>;
  };
  const { version } = manifests['package.json']!;
  const isTagged = git('tag', '--list', tagOf(version)) !== '';
  return {
    manifests,
    locked: Object.fromEntries(packagesOf(root).map(({ folder }) => [folder, lock.packages[folder]?.version])),
    changelog: readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8'),
    changedFiles: git('status', '--porcelain')
      .split('\n')
      .filter((line) => line !== ''),
    tagged: isTagged ? git('rev-list', '-n', '1', tagOf(version)) : undefined,
    head: git('rev-parse', 'HEAD'),
  };
}

function setVersion(version: string): void {
  if (!VERSION.test(version)) throw new Error(`${version} is not a version like 0.2.0`);
  for (const file of ['.', ...packagesOf(ROOT).map(({ folder }) => folder)].map((folder) =>
    path.join(ROOT, folder, 'package.json'),
  )) {
    writeFileSync(file, withVersion(readFileSync(file, 'utf8'), version));
  }
  const changelog = path.join(ROOT, 'CHANGELOG.md');
  writeFileSync(
    changelog,
    withReleased(readFileSync(changelog, 'utf8'), version, new Date().toISOString().slice(0, 10)),
  );
  execFileSync('npm', ['install', '--package-lock-only', '--ignore-scripts', '--prefer-offline'], { cwd: ROOT });
  console.log(`The version is ${version}. Look at CHANGELOG.md, commit, and run npm run release -- --check`);
}

function check(): number {
  const candidate = candidateOf(ROOT);
  const problems = releaseProblems(candidate);
  build(ROOT, path.join(ROOT, 'dist'), true);
  const tarballs = path.join(ROOT, 'dist', TARBALLS);
  console.log('Would be published:');
  for (const name of readdirSync(tarballs)) {
    console.log(`  ${name}  ${Math.round(statSync(path.join(tarballs, name)).size / 1_000)} kB`);
  }
  for (const problem of problems) console.log(`✗ ${problem}`);
  if (problems.length > 0) return 1;
  const tag = tagOf(candidate.manifests['package.json']!.version);
  console.log(
    `✓ ready. To publish:\n  git tag ${tag} && git push origin ${tag}\n  for f in dist/${TARBALLS}/*.tgz; do npm publish "$f"; done`,
  );
  return 0;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { check: { type: 'boolean' }, version: { type: 'string' } } });
  if (values.version !== undefined) setVersion(values.version);
  else if (values.check) process.exitCode = check();
  else {
    console.error('Say what to do: npm run release -- --check, or npm run release -- --version 0.2.0');
    process.exitCode = 2;
  }
}
