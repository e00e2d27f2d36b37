/**
 * `npm run studio`: a server whose Studio is built again when a source changes; reload the page to see it. Arguments are
 * those of `nebula serve`.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, watch } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildStudio } from './build/build.ts';
import { sourceFolders } from './build/cache.ts';

const STUDIO = import.meta.dirname;
const ROOT = path.resolve(STUDIO, '../..');
/** Editors write a file in several steps. */
const PAUSE_MS = 60;

const outDir = path.join(ROOT, 'node_modules/.cache/nebula-studio-dev');
mkdirSync(outDir, { recursive: true });

let isBuilding = false;
let isChanged = false;
let pause: NodeJS.Timeout | undefined;

async function build(): Promise<void> {
  if (isBuilding) {
    isChanged = true;
    return;
  }
  isBuilding = true;
  const startedMs = performance.now();
  try {
    await buildStudio({ outDir, effort: 'readable' });
    process.stderr.write(`the Studio was built in ${Math.round(performance.now() - startedMs)} ms\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  }
  isBuilding = false;
  if (!isChanged) return;
  isChanged = false;
  await build();
}

for (const folder of sourceFolders(ROOT, STUDIO)) {
  watch(folder, { recursive: true }, () => {
    clearTimeout(pause);
    pause = setTimeout(() => void build(), PAUSE_MS);
  });
}
await build();
const program = fileURLToPath(new URL('../cli/bin/nebula.js', import.meta.url));
const server = spawn(process.execPath, [program, 'serve', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, NEBULA_STUDIO_DIR: outDir },
});
// Ctrl-C reaches the server, too: it ends first, in its own time.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => server.kill('SIGTERM'));
server.once('exit', (code) => process.exit(code ?? 0));
