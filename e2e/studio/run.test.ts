/** The page of a run: watched live, broken, understood, mended, looked at in the past. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { screenshots } from './screenshots.ts';
import { StudioBrowser, type StudioPage } from './studio-browser.ts';
import { StudioServer } from './studio-server.ts';

const FILES = {
  'workflows/order.yaml': `
id: order
name: Order
input: { type: object, properties: { card: { type: string, description: The card to charge. } } }
nodes:
  fetch: { action: core.set, with: { value: { total: 12 } } }
  charge:
    needs: [fetch]
    action: core.assert
    with: { condition: "{{ $input.card != 'declined' }}", message: The card was declined }
  ship: { needs: [charge], action: core.log, with: { message: "shipped for {{ $fetch.total }}" } }
`,
  'workflows/invoices.yaml': `
id: invoices
name: Invoices
nodes:
  each:
    forEach: { in: "[1, 2, 3]" }
    do:
      nodes:
        price: { action: core.set, with: { value: "{{ $item * 3 }}" } }
        send: { needs: [price], action: core.log, with: { message: "sent {{ $item }}" } }
  ask:
    needs: [each]
    wait:
      approval:
        title: Send the reminder?
        form: { type: object, required: [days], properties: { days: { type: integer, title: Days to pay } } }
  remind: { needs: [ask], action: core.set, with: { value: "{{ $ask.payload.form.days }}" } }
output: "{{ $remind }}"
`,
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

/** A run that has come to rest. */
async function started(workflowId: string, input?: unknown): Promise<string> {
  const client = server.client();
  const { executionId } = await client.call('startExecution', { body: { workflowId, ...(input ? { input } : {}) } });
  await client.call('awaitRest', { params: { executionId }, query: { wait: '20s' }, waitMs: 20_000 });
  return executionId;
}

const why = ({ page }: StudioPage) => page.getByRole('note', { name: 'Why' });
/** Waits until the header shows a status. */
const shownStatus = ({ page }: StudioPage, status: string) =>
  page.locator('.run-header > .status', { hasText: status }).waitFor();
const lane = ({ page }: StudioPage, name: string) => page.locator('.lane', { hasText: name });

describe('a run that breaks', () => {
  it('[STU-33] is started from the list of workflows, and its page says why it failed', async () => {
    const opened = await browser.page('/workflows');
    const { page } = opened;
    await page.getByRole('button', { name: 'Start Order' }).click();
    await page.getByLabel('card').fill('declined');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.waitForURL(/\/r\/exe_/);
    await shownStatus(opened, 'Failed');
    await lane(opened, 'charge').click();
    await why(opened).filter({ hasText: 'The card was declined' }).waitFor();
    expect(new URL(page.url()).searchParams.get('node')).toBe('charge');
    expect(await opened.barriers()).toEqual([]);
    await screenshots(opened, 'run-failed', {
      mask: (shown) => [shown.locator('.run-header'), shown.locator('.timeline'), shown.locator('.node-facts')],
    });
  });

  it('[STU-34] is replayed into a new run with another input of the node', async () => {
    const executionId = await started('order', { card: 'declined' });
    const opened = await browser.page(`/r/${executionId}?node=charge`);
    const { page } = opened;
    await page.getByRole('button', { name: 'Replay from here' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.filter({ hasText: 'charge, ship' }).waitFor();
    expect(await dialog.textContent()).toContain('1 other nodes keep their results');
    await dialog.getByLabel('Value as JSON').fill('{"condition": true, "message": "fine"}');
    await dialog.getByLabel('Into a new run').check();
    await dialog.getByRole('button', { name: 'Fork' }).click();
    await page.waitForURL((url) => url.pathname.startsWith('/r/') && !url.pathname.endsWith(executionId));
    await shownStatus(opened, 'Completed');
  });

  it('[STU-35] is shown at the moment before it failed', async () => {
    const executionId = await started('order', { card: 'declined' });
    const opened = await browser.page(`/r/${executionId}?node=charge`);
    const { page } = opened;
    await lane(opened, 'charge').locator('.status-glyph.status-failed').waitFor();
    await page.locator('body').press('[');
    await page.getByText('As it was at').waitFor();
    await shownStatus(opened, 'Running');
    expect(await lane(opened, 'charge').locator('.status-failed').count()).toBe(0);
    const address = page.url();
    expect(new URL(address).searchParams.get('at')).toMatch(/^\d+$/);
    // The moment is part of the address: another browser sees the same.
    const other = await browser.page(address.slice(server.url.length));
    await other.page.getByText('As it was at').waitFor();
    await page.locator('body').press('l');
    await shownStatus(opened, 'Failed');
    expect(new URL(page.url()).searchParams.get('at')).toBeNull();
  });

  it('[STU-36] tells what a retry does, and shows the new attempt', async () => {
    const executionId = await started('order', { card: 'declined' });
    const opened = await browser.page(`/r/${executionId}?node=charge&tab=attempts`);
    const { page } = opened;
    await page.getByText('Attempt 1').waitFor();
    await page.getByRole('button', { name: 'Retry failed nodes' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.filter({ hasText: 'charge' }).waitFor();
    await dialog.getByRole('button', { name: 'Retry', exact: true }).click();
    await page.getByText('Attempt 2').waitFor();
  });
});

describe('a run that waits', () => {
  it('[STU-37] is answered with the form of its approval, and ends while it is watched', async () => {
    const executionId = await started('invoices');
    const opened = await browser.page(`/r/${executionId}?node=ask`);
    const { page } = opened;
    await why(opened).filter({ hasText: 'Send the reminder?' }).waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Approve' }).click();
    await dialog.getByText('A value is needed here.').waitFor();
    await dialog.getByLabel('Days to pay').fill('14');
    await dialog.getByRole('button', { name: 'Approve' }).click();
    await shownStatus(opened, 'Completed');
    await lane(opened, 'remind').click();
    await page.locator('.value-tree').filter({ hasText: '14' }).waitFor();
  });

  it('[STU-38] shows the consequences of a cancel before it is cancelled', async () => {
    const executionId = await started('invoices');
    const opened = await browser.page(`/r/${executionId}`);
    const { page } = opened;
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('There is nothing to undo.').waitFor();
    await dialog.getByLabel('Reason').fill('a mistake');
    await dialog.getByRole('button', { name: 'Cancel the run' }).click();
    await shownStatus(opened, 'Cancelled');
  });

  it('[STU-39] shows each iteration of a loop with its own values', async () => {
    const executionId = await started('invoices');
    const opened = await browser.page(`/r/${executionId}?node=each`);
    const { page } = opened;
    await page.getByRole('button', { name: /Iteration 2/ }).click();
    await lane(opened, 'price').click();
    await page.locator('.value-tree').filter({ hasText: '9' }).waitFor();
    expect(new URL(page.url()).searchParams.get('node')).toBe('each/2/price');
    await page.getByRole('tab', { name: 'Logs' }).click();
    expect(await opened.barriers()).toEqual([]);
  });
});

describe('the list of runs', () => {
  it('[STU-80] shows a run the moment it starts, and filters by status', async () => {
    const opened = await browser.page('/runs');
    const { page } = opened;
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    const executionId = await started('order', { card: 'declined' });
    await page.getByText(executionId).waitFor();
    await page.getByRole('button', { name: /Completed/ }).click();
    await expect.poll(() => page.getByText(executionId).count()).toBe(0);
    expect(new URL(page.url()).searchParams.get('status')).toBe('completed');
    await page.goBack();
    await page.getByText(executionId).waitFor();
    expect(await opened.barriers()).toEqual([]);
  });

  it('[STU-81] is reached, and left, by the keyboard', async () => {
    const opened = await browser.page('/workflows');
    const { page } = opened;
    await page.getByRole('heading', { name: 'Workflows' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.waitForURL(/\/runs$/);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('invoi');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/w\/invoices$/);
    await page.getByRole('heading', { name: 'Invoices' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  });

  it('[STU-82] speaks German to a browser that does', async () => {
    const opened = await browser.page('/runs', { locale: 'de-DE' });
    await opened.page.getByRole('heading', { name: 'Läufe' }).waitFor();
    expect(await opened.page.evaluate(() => document.documentElement.lang)).toBe('de');
  });
});
