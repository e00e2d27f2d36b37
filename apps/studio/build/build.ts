/**
 * Bundles the Studio: scripts, styles, fonts and workers with names that have a hash of their content, compressed
 * beforehand, and a manifest by which the server knows them.
 *
 *   node apps/studio/build/build.ts              builds unless the cache has this Studio, and prints the folder as JSON
 *   node apps/studio/build/build.ts --out DIR    builds into the folder, for a release
 */
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { StudioEncoding, StudioFile, StudioManifest } from '@nebula/server/studio';
import { type OutputAsset, type OutputChunk, rolldown } from 'rolldown';
import { cachedBuild } from './cache.ts';
import { fileImports } from './file-imports.ts';
import { pageOf } from './page.ts';
import { Stylesheet } from './stylesheet.ts';
import { Workers } from './workers.ts';

const STUDIO = path.dirname(import.meta.dirname);

export interface BuildOptions {
  /** What it had before is deleted. */
  readonly outDir: string;
  /** The folder with `main.tsx`. */
  readonly sourceDir?: string;
  /** `fast`: for a clone, whose first start waits. `small`: for a release. `readable`: for development. */
  readonly effort?: 'fast' | 'small' | 'readable';
}

export async function buildStudio({ outDir, sourceDir, effort = 'fast' }: BuildOptions): Promise<StudioManifest> {
  const source = sourceDir ?? path.join(STUDIO, 'src');
  const workers = new Workers(path.join(source, 'language/worker/language-worker.ts'));
  const styles = new Stylesheet();
  const bundle = await rolldown({
    cwd: STUDIO,
    input: { main: path.join(source, 'main.tsx') },
    platform: 'browser',
    transform: {
      target: 'es2023',
      jsx: { runtime: 'automatic' },
      define: { 'process.env.NODE_ENV': '"production"' },
    },
    plugins: [styles.plugin(), fileImports(), workers.plugin()],
    onLog(level, log, handle) {
      if (level === 'warn' && !HARMLESS.has(log.code ?? '')) handle(level, log);
    },
  });
  const isReadable = effort === 'readable';
  const { output } = await bundle.generate({
    format: 'esm',
    minify: !isReadable,
    sourcemap: isReadable ? 'inline' : false,
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
    assetFileNames: '[name]-[hash][extname]',
    hashCharacters: 'base36',
  });
  await bundle.close();
  rmSync(outDir, { recursive: true, force: true });
  mkdirSync(path.join(outDir, 'assets'), { recursive: true });
  const files: Record<string, StudioFile> = {};
  const written = output.map(async (built) => {
    files[built.fileName] = await writeFile(outDir, built, effort, workers.kindOf(built));
  });
  await Promise.all(written);
  const { page, first } = pageOf(output, files);
  const sorted = Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)));
  const manifest: StudioManifest = { format: 1, page, files: sorted, first };
  writeFileSync(path.join(outDir, 'manifest.json'), `${JSON.stringify(manifest, null, 1)}\n`);
  return manifest;
}

/** Directives are for frameworks that render on a server; lines of a worker's address may be off in a source map. */
const HARMLESS = new Set(['MODULE_LEVEL_DIRECTIVE', 'SOURCEMAP_BROKEN']);

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};
/** Their content is compressed already. */
const PACKED = new Set(['.woff2', '.png']);
/** Compressing smaller files saves nothing. */
const LEAST_BYTES = 512;
/** Of brotli: 11 takes a second per megabyte, 5 a thirtieth of that for a tenth more bytes. */
const QUALITY = { readable: 1, fast: 5, small: 11 } as const;

async function writeFile(
  outDir: string,
  built: OutputChunk | OutputAsset,
  effort: keyof typeof QUALITY,
  worker: StudioFile['worker'],
): Promise<StudioFile> {
  const { fileName } = built;
  const content = Buffer.from(built.type === 'chunk' ? built.code : built.source);
  const extension = path.extname(fileName);
  const contentType = TYPES[extension];
  if (contentType === undefined) throw new Error(`${fileName}: the type of this file has no line in build/build.ts`);
  const target = path.join(outDir, 'assets', fileName);
  writeFileSync(target, content);
  const packed = await promisify(gzip)(content, { level: effort === 'small' ? 9 : 6 });
  const encodings: StudioEncoding[] = [];
  if (!PACKED.has(extension) && content.length >= LEAST_BYTES) {
    const params = { [constants.BROTLI_PARAM_QUALITY]: QUALITY[effort] };
    writeFileSync(`${target}.br`, await promisify(brotliCompress)(content, { params }));
    writeFileSync(`${target}.gz`, packed);
    encodings.push('br', 'gzip');
  }
  return {
    bytes: content.length,
    gzipBytes: PACKED.has(extension) ? content.length : packed.length,
    contentType,
    integrity: `sha256-${createHash('sha256').update(content).digest('base64')}`,
    encodings,
    ...(worker !== undefined && { worker }),
  };
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { out: { type: 'string' } } });
  if (values.out === undefined) {
    const folder = await cachedBuild(STUDIO, (outDir) => buildStudio({ outDir }));
    process.stdout.write(`${JSON.stringify({ folder })}\n`);
  } else {
    await buildStudio({ outDir: path.resolve(values.out), effort: 'small' });
  }
}
