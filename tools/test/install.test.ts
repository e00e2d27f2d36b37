/**
 * The packages as people get them: built, packed, installed into empty folders and used there. Third-party packages come
 * from npm's cache or the registry, as for `npm ci`.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TARBALLS, withCompiledImports, withCompiledUrls } from '../release/build.ts';
import { type Stage, stagesOf, wordsOf } from '../release/dockerfile.ts';
import { packagesOf, readManifest } from '../release/packages.ts';
import { installedIn, SIZE_LIMITS_KB } from '../release/sizes.ts';

const ROOT = realpathSync(path.resolve(import.meta.dirname, '../..'));
const PACKAGES = packagesOf(ROOT);
const STAGES = stagesOf(readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8'));
const run = promisify(execFile);

/**
 * Nothing of the repository's own npm run reaches the programs, and `node` is the one that runs the tests. GOGC: a fifth
 * less CPU time of the compiler.
 */
function cleanEnv(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(?!config_)|NEBULA_|VITEST|NODE_(ENV|OPTIONS)$)/i.test(name),
  );
  const search = [path.dirname(process.execPath), ...(process.env.PATH ?? '').split(path.delimiter)];
  const outside = search.filter((folder) => !folder.startsWith(path.join(ROOT, 'node_modules', '.bin')));
  return { ...Object.fromEntries(kept), PATH: outside.join(path.delimiter), NO_COLOR: '1', GOGC: '400', ...more };
}

/** The link that `npx nebula` runs, without the start of npx itself. */
const NEBULA = 'node_modules/.bin/nebula';
const INSTALL = ['install', '--prefer-offline', '--no-audit', '--no-fund'];

let base: string;
let dist: string;
const tarball = (name: string) =>
  path.join(dist, TARBALLS, readdirSync(path.join(dist, TARBALLS)).find((file) => file.startsWith(`nebula-${name}-`))!);

/** The first stage of the Dockerfile builds and packs; everything else here uses its tarballs. */
beforeAll(async () => {
  base = realpathSync(mkdtempSync(path.join(tmpdir(), 'nebula-install-')));
  const { cwd } = await carryOut(STAGES[0]!);
  dist = path.join(cwd, 'dist');
}, 600_000);

afterAll(() => rmSync(base, { recursive: true, force: true }));

function folder(name: string): string {
  const made = path.join(base, name);
  mkdirSync(made, { recursive: true });
  return made;
}

async function output(cwd: string, program: string, ...args: string[]): Promise<string> {
  try {
    return (await run(program, args, { cwd, env: cleanEnv(), maxBuffer: 64_000_000 })).stdout;
  } catch (error) {
    const { stdout, stderr, message } = error as Error & { stdout: string; stderr: string };
    throw new Error(`${message}\n${stdout}\n${stderr}`);
  }
}

describe('a published package', () => {
  test.each(PACKAGES.map(({ shortName }) => shortName))('[PKG-4] @nebula/%s is whole', (name) => {
    const where = path.join(dist, name);
    const manifest = JSON.parse(readFileSync(path.join(where, 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({
      version: readManifest(path.join(ROOT, 'package.json')).version,
      license: 'Apache-2.0',
      description: expect.any(String),
      engines: { node: expect.stringMatching(/^>=/) },
    });
    expect(manifest.private).toBeUndefined();
    const files = readdirSync(where, { recursive: true, encoding: 'utf8' });
    expect(files).toEqual(expect.arrayContaining(['README.md', 'LICENSE']));
    for (const { types, default: code } of Object.values<{ types: string; default: string }>(manifest.exports ?? {})) {
      if (types !== undefined) expect(files).toEqual(expect.arrayContaining([types.slice(2), code.slice(2)]));
    }
    if (name === 'studio') return;
    const compiled = files.filter((file) => /^(lib|conformance)\/.+\.js$/.test(file));
    expect(compiled.length).toBeGreaterThan(0);
    expect(compiled.filter((file) => !existsSync(path.join(where, `${file}.map`)))).toEqual([]);
    expect(files.filter((file) => /^(lib|conformance)\/.+(?<!\.d)\.ts$/.test(file))).toEqual([]);
  });

  test('[PKG-11] @nebula/studio has the built files alone', () => {
    const where = path.join(dist, 'studio');
    const files = readdirSync(where, { recursive: true, encoding: 'utf8' }).filter(
      (file) => !file.startsWith('dist/assets/'),
    );
    expect(files.toSorted()).toEqual([
      'LICENSE',
      'README.md',
      'dist',
      'dist/assets',
      'dist/manifest.json',
      'package.json',
    ]);
    const manifest = JSON.parse(readFileSync(path.join(where, 'package.json'), 'utf8'));
    expect([manifest.files, manifest.dependencies, manifest.exports]).toEqual([['dist'], undefined, undefined]);
    const built = JSON.parse(readFileSync(path.join(where, 'dist/manifest.json'), 'utf8'));
    const assets = readdirSync(path.join(where, 'dist/assets')).filter((file) => !/\.(br|gz)$/.test(file));
    expect(assets.toSorted()).toEqual(Object.keys(built.files).toSorted());
  });

  test('[PKG-4] names compiled files wherever the source names sources', () => {
    expect(withCompiledUrls("new URL('./a/thread.ts', import.meta.url)")).toContain("'./a/thread.js'");
    const template = "const TEXT = `import { greet } from './actions/greet.ts';`;";
    expect(withCompiledUrls(template)).toBe(template);
    expect(withCompiledImports('export { A } from \'../a.ts\'; type B = import("./b.ts").B;')).toBe(
      'export { A } from \'../a.js\'; type B = import("./b.js").B;',
    );
  });
});

describe('installed into an empty folder', () => {
  test('[PKG-5] the sdk brings no engine, no driver and no native code', { timeout: 300_000 }, async () => {
    const cwd = folder('author');
    await output(cwd, 'npm', ...INSTALL, ...['sdk', 'core', 'ports'].map(tarball));
    const installed = installedIn(path.join(cwd, 'node_modules'));
    const names = installed.map(({ name }) => name).filter((name) => name.startsWith('@nebula/'));
    expect(names.sort()).toEqual(['@nebula/core', '@nebula/ports', '@nebula/sdk']);
    const files = readdirSync(path.join(cwd, 'node_modules'), { recursive: true, encoding: 'utf8' });
    expect(files.filter((file) => file.endsWith('.node'))).toEqual([]);
    expectSize('sdk', installed);
    const code =
      "import { defineAction } from '@nebula/sdk'; console.log(defineAction({ id: 'a.b', version: '1', run: () => 1 }).id)";
    expect(await output(cwd, 'node', '--input-type=module', '-e', code)).toBe('a.b\n');
  });

  test('[PKG-5] the client brings nothing else of Nebula', { timeout: 300_000 }, async () => {
    const cwd = folder('caller');
    await output(cwd, 'npm', ...INSTALL, tarball('client'));
    expectSize('client', installedIn(path.join(cwd, 'node_modules')));
  });

  test('[PKG-6] [PKG-11] init, an own action, a typed workflow, tests, a server, the client, a worker and tsc', {
    timeout: 600_000,
  }, async () => {
    const cwd = folder('my-project');
    await output(cwd, 'npm', ...INSTALL, '--no-save', ...PACKAGES.map(({ shortName }) => tarball(shortName)));
    expectSize('cli', installedIn(path.join(cwd, 'node_modules')));
    expect(JSON.parse(await output(cwd, 'npx', 'nebula', 'init', '--json'))).toMatchObject({ kept: [], linked: [] });
    leaveNodeOut(cwd);
    await output(cwd, 'npm', ...INSTALL);
    expect(existsSync(path.join(cwd, 'node_modules/better-sqlite3/build')), 'nothing is compiled').toBe(false);
    const { version } = readManifest(path.join(ROOT, 'package.json'));
    expect(readManifest(path.join(cwd, 'package.json')).dependencies).toMatchObject({ '@nebula/sdk': `^${version}` });

    const hello = await output(cwd, NEBULA, 'run', 'workflows/hello.yaml', '--set', 'name=Ada', '--json');
    expect(JSON.parse(hello)).toMatchObject({ status: 'completed', output: { text: 'Hello, Ada! Bonjour, Ada!' } });

    for (const [name, text] of Object.entries(FILES)) writeFileSync(path.join(cwd, name), text);
    const typed = await output(cwd, NEBULA, 'run', 'workflows/typed.ts', '--json');
    expect(JSON.parse(typed)).toMatchObject({ status: 'completed', output: { text: 'Hallo, Ada!' } });
    expect(await output(cwd, 'npm', 'test')).toMatch(/3 passed/);
    // Beyond what a project usually checks, the declarations themselves; those of others may be as they like.
    const tsc = ['--checkers', '1', '--skipLibCheck', 'false'];
    const strict = await output(cwd, 'node_modules/.bin/tsc', ...tsc).catch((error: Error) => error.message);
    const isOurs = (line: string) => / error TS\d+: /.test(line) && !/^node_modules\/(?!@nebula\/)/.test(line);
    expect(strict.split('\n').filter(isOurs)).toEqual([]);

    await using server = await serving(cwd, ['npx', 'nebula', 'serve', '--port', '0', '--json']);
    await expectStudio(server.url);
    expect(JSON.parse(await output(cwd, 'node', 'call.ts'))).toMatchObject({ output: { text: 'Bonjour, Ada!' } });
  });

  test('[PKG-3] npm keeps the links of a project that the command of a clone made', { timeout: 300_000 }, async () => {
    const cwd = folder('linked');
    await output(cwd, 'node', path.join(ROOT, 'apps/cli/bin/nebula.js'), 'init');
    await output(cwd, 'npm', ...INSTALL, '--omit=dev', '--omit=optional');
    expect(realpathSync(path.join(cwd, 'node_modules/@nebula/sdk'))).toBe(path.join(ROOT, 'packages/sdk'));
    expect(await output(cwd, NEBULA, 'validate', 'workflows/hello.yaml')).toContain('✓');
  });

  test('[CLI-86] demo copies the examples and runs one', { timeout: 300_000 }, async () => {
    const cwd = folder('my-project');
    expect(await output(cwd, NEBULA, 'demo')).toMatch(/cd nebula-demo\n.*\n.*run examples\/order\.yaml/);
    const listed = await output(
      path.join(cwd, 'nebula-demo'),
      'node',
      '../node_modules/.bin/nebula',
      'executions',
      'list',
    );
    expect(listed).toContain('order');
  });
});

/** The files of the test project, as in the README of the packages and in the documents. */
const FILES: Readonly<Record<string, string>> = {
  'workflows/typed.ts': `import { coreSet } from '@nebula/actions';
import { workflow } from '@nebula/sdk';
import { greet } from '../actions/greet.ts';

export default workflow('typed', {}, (w) => {
  const name = w.node('name', coreSet, { value: 'Ada' });
  const hello = w.node('hello', greet, { name: 'Ada', language: 'de' }, { needs: [name] });
  // @ts-expect-error there is no such output
  hello.output.txt;
  return { text: hello.output.text };
});
`,
  'workflows/typed.test.ts': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtinActions } from '@nebula/actions';
import { testWorkflow } from '@nebula/testing';
import { greet } from '../actions/greet.ts';
import typed from './typed.ts';

test('greets in German', async () => {
  const run = await testWorkflow(typed, { actions: [...builtinActions, greet] });
  assert.equal(run.output?.text, 'Hallo, Ada!');
});
`,
  'workflows/elsewhere.yaml': `id: elsewhere
input: { type: object, properties: { name: { type: string } } }
nodes:
  hello: { action: hello.greet@1, labels: [elsewhere], with: { name: "{{ $input.name }}", language: fr } }
output: { text: "{{ $hello.text }}" }
`,
  'call.ts': `import { readFileSync } from 'node:fs';
import { createClient } from '@nebula/client';
import { createWorker } from '@nebula/worker';
import { greet } from './actions/greet.ts';

const { url } = JSON.parse(readFileSync('.nebula/server.json', 'utf8')) as { url: string };
const token = readFileSync('.nebula/token', 'utf8').trim();
const worker = createWorker({ server: url, token, actions: [greet], labels: ['elsewhere'] });
const work = worker.run();
const result = await createClient({ url, token }).start('elsewhere', { input: { name: 'Ada' } }).result();
await worker.stop();
await work;
console.log(JSON.stringify(result));
`,
};

/** At once: nothing is built. The first request begins to read the manifest. */
async function expectStudio(url: string): Promise<void> {
  const page = () => fetch(url).then((answer) => answer.text());
  await expect.poll(page).toContain('<title>Nebula Studio</title>');
  const [, script = ''] = /<script type="module" src="([^"]+)"/.exec(await page()) ?? [];
  expect((await fetch(url + script)).headers.get('content-encoding')).toBe('gzip');
}

/** The project's own Node is 189 MB and the same as the one that runs the tests. */
function leaveNodeOut(project: string): void {
  const file = path.join(project, 'package.json');
  const { optionalDependencies: _, ...manifest } = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify(manifest));
}

function expectSize(what: keyof typeof SIZE_LIMITS_KB, installed: ReturnType<typeof installedIn>): void {
  const kilobytes = installed.reduce((sum, each) => sum + each.kilobytes, 0);
  const largest = installed.slice(0, 8).map((each) => `${each.name} ${each.kilobytes}`);
  const report = `${what}: ${kilobytes} kB unpacked in ${installed.length} packages; ${largest.join(', ')}`;
  console.log(report);
  expect(kilobytes, report).toBeLessThan(SIZE_LIMITS_KB[what]);
}

interface Serving extends AsyncDisposable {
  readonly url: string;
}

async function serving(
  cwd: string,
  [program, ...args]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Serving> {
  const child: ChildProcess = spawn(program!, args, {
    cwd,
    env: cleanEnv(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let said = '';
  child.stdout!.on('data', (chunk) => (said += chunk));
  child.stderr!.on('data', (chunk) => (said += chunk));
  for (;;) {
    const url = /"url":"(http[^"]+)"/.exec(said)?.[1];
    if (url !== undefined && said.includes('server.started')) {
      return {
        url,
        async [Symbol.asyncDispose]() {
          // npx does not hand signals on: its whole group is ended.
          process.kill(-child.pid!, 'SIGTERM');
          if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
        },
      };
    }
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}:\n${said}`);
    await sleep(50);
  }
}

describe('the Dockerfile', () => {
  test('[PKG-7] its steps make a server that answers its health check, as another user than root', {
    timeout: 600_000,
  }, async () => {
    const last = STAGES.at(-1)!;
    const { cwd, env } = await carryOut(last);
    expect(last.steps.findLast(({ instruction }) => instruction === 'USER')?.text).toBe('node');
    const command = [...wordsOf(last, 'ENTRYPOINT'), ...wordsOf(last, 'CMD')];
    expect(command.slice(-2)).toEqual(['--port', '7777']);
    await using server = await serving(cwd, [...command.slice(0, -1), '0'], env);
    const [program, ...args] = wordsOf(last, 'HEALTHCHECK').map((word) =>
      word.replace('http://127.0.0.1:7777', server.url.replace('0.0.0.0', '127.0.0.1')),
    );
    await run(program!, args, { cwd, env: cleanEnv(env) });
    expect(existsSync(path.join(base, 'container/data/server.json'))).toBe(true);
  });
});

/** Does what docker would do for a stage, in a folder that stands for the disk of the container. */
async function carryOut({ image, steps }: Stage): Promise<{ cwd: string; env: Record<string, string> }> {
  expect(image).toMatch(/^node:24-/);
  const disk = folder('container');
  const inside = (text: string) =>
    text
      .replaceAll(/(?<![\w.$}])\/(src|opt|data|project)\b/g, `${disk}/$1`)
      .replaceAll('-o node -g node', `-o ${process.getuid!()} -g ${process.getgid!()}`)
      .replace('npm install', 'npm install --prefer-offline')
      .replace('npm cache clean --force && ', '')
      // The types are checked before the tests.
      .replace(/^npm run pack$/, '$& -- --unchecked');
  const env: Record<string, string> = {};
  let cwd = disk;
  for (const { instruction, text } of steps) {
    if (instruction === 'WORKDIR') {
      cwd = inside(text);
      mkdirSync(cwd, { recursive: true });
    } else if (instruction === 'ENV') Object.assign(env, variable(inside(text), env));
    else if (instruction === 'COPY') copy(text.split(/\s+/), cwd, inside);
    // Installed for the tests already, by the same command.
    else if (instruction === 'RUN' && text === 'npm ci') linkModules(cwd);
    else if (instruction === 'RUN') await output(cwd, 'sh', '-ec', inside(text));
  }
  return { cwd, env };
}

function variable(text: string, env: Readonly<Record<string, string>>): Record<string, string> {
  const [name, value] = text.split(/=(.*)/s) as [string, string];
  return { [name]: value.replace('$PATH', env.PATH ?? cleanEnv().PATH!) };
}

function copy(words: readonly string[], cwd: string, inside: (text: string) => string): void {
  const [from, to] = words.filter((word) => !word.startsWith('--')) as [string, string];
  if (from !== '.') return cpSync(inside(from), inside(to), { recursive: true });
  const ignored = readFileSync(path.join(ROOT, '.dockerignore'), 'utf8').trim().split('\n');
  const names = new Set(ignored.map((line) => line.replace(/^\*\*\//, '')));
  cpSync(ROOT, cwd, { recursive: true, filter: (source) => !names.has(path.basename(source)) });
}

/** Links as npm makes them: to the packages of this copy, and to what is installed in the repository. */
function linkModules(cwd: string): void {
  const [from, to] = [path.join(ROOT, 'node_modules'), path.join(cwd, 'node_modules')];
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    if (name === '@nebula')
      cpSync(path.join(from, name), path.join(to, name), { recursive: true, verbatimSymlinks: true });
    else if (name !== '.cache') symlinkSync(path.join(from, name), path.join(to, name));
  }
}
