/** The pages besides runs and workflows: each one loads, and what it is for works. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { screenshots } from './screenshots.ts';
import { type OpenOptions, StudioBrowser } from './studio-browser.ts';
import { StudioServer } from './studio-server.ts';

const FILES = {
  'workflows/contract.yaml': `
id: contract
name: Contract
input: { type: object, required: [party], properties: { party: { type: string } } }
triggers:
  - webhook: { path: /contracts, input: { party: "{{ $input.party }}" } }
  - schedule: { cron: "0 7 * * 1-5", timezone: Europe/Berlin, input: { party: Standard } }
nodes:
  sign:
    wait:
      approval:
        title: "Sign with {{ $input.party }}?"
        form: { type: object, required: [discount], properties: { discount: { type: integer, title: Discount } } }
  pay: { wait: { approval: { title: "Pay {{ $input.party }}?" } } }
  sealed: { wait: { signal: sealed, key: "{{ $input.party }}" } }
`,
  'workflows/order.yaml': `
id: order
name: Order
input: { type: object, properties: { card: { type: string } } }
nodes:
  fetch: { action: core.set@1, with: { value: { total: 12, card: "{{ $input.card }}" } } }
  charge:
    needs: [fetch]
    action: core.assert@1
    with: { condition: "{{ $input.card != 'declined' }}", message: The card was declined }
  ship: { needs: [charge], action: core.set@1, with: { value: shipped } }
`,
};

/** The tour is not for people who have been here before. */
const SEEN = { preferences: { hasSeenTour: true } } as const satisfies OpenOptions;

let server: StudioServer;
let browser: StudioBrowser;
let good = '';
let bad = '';

beforeAll(async () => {
  server = await StudioServer.start({ files: FILES });
  browser = await StudioBrowser.open(server);
  good = await started('order', { card: 'visa' });
  bad = await started('order', { card: 'declined' });
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

/** A run that has come to rest. */
async function started(workflowId: string, input: unknown): Promise<string> {
  const client = server.client();
  const { executionId } = await client.call('startExecution', { body: { workflowId, input } });
  await client.call('awaitRest', { params: { executionId }, query: { wait: '20s' }, waitMs: 20_000 });
  return executionId;
}

const nodeStatus = async (executionId: string, node: string): Promise<string | undefined> =>
  (await server.client().call('getExecution', { params: { executionId }, query: { values: 'none' } })).nodes[node]
    ?.status;

describe('every page', () => {
  /** The address, the title in both languages, and the parts that are different each time. */
  const PAGES = {
    inbox: ['/inbox', 'Inbox', 'Eingang', '.task-list'],
    schedules: ['/schedules', 'Schedules', 'Zeitpläne', '.fires'],
    fleet: ['/fleet', 'Workers', 'Worker', '.fleet-own'],
    overview: ['/overview', 'Overview', 'Überblick', '.figures, .charts, .worst'],
    credentials: ['/credentials', 'Credentials', 'Zugangsdaten', 'td.muted'],
    audit: ['/audit', 'Audit', 'Protokoll', '.audit-table'],
    settings: ['/settings', 'Settings', 'Einstellungen', 'td.muted'],
    projects: ['/settings?tab=projects', 'Settings', 'Einstellungen', 'td.muted'],
    notifications: ['/settings?tab=notifications', 'Settings', 'Einstellungen', 'td.muted'],
    backup: ['/settings?tab=backup', 'Settings', 'Einstellungen', 'td.muted'],
  } as const;

  it.each(Object.entries(PAGES))(
    '[STU-40] %s opens in both languages and in all themes',
    async (name, [path, english, german, changing]) => {
      const opened = await browser.page(path, SEEN);
      const { page } = opened;
      // The first page may have to wait for the build.
      await page.getByRole('heading', { level: 1, name: english }).waitFor({ timeout: 60_000 });
      await page.waitForLoadState('networkidle');
      expect(await opened.barriers()).toEqual([]);
      await screenshots(opened, name, { mask: (shown) => [shown.locator(changing)] });
      expect(await opened.barriers(), 'dark, on a phone').toEqual([]);
      await page.evaluate(() =>
        localStorage.setItem('nebula-studio', JSON.stringify({ language: 'de', theme: 'contrast', hasSeenTour: true })),
      );
      await page.reload();
      await page.getByRole('heading', { level: 1, name: german }).waitFor();
      expect(await opened.barriers(), 'contrast').toEqual([]);
    },
  );
});

describe('the inbox', () => {
  it('[STU-41] lists what waits for a person, and the rail counts it live', async () => {
    const opened = await browser.page('/inbox', SEEN);
    const { page } = opened;
    await page.getByText('Nothing waits for you').waitFor();
    const executionId = await started('contract', { party: 'Aurora' });
    await page.getByRole('heading', { name: 'Sign with Aurora?' }).waitFor();
    await page.locator('.rail-count', { hasText: '3' }).waitFor();
    await page.getByRole('button', { name: 'Signals 1' }).click();
    expect(await page.locator('.task h2').allTextContents()).toEqual(['Waits for the signal sealed']);
    expect(new URL(page.url()).searchParams.get('kind')).toBe('signal');
    await server.client().call('cancelExecution', { params: { executionId }, body: {} });
    await page.locator('.rail-count').waitFor({ state: 'detached' });
  });

  it('[STU-42] an approval is answered on a phone in three taps', async () => {
    const executionId = await started('contract', { party: 'Borealis' });
    const opened = await browser.page('/runs', { ...SEEN, size: 'phone' });
    const { page } = opened;
    await page.getByRole('link', { name: 'Inbox' }).click();
    const card = page.getByRole('listitem', { name: 'Pay Borealis?' });
    await card.getByRole('button', { name: 'Approve' }).click();
    await card.getByRole('button', { name: 'Yes, approve' }).click();
    await card.waitFor({ state: 'detached' });
    await expect.poll(() => nodeStatus(executionId, 'pay')).toBe('completed');
  });

  it('[STU-42] a form is filled in on the card, and a rejection has a comment', async () => {
    const opened = await browser.page('/inbox', { ...SEEN, size: 'phone' });
    const { page } = opened;
    const card = page.getByRole('listitem', { name: 'Sign with Borealis?' });
    await card.getByRole('button', { name: 'Approve' }).click();
    await card.getByRole('button', { name: 'Yes, approve' }).click();
    await card.getByText('A value is needed here.').waitFor();
    await card.getByLabel('Discount').fill('15');
    expect(await opened.barriers()).toEqual([]);
    await card.getByRole('button', { name: 'Yes, approve' }).click();
    await card.waitFor({ state: 'detached' });
    const executionId = await started('contract', { party: 'Corona' });
    const other = page.getByRole('listitem', { name: 'Pay Corona?' });
    await other.getByRole('button', { name: 'Reject' }).click();
    await other.getByLabel('Comment').fill('not this year');
    await other.getByRole('button', { name: 'Yes, reject' }).click();
    await expect.poll(() => nodeStatus(executionId, 'pay')).toBe('failed');
  });

  it('[STU-43] a signal is sent with the key that the run waits for', async () => {
    const executionId = await started('contract', { party: 'Draco' });
    const opened = await browser.page('/inbox?kind=signal', SEEN);
    const { page } = opened;
    const card = page.locator('.task', { hasText: 'key Draco' });
    await card.getByRole('button', { name: 'Send the signal' }).click();
    await card.getByLabel('Payload').fill('{nonsense');
    await card.getByRole('button', { name: 'Send the signal' }).click();
    await card.getByText('This is not valid JSON.').waitFor();
    await card.getByLabel('Payload').fill('{"by": "ada"}');
    await card.getByRole('button', { name: 'Send the signal' }).click();
    await expect.poll(() => nodeStatus(executionId, 'sealed')).toBe('completed');
  });
});

describe('schedules', () => {
  it('[STU-44] are created with their next times in view, paused, fired and deleted', async () => {
    const opened = await browser.page('/schedules', SEEN);
    const { page } = opened;
    await page.getByText('Monday to Friday at 07:00').waitFor();
    await page.getByText('POST /contracts').waitFor();
    await page.getByRole('button', { name: 'New schedule' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('monthly');
    await dialog.getByLabel('Workflow').selectOption('order');
    await dialog.getByLabel('Cron expression').fill('61 * * * *');
    expect(await dialog.getByLabel('Next times').count()).toBe(0);
    await dialog.getByRole('button', { name: 'On the 1st' }).click();
    await dialog.getByLabel('Time zone').fill('Europe/Berlin');
    expect(await dialog.getByLabel('Next times').getByRole('listitem').count()).toBe(5);
    expect(await opened.barriers()).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    const row = page.getByRole('row', { name: /monthly/ });
    await row.getByText('on day 1 of the month at 09:00').waitFor();
    await row.getByText('Next times of monthly').locator('..').click();
    expect(await row.getByRole('listitem').count()).toBe(5);
    await row.getByRole('button', { name: 'Pause' }).click();
    await row.getByRole('button', { name: 'Resume' }).waitFor();
    await row.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await row.waitFor({ state: 'detached' });
    await page
      .getByRole('row', { name: /contract/ })
      .getByRole('button', { name: 'Run now' })
      .click();
    await page.waitForURL(/\/r\/exe_/);
  });
});

describe('workers and overview', () => {
  it('[STU-46] a registered worker is listed beside the slots of the server', async () => {
    const body = { workerId: 'gpu-1', project: 'default', labels: ['gpu'], actions: [{ id: 'video.encode' }] };
    await server.client().call('registerWorker', { body });
    const opened = await browser.page('/fleet', SEEN);
    const { page } = opened;
    const row = page.getByRole('row', { name: /gpu-1/ });
    await row.getByText('video.encode@1').waitFor();
    expect(await page.getByRole('meter', { name: 'Slots in use' }).getAttribute('aria-valuetext')).toMatch(
      /^\d+ of \d+$/,
    );
    await row.getByRole('button', { name: 'Forget gpu-1' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Forget' }).click();
    await row.waitFor({ state: 'detached' });
  });

  it('[STU-47] charts are read with the arrow keys, and failures lead to their runs', async () => {
    const opened = await browser.page('/overview?range=hour', SEEN);
    const { page } = opened;
    const chart = page.getByRole('slider', { name: 'Runs that ended' });
    await chart.focus();
    const values = async (): Promise<string | null> => await chart.getAttribute('aria-valuetext');
    let text = await values();
    for (let step = 0; step < 60 && !/Failed [1-9]/.test(text ?? ''); step++) {
      await page.keyboard.press('ArrowLeft');
      text = await values();
    }
    expect(text).toMatch(/^\d\d:\d\d, Completed \d+, Cancelled \d+, Failed [1-9]/);
    const table = page.getByRole('figure', { name: 'Runs that ended' });
    await table.getByText('Show as a table').click();
    await table.getByRole('columnheader', { name: 'Failed' }).waitFor();
    expect(await opened.barriers()).toEqual([]);
    await page.getByRole('link', { name: /Failed runs of order$/ }).click();
    await page.waitForURL(/\/runs\?status=failed%2Ctimed-out&since=hour&workflow=order$/);
    await page.getByRole('row', { name: new RegExp(bad) }).waitFor();
  });
});

describe('comparing two runs', () => {
  it('[STU-54] the other run is picked, and the first difference is named', async () => {
    const opened = await browser.page(`/compare?a=${good}`, SEEN);
    const { page } = opened;
    await page.getByRole('button', { name: new RegExp(bad) }).click();
    const first = page.getByRole('region', { name: 'First difference' });
    await first.getByRole('button', { name: 'fetch has another output' }).waitFor();
    expect(new URL(page.url()).searchParams.get('b')).toBe(bad);
    await page.getByText('"declined"').waitFor();
    await page.getByRole('heading', { name: 'Where the time went' }).waitFor();
    expect(await opened.barriers()).toEqual([]);
    const changing = '.compare-pickers, .compare-side header, .compare-values header, .compare-slower';
    await screenshots(opened, 'compare', { mask: (shown) => [shown.locator(changing)] });
  });
});

describe('credentials and audit', () => {
  it('[STU-49] a credential is stored and deleted, and its value is nowhere', async () => {
    const opened = await browser.page('/credentials', SEEN);
    const { page } = opened;
    const answers: string[] = [];
    page.on(
      'response',
      (response) =>
        void response.text().then(
          (text) => answers.push(text),
          () => undefined,
        ),
    );
    await page.getByRole('button', { name: 'New credential' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('SHOP_TOKEN');
    await dialog.getByLabel('Value', { exact: true }).fill('sk-4711-secret');
    await dialog.getByRole('button', { name: 'Store' }).click();
    const row = page.getByRole('row', { name: /SHOP_TOKEN/ });
    await row.waitFor();
    await page.reload();
    await row.waitFor();
    expect(await page.content()).not.toContain('sk-4711');
    expect(answers.join()).not.toContain('sk-4711');
    await row.getByRole('button', { name: 'Delete SHOP_TOKEN' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No credentials yet').waitFor();
  });

  it('[STU-50] the audit log is filtered by name and shows details', async () => {
    await server
      .client()
      .call('putSecret', { params: { name: 'AUDITED' }, query: {}, body: { value: 'sk-0815-secret' } });
    const opened = await browser.page('/audit', SEEN);
    const { page } = opened;
    const row = page.getByRole('row', { name: /AUDITED/ });
    await row.getByRole('button', { name: 'Details of putSecret' }).click();
    expect(new URL(page.url()).searchParams.get('entry')).not.toBeNull();
    expect(await page.content()).not.toContain('sk-0815');
    await page.getByLabel('Filter by name').fill('nobody-at-all');
    await page.keyboard.press('Enter');
    await page.getByText('This name has changed nothing').waitFor();
    await page.getByRole('button', { name: 'Show everybody' }).click();
    await row.waitFor();
  });
});

describe('settings', () => {
  it('[STU-51] theme and language change at once and are kept', async () => {
    const opened = await browser.page('/settings', SEEN);
    const { page } = opened;
    await page.getByLabel('Dark', { exact: true }).check({ force: true });
    await page.getByLabel('Language').selectOption('de');
    await page.getByRole('heading', { level: 1, name: 'Einstellungen' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Einstellungen' }).waitFor();
    expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark');
  });
});
