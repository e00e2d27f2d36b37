/**
 * `node tools/docs/studio-pictures.ts`: starts a server on the examples, runs some of them, and takes the pictures of the
 * Studio for the documentation in a real browser.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { createClient, type NebulaClient } from '@nebula/client';
import { openBrowser } from '../test-support/browser.ts';
import { ROOT } from './playground.ts';

const PICTURES = path.join(ROOT, 'docs/pictures');
const SIZE = { width: 1_280, height: 800 };

interface Picture {
  readonly name: string;
  readonly path: string;
  readonly theme: 'light' | 'dark';
  /** Visible when the page is complete. */
  readonly awaits: string;
}

async function started(folder: string): Promise<{ readonly url: string; stop(): void }> {
  const program = path.join(ROOT, 'apps/cli/bin/nebula.js');
  const child = spawn(process.execPath, [program, 'serve', '--json', '--port', '0', '--data-dir', folder], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { event, url: address } = JSON.parse(line) as { readonly event: string; readonly url: string };
      if (event === 'server.started') resolve(address);
    });
    child.once('exit', () => reject(new Error('The server did not start.')));
  });
  return { url, stop: () => void child.kill() };
}

/** Starts a run and waits for its end. */
async function run(client: NebulaClient, workflowId: string, input?: unknown): Promise<string> {
  const { executionId } = await client.start(workflowId, input === undefined ? {} : { input });
  await client.run(executionId).result();
  return executionId;
}

async function take(client: NebulaClient, url: string, pictures: readonly Picture[]): Promise<void> {
  const browser = await openBrowser();
  try {
    for (const { name, path: target, theme, awaits } of pictures) {
      const page = await browser.newPage({
        viewport: SIZE,
        colorScheme: theme,
        locale: 'en-GB',
        reducedMotion: 'reduce',
      });
      await page.addInitScript(() => localStorage.setItem('nebula-studio', '{"hasSeenTour":true}'));
      const { code } = await client.call('createSignInCode');
      await page.goto(`${url}${target}#code=${code}`);
      await page.locator(awaits).first().waitFor();
      await page.evaluate(() => document.fonts.ready);
      await page.waitForLoadState('networkidle').catch(() => {});
      await page.screenshot({ path: path.join(PICTURES, name), animations: 'disabled' });
      await page.close();
    }
  } finally {
    await browser.close();
  }
}

const folder = mkdtempSync(path.join(tmpdir(), 'nebula-pictures-'));
const server = await started(folder);
try {
  const client = createClient({ url: server.url, token: readFileSync(path.join(folder, 'token'), 'utf8').trim() });
  const order = await run(client, 'order-fulfilment');
  await run(client, 'order-fulfilment', { card: 'declined' });
  await run(client, 'etl');
  await take(client, server.url, [
    { name: 'studio-run.png', path: `/r/${order}?node=pack_lyon&tab=attempts`, theme: 'light', awaits: '.attempts' },
    { name: 'studio-editor.png', path: '/w/order-fulfilment/edit', theme: 'dark', awaits: '.cm-content' },
    { name: 'studio-runs.png', path: '/runs', theme: 'light', awaits: '.run-row' },
  ]);
} finally {
  server.stop();
  rmSync(folder, { recursive: true, force: true });
}
