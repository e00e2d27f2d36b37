import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { NebulaGraphElement } from '@nebula/canvas';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { screenshots } from './screenshots.ts';
import { StudioBrowser, type StudioPage } from './studio-browser.ts';
import { StudioServer } from './studio-server.ts';

const ORDER = `# An order is priced and announced.
id: order
name: Order
input: { type: object, properties: { customer: { type: string }, items: { type: array } } }
nodes:
  total:
    action: core.set@1
    with: { value: "{{ $input.items.sum(i => i.price) }}" } # in EUR

  # The customer is told.
  thank:
    needs: [total]
    action: core.log@1
    with:
      message: "Dear {{ $input.customer }}: {{ $total }} EUR"
`;

/** The machine may be busy; what is waited for comes at once otherwise. */
const SOON = { timeout: 30_000 };

let server: StudioServer;
let browser: StudioBrowser;

beforeAll(async () => {
  const names = ['keys', 'form', 'broken', 'draft', 'saved', 'moved', 'seen', 'tested', 'rehearsed'];
  const files = names.map((name) => [`workflows/${name}.yaml`, ORDER.replace('id: order', `id: ${name}`)] as const);
  server = await StudioServer.start({ files: Object.fromEntries(files) });
  browser = await StudioBrowser.open(server);
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

/** The editor of a workflow, once its graph is drawn. */
async function editorOf(workflowId: string): Promise<StudioPage> {
  const opened = await browser.page(`/w/${workflowId}/edit`);
  await drawn(opened.page, 'thank');
  return opened;
}

async function drawn(page: Page, node: string): Promise<void> {
  await expect.poll(() => graphOf(page, (graph, id) => graph.boxOf(id) !== undefined, node), SOON).toBe(true);
}

/** `read` runs in the page: it knows its parameters only. */
function graphOf<T>(page: Page, read: (graph: NebulaGraphElement, argument: string) => T, argument = ''): Promise<T> {
  return page.locator('nebula-graph').evaluate(read as (graph: Node, argument: string) => T, argument) as Promise<T>;
}

async function clickNode(page: Page, node: string): Promise<void> {
  const box = await graphOf(page, (graph, id) => graph.boxOf(id), node);
  const host = await page.locator('nebula-graph').boundingBox();
  if (box === undefined || host === null) throw new Error(`'${node}' is not drawn.`);
  await page.mouse.click(host.x + box.x + box.width / 2, host.y + box.y + box.height / 2);
}

/** The text in the editor: CodeMirror draws visible lines only, so the tests use short texts. */
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

describe('the editor', () => {
  it('[EDT-50] a node is added with the keyboard alone, and one undo takes it back', async () => {
    const opened = await editorOf('keys');
    const { page } = opened;
    await clickNode(page, 'thank');
    await page.keyboard.press('Tab');
    await page.getByRole('combobox', { name: 'Search actions' }).waitFor();
    await page.keyboard.type('sleep');
    await page.keyboard.press('Enter');
    await drawn(page, 'sleep');
    expect(await textIn(page)).toContain('  sleep:\n    needs: [thank]\n    action: core.sleep@1');
    // The new node is selected, and the canvas has the focus.
    await page.getByRole('region', { name: 'sleep' }).waitFor();
    await page.keyboard.press('Control+z');
    await expect.poll(() => graphOf(page, (graph) => graph.boxOf('sleep') === undefined), SOON).toBe(true);
    expect(await textIn(page)).toBe(ORDER.replace('id: order', 'id: keys'));
  });

  it('[EDT-50] an action is dropped from the palette', async () => {
    const opened = await editorOf('keys');
    const { page } = opened;
    await page.getByRole('button', { name: 'Add a node' }).click();
    const entry = page.getByRole('option', { name: /core\.noop/ });
    const host = (await page.locator('nebula-graph').boundingBox()) as { width: number; height: number };
    await entry.dragTo(page.locator('nebula-graph'), { targetPosition: { x: host.width - 80, y: host.height - 80 } });
    await drawn(page, 'noop');
    expect(await textIn(page)).toContain('  noop: { action: core.noop@1 }');
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => graphOf(page, (graph) => graph.boxOf('noop') === undefined), SOON).toBe(true);
  });

  it('[EDT-51] a field of the inspector edits the text, with errors and values while one types', async () => {
    const { executionId } = await server.client().call('startExecution', {
      body: { workflowId: 'form', input: { customer: 'Ada', items: [{ price: 2 }, { price: 3 }] } },
    });
    await server.client().call('getResult', { params: { executionId }, waitMs: 20_000 });
    const opened = await editorOf('form');
    const { page } = opened;
    await clickNode(page, 'thank');
    const field = page.getByLabel('message');
    await page.getByText('= "Dear Ada: 5 EUR"').first().waitFor();
    await field.fill('Hello {{ $input.cust');
    await page.getByText('is never closed').first().waitFor();
    await field.press('End');
    await page.keyboard.type('o');
    await page.getByRole('option', { name: /customer/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.type(' }}!');
    await field.blur();
    await expect.poll(() => textIn(page), SOON).toContain('message: "Hello {{ $input.customer }}!"');
    await page.getByText('= "Hello Ada!"').first().waitFor();
    await page.getByLabel('Id', { exact: true }).fill('greet');
    await page.keyboard.press('Enter');
    await drawn(page, 'greet');
    expect(await textIn(page)).toContain('  # The customer is told.\n  greet:');
  });

  it('[EDT-52] broken text keeps the last graph, without edits; findings are marked', async () => {
    const opened = await editorOf('broken');
    const { page } = opened;
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('x: y: z');
    await page.getByText('The graph shows the last readable version').waitFor();
    expect(await graphOf(page, (graph) => graph.hasAttribute('editable'))).toBe(false);
    expect(await graphOf(page, (graph) => graph.boxOf('total') !== undefined)).toBe(true);
    expect(await page.getByRole('button', { name: 'Add a node' }).isDisabled()).toBe(true);
    await page.keyboard.press('Control+z');
    await page.keyboard.press('Control+z');
    await expect.poll(() => graphOf(page, (graph) => graph.hasAttribute('editable')), SOON).toBe(true);
    await clickNode(page, 'thank');
    await page.getByRole('combobox', { name: 'Action' }).selectOption('file.read@1');
    await page.getByRole('button', { name: /error/ }).waitFor();
    expect(await page.locator('.node-form-problems li').count()).toBeGreaterThan(0);
  });

  it('[EDT-53] a draft is saved while one types, and a second tab is told', async () => {
    const first = await editorOf('draft');
    const second = await browser.page('/w/draft/edit', { allowed: [/status of 412/, /status of 409/] });
    await drawn(second.page, 'thank');
    await type(first.page, '# from the first tab\n');
    await first.page.getByText('Draft saved').waitFor();
    await type(second.page, '# from the second tab\n');
    await second.page.getByRole('alert').getByText('changed in another tab').waitFor();
    await second.page.getByRole('button', { name: 'Take the other one' }).click();
    await expect.poll(() => textIn(second.page), SOON).toContain('# from the first tab');
    await first.page.reload();
    await expect.poll(() => textIn(first.page), SOON).toContain('# from the first tab');
  });

  it('[EDT-54] a save shows its changes, makes a version and writes the file', async () => {
    const opened = await editorOf('saved');
    const { page } = opened;
    await clickNode(page, 'thank');
    await page.getByLabel('Attempts').fill('3');
    await page.keyboard.press('Enter');
    await page.getByText('Draft saved').waitFor();
    await page.keyboard.press('Control+s');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('retry').waitFor();
    await dialog.getByText('core.set@1, core.log@1').waitFor();
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved as version 2').waitFor();
    const file = readFileSync(path.join(server.folder, 'workflows/saved.yaml'), 'utf8');
    expect(file).toBe(`${ORDER.replace('id: order', 'id: saved')}    retry: { attempts: 3 }\n`);
    await page.getByText('No changes').waitFor();
  });

  it('[EDT-58] a test run shows its states, with pinned outputs, and makes no version', async () => {
    const opened = await editorOf('tested');
    const { page } = opened;
    await clickNode(page, 'thank');
    await page.getByLabel('message').waitFor();
    await page.keyboard.press('Shift+Enter');
    const dialog = page.getByRole('dialog', { name: /Test up to this node: thank/ });
    await dialog.getByRole('textbox', { name: 'customer' }).fill('Ada');
    await dialog.getByRole('textbox', { name: 'items' }).fill('[{ "price": 7 }]');
    await dialog.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('status').filter({ hasText: 'Test run' }).getByText('Completed').waitFor();
    await page.getByText('= "Dear Ada: 7 EUR"').first().waitFor();
    await clickNode(page, 'total');
    await page.getByRole('button', { name: 'Pin this output' }).click();
    await page.getByText('pinned', { exact: true }).waitFor();
    await page.reload();
    await drawn(page, 'total');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByRole('dialog').getByText('1 pinned').waitFor();
    const { newestVersion } = await server.client().call('getWorkflow', { params: { workflowId: 'tested' } });
    expect(newestVersion).toBe(1);
  });

  it('[EDT-59] before a save the last runs are replayed against the text', async () => {
    const { executionId } = await server.client().call('startExecution', {
      body: { workflowId: 'rehearsed', input: { customer: 'Ada', items: [{ price: 2 }] } },
    });
    await server.client().call('getResult', { params: { executionId }, waitMs: 20_000 });
    const opened = await editorOf('rehearsed');
    const { page } = opened;
    await clickNode(page, 'thank');
    await page.getByLabel('message').fill('Changed');
    await page.getByLabel('message').blur();
    await page.getByText('Draft saved').waitFor();
    await page.getByRole('button', { name: 'Save…' }).click();
    const rehearsal = page.getByRole('dialog').locator('.rehearsal');
    await rehearsal.getByText('1 would differ').waitFor();
    await rehearsal.getByRole('link', { name: executionId }).waitFor();
    await page.keyboard.press('Escape');
  });

  it('[EDT-55] a moved node stays, and the text does not change', async () => {
    const opened = await editorOf('moved');
    const { page } = opened;
    const box = (await graphOf(page, (graph) => graph.boxOf('thank'))) as {
      x: number;
      y: number;
      width: number;
      height: number;
    };
    const host = (await page.locator('nebula-graph').boundingBox()) as { x: number; y: number };
    const [x, y] = [host.x + box.x + box.width / 2, host.y + box.y + box.height / 2];
    const stored = page.waitForResponse(
      (response) => response.url().endsWith('/layout') && response.request().method() === 'PUT',
    );
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 40, y + 120, { steps: 5 });
    await page.mouse.up();
    await stored;
    expect(await textIn(page)).toBe(ORDER.replace('id: order', 'id: moved'));
    const layout = await server.client().call('getLayout', { params: { workflowId: 'moved' } });
    expect(Object.keys(layout.nodes)).toEqual(['thank']);
    await page.getByText('No changes').waitFor();
  });

  it('[EDT-56] the page has no barriers', async () => {
    const opened = await editorOf('seen');
    await clickNode(opened.page, 'thank');
    await opened.page.getByLabel('message').waitFor();
    expect(await opened.barriers()).toEqual([]);
    await screenshots(opened, 'editor', { sizes: ['desktop'] });
    await opened.page.getByRole('button', { name: 'Add a node' }).click();
    expect(await opened.barriers()).toEqual([]);
  });

  it('[EDT-57] a new workflow is saved and found under its id', async () => {
    const opened = await browser.page('/w/new');
    const { page } = opened;
    await drawn(page, 'hello');
    await page.getByRole('button', { name: 'Save…' }).click();
    await page.getByRole('dialog').getByText('This is the first version.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.waitForURL(/\/w\/my-workflow\/edit/);
    await drawn(page, 'hello');
    const { activeVersion } = await server.client().call('getWorkflow', { params: { workflowId: 'my-workflow' } });
    expect(activeVersion).toBe(1);
  });
});

/** Types at the end of the text. */
async function type(page: Page, text: string): Promise<void> {
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type(text);
}
