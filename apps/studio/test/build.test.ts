import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildStudio } from '../build/build.ts';
import { cachedBuild } from '../build/cache.ts';
import { minified } from '../build/stylesheet.ts';

const newFolder = (): string => mkdtempSync(path.join(tmpdir(), 'studio-'));

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = newFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  return folder;
}

const SOURCES = {
  'main.tsx': `import './first.css';
import { Part } from './part.ts';
import picture from './picture.svg';
import './last.css';
document.title = Part + picture;
new Worker(new URL('./language/worker/language-worker.ts', import.meta.url), { type: 'module' });
new Worker(new URL('./other-worker.ts', import.meta.url), { type: 'module' });
document.onclick = () => import('./later.ts');
`,
  'part.ts': "import './middle.css';\nexport const Part: string = 'part';\n",
  'later.ts': "import './later.css';\ndocument.title = 'later';\n",
  'language/worker/language-worker.ts': "postMessage('core');\n",
  'other-worker.ts': "postMessage('other');\n",
  'first.css': "@import './imported.css';\n/* A comment */\n.first { color: red }\n",
  'imported.css':
    "@font-face { font-family: 'A  B'; src: url(./font.woff2) format('woff2'), url('./font.woff') format('woff') }\n",
  'middle.css': '.middle { color: red }\n',
  'last.css': '.last { color: red }\n',
  'later.css': '.later { color: red }\n',
  'font.woff2': 'a font',
  'picture.svg': '<svg/>',
};

describe('a build', () => {
  let outDir: string;
  let manifest: Awaited<ReturnType<typeof buildStudio>>;
  beforeAll(async () => {
    outDir = newFolder();
    manifest = await buildStudio({ outDir, sourceDir: folderWith(SOURCES) });
  });
  const fileLike = (pattern: RegExp): string => Object.keys(manifest.files).find((name) => pattern.test(name)) ?? '';
  const textOf = (name: string): string => readFileSync(path.join(outDir, 'assets', name), 'utf8');

  it('[STU-10] lists every file, with its encodings', () => {
    const written = readdirSync(path.join(outDir, 'assets'));
    expect(written.filter((name) => !/\.(br|gz)$/.test(name)).toSorted()).toEqual(Object.keys(manifest.files));
    expect(JSON.parse(readFileSync(path.join(outDir, 'manifest.json'), 'utf8'))).toEqual(manifest);
    for (const [name, { bytes, encodings }] of Object.entries(manifest.files)) {
      const content = readFileSync(path.join(outDir, 'assets', name));
      expect(content).toHaveLength(bytes);
      if (encodings.length === 0) continue;
      expect(brotliDecompressSync(readFileSync(path.join(outDir, 'assets', `${name}.br`)))).toEqual(content);
      expect(gunzipSync(readFileSync(path.join(outDir, 'assets', `${name}.gz`)))).toEqual(content);
    }
  });

  it('[STU-10] has a page without inline code, which names files that exist', () => {
    const { page, files, first } = manifest;
    const named = [...page.matchAll(/(?:src|href)="\/assets\/([^"]+)" integrity="([^"]+)"/g)];
    expect(named.map(([, name]) => name).toSorted()).toEqual(first.toSorted());
    for (const [, name = '', integrity] of named) expect(files[name]?.integrity).toBe(integrity);
    expect(page).not.toMatch(/<script(?![^>]* src=)|<style|\bon\w+=|javascript:| style=/i);
  });

  it('[STU-10] is the same for the same sources, and has other names for others', async () => {
    const same = await buildStudio({ outDir: newFolder(), sourceDir: folderWith(SOURCES) });
    expect(same).toEqual(manifest);
    const changed = { ...SOURCES, 'part.ts': SOURCES['part.ts'].replace("'part'", "'another'") };
    const other = await buildStudio({ outDir: newFolder(), sourceDir: folderWith(changed) });
    expect(other.first[0]).toMatch(/^main-/);
    expect(other.first[0]).not.toBe(manifest.first[0]);
  });

  it('[STU-11] has one style sheet, in the order of the modules', () => {
    const css = textOf(fileLike(/\.css$/));
    const font = fileLike(/\.woff2$/);
    expect(css).toBe(
      `@font-face{font-family: 'A  B';src: url(${font}) format('woff2')}.first{color: red}.middle{color: red}.last{color: red}.later{color: red}`,
    );
    expect(textOf(font)).toBe('a font');
    expect(minified(`a::after { content: '/* ; */  "' } /* b */\n\nb , c > d { margin: 0 auto }`)).toBe(
      `a::after{content: '/* ; */  "'}b,c > d{margin: 0 auto}`,
    );
  });

  it('[STU-12] has workers of their own, and one that may use eval', () => {
    const kinds = Object.entries(manifest.files).flatMap(([name, { worker }]) =>
      worker === undefined ? [] : [[name.replace(/-\w+\.js$/, ''), worker]],
    );
    expect(Object.fromEntries(kinds)).toEqual({ 'language-worker': 'eval', 'other-worker': 'strict' });
    const main = textOf(fileLike(/^main-/));
    for (const name of [/^language-worker-/, /^other-worker-/, /^picture-/, /^later-/])
      expect(main).toContain(fileLike(name));
    expect(manifest.first).toHaveLength(2);
  });
});

describe('the cache of builds', () => {
  /** A repository with a Studio that depends on one package. */
  const repository = (): string =>
    folderWith({
      'package-lock.json': '{}',
      'apps/studio/package.json': JSON.stringify({ dependencies: { '@nebula/client': '0.1.0', react: '19' } }),
      'apps/studio/src/main.tsx': '1',
      'apps/studio/build/build.ts': '1',
      'packages/client/package.json': '{}',
      'packages/client/src/index.ts': '1',
      'packages/other/src/index.ts': '1',
    });

  it('[STU-13] builds once for the same inputs, also at the same time', async () => {
    const root = repository();
    let builds = 0;
    const build = async (outDir: string): Promise<void> => {
      builds++;
      await Promise.resolve();
      writeFileSync(path.join(outDir, 'manifest.json'), String(builds));
    };
    const studio = path.join(root, 'apps/studio');
    const [one, other] = await Promise.all([cachedBuild(studio, build), cachedBuild(studio, build)]);
    expect(other).toBe(one);
    expect(await cachedBuild(studio, build)).toBe(one);
    expect(builds).toBe(2);
    expect(readdirSync(path.dirname(one))).toEqual([path.basename(one)]);
    writeFileSync(path.join(root, 'packages/other/src/index.ts'), '2');
    expect(await cachedBuild(studio, build)).toBe(one);
    for (const name of ['packages/client/src/index.ts', 'apps/studio/build/build.ts', 'package-lock.json']) {
      writeFileSync(path.join(root, name), '2');
      expect(await cachedBuild(studio, build), name).not.toBe(one);
    }
    expect(builds).toBe(5);
  });

  it('[STU-13] keeps nothing of a build that failed', async () => {
    const root = repository();
    const failing = cachedBuild(path.join(root, 'apps/studio'), async (outDir) => {
      writeFileSync(path.join(outDir, 'part.js'), '');
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(readdirSync(path.join(root, 'node_modules/.cache/nebula-studio'))).toEqual([]);
  });
});

describe('the Studio', () => {
  it('[STU-14] loads at most 300 KB for its first page', async () => {
    const outDir = newFolder();
    const { files, first } = await buildStudio({ outDir });
    const bytes = first.reduce((sum, name) => sum + (files[name]?.gzipBytes ?? 0), 0);
    expect(bytes).toBeLessThan(300_000);
    expect(existsSync(path.join(outDir, 'manifest.json'))).toBe(true);
  });
});
