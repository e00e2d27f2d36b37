/** What the policies of the server mean in a real browser, for a page and workers that try everything. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { StudioBrowser } from './studio-browser.ts';
import { StudioServer } from './studio-server.ts';

const WORKER = `
const attempt = async (name, act) => {
  try { await act(); return name; } catch { return undefined; }
};
const can = await Promise.all([
  attempt('eval', () => new Function('return 1')()),
  attempt('fetch', () => fetch('/api/v1/info')),
  attempt('import', () => import('/assets/part.js')),
  attempt('import of another server', () => import('data:text/javascript,1')),
]);
postMessage(can.filter((name) => name !== undefined));
`;
const MAIN = `
const workers = ['plain.js', 'strict.js', 'eval.js'].map((name) => new Promise((resolve) => {
  const worker = new Worker('/assets/' + name, { type: 'module' });
  worker.onmessage = ({ data }) => resolve([name, data]);
  worker.onerror = () => resolve([name, 'did not start']);
}));
globalThis.results = Promise.all(workers);
`;

function builtFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'policy-'));
  mkdirSync(path.join(folder, 'assets'));
  const contents = { 'main.js': MAIN, 'plain.js': WORKER, 'strict.js': WORKER, 'eval.js': WORKER, 'part.js': '' };
  const files = Object.entries(contents).map(([name, text]) => {
    writeFileSync(path.join(folder, 'assets', name), text);
    const worker = name === 'strict.js' ? { worker: 'strict' } : name === 'eval.js' ? { worker: 'eval' } : {};
    const about = { bytes: text.length, gzipBytes: text.length, integrity: `sha256-${name}`, encodings: [] };
    return [name, { ...about, contentType: 'text/javascript; charset=utf-8', ...worker }];
  });
  const page =
    '<!doctype html><title>Policies</title><link rel="icon" href="data:,"><script type="module" src="/assets/main.js"></script>';
  const manifest = { format: 1, page, files: Object.fromEntries(files), first: ['main.js'] };
  writeFileSync(path.join(folder, 'manifest.json'), JSON.stringify(manifest));
  return folder;
}

it('[SRV-1163] a worker has no connections, and eval only if it is the one that checks definitions', async () => {
  await using server = await StudioServer.start({ env: { NEBULA_STUDIO_DIR: builtFolder() } });
  await using browser = await StudioBrowser.open(server);
  const { page } = await browser.page('/', {
    isStranger: true,
    allowed: [/Content Security Policy|Refused|violates/i],
  });
  await page.waitForFunction(() => 'results' in globalThis);
  const results = await page.evaluate(
    () => (globalThis as unknown as { results: Promise<[string, unknown][]> }).results,
  );
  expect(Object.fromEntries(results)).toEqual({
    // No worker: it may load nothing.
    'plain.js': [],
    'strict.js': ['import'],
    'eval.js': ['eval', 'import'],
  });
});
