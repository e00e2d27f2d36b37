import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';

const HOOK = new URL('../bin/own-modules.js', import.meta.url).href;
const CORE = new URL('../../../packages/core/src/index.ts', import.meta.url).href;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'own-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  return pathToFileURL(file).href;
}

/** Returns the export `found` of the module at `url`, from a process with the hook. */
async function foundBy(url: string): Promise<string> {
  const script = `
    const { findOwnModules } = await import('${HOOK}');
    findOwnModules();
    await import('${CORE}');
    const { found } = await import('${url}').catch((error) => ({ found: error.code + ' ' + error.message }));
    process.stdout.write(String(found));`;
  // Bundles need no such hook, and replace it.
  const env = { ...process.env, NODE_OPTIONS: '' };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env });
  return stdout;
}

it('[CLI-471] a project has its own version of a package of Nebula', async () => {
  write('node_modules/@nebula/core/package.json', '{ "type": "module", "exports": "./other.js" }');
  write('node_modules/@nebula/core/other.js', 'export const name = "its own";');
  const url = write('action.ts', "import { name } from '@nebula/core';\nexport const found: string = name;");
  expect(await foundBy(url)).toBe('its own');
});

it('[CLI-471] a module that a project lacks is reported by Node, with the file that imports it', async () => {
  const url = write('action.ts', "import { x } from './missing.ts';\nexport const found = x;");
  expect(await foundBy(url)).toMatch(
    /^ERR_MODULE_NOT_FOUND Cannot find module .*missing\.ts' imported from .*action\.ts/,
  );
});

it('[CLI-471] modules of Nebula are the same for all that import them', async () => {
  const url = write(
    'action.ts',
    `import { NebulaError } from '${CORE}';
     import { STORE_GONE } from '${new URL('../../../packages/ports/src/index.ts', import.meta.url).href}';
     import { defineAction } from '${new URL('../../../packages/sdk/src/index.ts', import.meta.url).href}';
     let thrown;
     try { defineAction({} as never); } catch (error) { thrown = error; }
     export const found = \`\${thrown instanceof NebulaError} \${typeof STORE_GONE}\`;`,
  );
  expect(await foundBy(url)).toBe('true string');
});

it('[CLI-471] a run in a data folder loads neither schemas of the contract nor an HTTP client', async () => {
  const list = path.join(folder, 'loaded');
  const hook = write(
    'hook.mjs',
    `import { registerHooks } from 'node:module';
     import { writeFileSync } from 'node:fs';
     const loaded = [];
     registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
     process.on('exit', () => writeFileSync(${JSON.stringify(list)}, loaded.join('\\n')));`,
  );
  write('one.yaml', 'id: one\nnodes: { a: { action: core.noop@1 } }\n');
  const cli = path.join(import.meta.dirname, '../bin/nebula.js');
  const args = ['--import', hook, cli, 'run', 'one.yaml', '--json', '--data-dir', 'data'];
  await promisify(execFile)(process.execPath, args, { cwd: folder, env: { ...process.env, NODE_OPTIONS: '' } });
  const loaded = readFileSync(list, 'utf8').split('\n');
  expect(loaded.some((url) => url.endsWith('/engine/src/index.ts'))).toBe(true);
  const heavy = /\/node_modules\/(typebox|undici|ipaddr\.js)\//;
  expect(loaded.filter((url) => heavy.test(url))).toEqual([]);
});
