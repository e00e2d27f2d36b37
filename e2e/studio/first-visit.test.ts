/** What a newcomer sees: the empty list of runs with its start form, and the tour, which breaks and mends the example order. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { StudioBrowser } from './studio-browser.ts';
import { StudioServer } from './studio-server.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const example = (name: string): string => readFileSync(path.join(ROOT, 'examples', name), 'utf8');

const FILES = {
  // The actions and workflows that `npm start` serves, in a folder of its own.
  'nebula.config.ts': `export { default } from ${JSON.stringify(path.join(ROOT, 'nebula.config.ts'))};`,
  'examples/order.yaml': example('order.yaml'),
  'examples/hello.yaml': example('hello.yaml'),
  'examples/data/order.json': example('data/order.json'),
};

let server: StudioServer;
let browser: StudioBrowser;

beforeAll(async () => {
  server = await StudioServer.start({ files: FILES });
  browser = await StudioBrowser.open(server);
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

it('[STU-57] the first run starts from the empty list of runs', async () => {
  const opened = await browser.page('/runs', { preferences: { hasSeenTour: true } });
  const { page } = opened;
  await page.getByRole('heading', { name: 'No runs yet' }).waitFor();
  await page.getByLabel('Workflow', { exact: true }).last().selectOption('hello');
  await page.locator('.first-run-ghost nebula-graph').waitFor();
  expect(await opened.barriers()).toEqual([]);
  await page.getByRole('button', { name: 'Start the first run' }).click();
  await page.waitForURL(/\/r\/exe_/);
  await page.locator('.run-header > .status', { hasText: 'Completed' }).waitFor();
});

it('[STU-56] the tour breaks the order, shows why, and mends it', async () => {
  const opened = await browser.page('/runs');
  const { page } = opened;
  const tour = page.getByRole('complementary', { name: 'See it break, find out why, mend it' });
  await tour.getByRole('button', { name: 'Start the order' }).click();
  await page.waitForURL(/\/r\/exe_/);
  await tour.getByRole('button', { name: 'Show me' }).click();
  await page.waitForURL(/node=charge/);
  await expect.poll(() => page.getByRole('note', { name: 'Why' }).textContent()).toContain('CARD_DECLINED');
  expect(await opened.barriers()).toEqual([]);
  await tour.getByRole('button', { name: 'And now?' }).click();
  await tour.getByRole('button', { name: 'Replay with a good card' }).click();
  await tour.getByRole('heading', { name: 'Mended' }).waitFor();
  const executionId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  const run = await server.client().call('getExecution', { params: { executionId }, query: { values: 'none' } });
  expect(run.nodes['charge']?.status).toBe('completed');
  await tour.getByRole('button', { name: 'Close the tour' }).click();
  await tour.waitFor({ state: 'detached' });
  await page.goto(`${server.url}/runs`);
  await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
  await page.waitForLoadState('networkidle');
  expect(await tour.count()).toBe(0);
});
