/** The journey of a newcomer, with the mouse and the forms: build, run, break, find out why, mend, retry. */
import type { NebulaGraphElement } from '@nebula/canvas';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StudioBrowser, type StudioPage } from './studio-browser.ts';
import { StudioServer } from './studio-server.ts';

/** The machine may be busy; what is waited for comes at once otherwise. */
const SOON = { timeout: 30_000 };

let server: StudioServer;
let browser: StudioBrowser;

beforeAll(async () => {
  server = await StudioServer.start();
  browser = await StudioBrowser.open(server);
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Where a node is drawn in the page, once it is and the layout has come to rest. */
async function boxOf(page: Page, node: string): Promise<Box> {
  const graph = page.locator('nebula-graph');
  const read = (): Promise<Box | null> =>
    graph.evaluate((element, id) => (element as NebulaGraphElement).boxOf(id) ?? null, node);
  let last: Box | null = null;
  const isAtRest = async (): Promise<boolean> => {
    const before = JSON.stringify(last);
    last = await read();
    return last !== null && JSON.stringify(last) === before;
  };
  await expect.poll(isAtRest, { ...SOON, interval: 100 }).toBe(true);
  const [box, host] = [await read(), await graph.boundingBox()];
  if (box === null || host === null) throw new Error(`'${node}' is not drawn.`);
  return { ...box, x: host.x + box.x, y: host.y + box.y };
}

/** Selects a node. An edit may move the nodes between the look and the click, so the click is repeated. */
async function clickNode(page: Page, node: string): Promise<void> {
  const isSelected = async (): Promise<boolean> => {
    const { x, y, width, height } = await boxOf(page, node);
    await page.mouse.click(x + width / 2, y + height / 2);
    return page.getByRole('region', { name: node, exact: true }).isVisible();
  };
  await expect.poll(isSelected, { ...SOON, interval: 300 }).toBe(true);
}

/** Drags from the port of a node to another node. */
async function connect(page: Page, from: string, to: string): Promise<void> {
  const [start, end] = [await boxOf(page, from), await boxOf(page, to)];
  await page.mouse.move(start.x + start.width / 2, start.y + start.height / 2);
  await page.mouse.move(start.x + start.width, start.y + start.height / 2);
  await page.mouse.down();
  await page.mouse.move(end.x + 14, end.y + end.height / 2, { steps: 6 });
  await page.mouse.up();
  await expect.poll(() => textIn(page), SOON).toMatch(new RegExp(` ${to}:\\n +needs: \\[${from}\\]`));
}

/** Chooses an entry of the palette; dropped at a place of the canvas if one is given. */
async function add(page: Page, action: string, at?: { readonly x: number; readonly y: number }): Promise<void> {
  await page.getByRole('button', { name: 'Add a node' }).click();
  const entry = page.locator('.node-palette-option', { hasText: action });
  if (at === undefined) await entry.click();
  else await entry.dragTo(page.locator('nebula-graph'), { targetPosition: at });
  await page.getByRole('combobox', { name: 'Search actions' }).waitFor({ state: 'detached' });
}

async function textIn(page: Page): Promise<string> {
  const lines = await page.locator('.cm-line').evaluateAll((all) =>
    all.map((line) => {
      const copy = line.cloneNode(true) as HTMLElement;
      for (const preview of copy.querySelectorAll('.cm-preview')) preview.remove();
      return copy.textContent ?? '';
    }),
  );
  return lines.join('\n');
}

const shownStatus = ({ page }: StudioPage, status: string): Promise<void> =>
  page.locator('.run-header > .status', { hasText: status }).waitFor(SOON);

/** Writes the condition of the node `assert`. */
async function writeCondition(page: Page, from: string | undefined, condition: string): Promise<void> {
  await clickNode(page, 'assert');
  const field = page.getByLabel(/^condition/);
  if (from === undefined) await field.selectOption({ label: 'Write an expression…' });
  await expect.poll(() => field.evaluate((element) => element.tagName)).toBe('TEXTAREA');
  await field.fill(condition);
  await field.press('Enter');
  await expect.poll(() => textIn(page), SOON).toContain(`condition: "${condition}"`);
}

describe('a newcomer', () => {
  it('[STU-90, STU-91, STU-92, STU-93, STU-94] builds by mouse, runs, breaks, finds out why, mends and retries', async () => {
    const opened = await browser.page('/', { preferences: { hasSeenTour: true } });
    const { page } = opened;
    await page.getByRole('link', { name: 'Make a workflow' }).click();

    // Three nodes, connected.
    await boxOf(page, 'hello');
    await add(page, 'core.set@1');
    await boxOf(page, 'set');
    const { width, height } = (await page.locator('nebula-graph').boundingBox()) as Box;
    await add(page, 'core.assert@1', { x: width - 160, y: height - 160 });
    await boxOf(page, 'assert');
    await connect(page, 'set', 'assert');
    await page.getByRole('button', { name: 'Fit the graph' }).click();
    await connect(page, 'assert', 'hello');

    // Parameters: a value, and expressions that refer to an earlier node.
    await clickNode(page, 'set');
    await page.getByLabel(/^value/).fill('{ "total": 3 }');
    await page.getByLabel(/^value/).press('Enter');
    await expect.poll(() => textIn(page), SOON).toMatch(/value:\s+(\{ )?total: 3/);
    await clickNode(page, 'hello');
    await page.getByLabel(/^message/).fill('Total: {{ $set.total }}');
    await page.getByLabel(/^message/).press('Enter');
    await writeCondition(page, undefined, '{{ $set.total > 5 }}');

    // The test run says that it breaks. It is saved all the same, under a name of its own.
    await page.getByText('No problems').waitFor();
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('status').filter({ hasText: 'Test run' }).getByText('the condition is false').waitFor(SOON);
    await page.getByRole('button', { name: 'Save…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Check totals');
    await expect.poll(() => dialog.getByLabel('Id').inputValue()).toBe('check-totals');
    await dialog.getByText('This is the first version.').waitFor();
    expect(await opened.barriers()).toEqual([]);
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await page.waitForURL(/\/w\/check-totals\/edit$/);

    // It is started from the editor, and breaks.
    await page.getByRole('button', { name: 'Start', exact: true }).click(SOON);
    await dialog.getByRole('button', { name: 'Start', exact: true }).click();
    await page.waitForURL(/\/r\/exe_/);
    await shownStatus(opened, 'Failed');
    const run = page.url();
    await clickRunNode(page, 'assert');
    await expect
      .poll(() => page.getByRole('note', { name: 'Why' }).textContent())
      .toContain('ASSERTION_FAILED: the condition is false');

    // It is mended in the editor.
    await page.getByRole('button', { name: 'Edit the workflow' }).click();
    await page.waitForURL(/\/w\/check-totals\/edit$/);
    await writeCondition(page, '{{ $set.total > 5 }}', '{{ $set.total > 2 }}');
    await page.getByText('Draft saved').waitFor();
    await page.getByRole('button', { name: 'Save…' }).click();
    await dialog.getByText('assert').first().waitFor();
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved as version 2').waitFor();

    // The broken run continues with the mended version.
    await page.goto(run);
    await page.getByRole('button', { name: 'Retry failed nodes' }).click();
    await dialog.getByLabel('With version 2, which is active now').waitFor();
    expect(await opened.barriers()).toEqual([]);
    await dialog.getByRole('button', { name: 'Retry', exact: true }).click();
    await shownStatus(opened, 'Completed');
    await page.locator('.run-header').getByText('v2').waitFor();
  }, 120_000);

  it('[STU-92] a second new workflow has an id of its own, and cannot take that of another', async () => {
    await server.client().call('registerWorkflow', {
      body: { source: 'id: my-workflow\nnodes: { one: { action: core.noop@1 } }\n', activate: true },
    });
    const opened = await browser.page('/w/new');
    const { page } = opened;
    await boxOf(page, 'hello');
    expect(await textIn(page)).toContain('id: my-workflow-2\n');
    await page.getByRole('button', { name: 'Save…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Id').fill('my-workflow');
    await dialog.getByText('Another workflow has this id.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true);
    await dialog.getByLabel('Id').fill('other');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await page.waitForURL(/\/w\/other\/edit$/);
    const { newestVersion } = await server.client().call('getWorkflow', { params: { workflowId: 'my-workflow' } });
    expect(newestVersion).toBe(1);
  });
});

/** A node of the page of a run. */
async function clickRunNode(page: Page, node: string): Promise<void> {
  const { x, y, width, height } = await boxOf(page, node);
  await page.mouse.click(x + width / 2, y + height / 2);
  await page.waitForURL((url) => url.searchParams.get('node') === node);
}
