import { afterAll, beforeAll, expect, it } from 'vitest';
import { StudioBrowser } from './studio-browser.ts';
import { StudioServer } from './studio-server.ts';

const HELLO = `
id: hello
nodes: { greet: { action: core.set@1, with: { value: hello } } }
`;

let server: StudioServer;
let browser: StudioBrowser;

beforeAll(async () => {
  server = await StudioServer.start({ files: { 'workflows/hello.yaml': HELLO } });
  browser = await StudioBrowser.open(server);
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

it('[STU-7] a page recovers when the server was killed and is back', async () => {
  const allowed = [/ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|WebSocket/];
  const { page } = await browser.page('/runs', { allowed });
  const connection = page.getByRole('status');
  await connection.filter({ hasText: 'Live' }).waitFor();
  // The page itself is there, not only the frame around it.
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));
  await server.kill();
  await connection.filter({ hasText: 'Connection lost' }).waitFor();
  await server.restart();
  // The page has not noticed yet that the server is back: what happens meanwhile is shown, too.
  const { executionId } = await server.client().call('startExecution', { body: { workflowId: 'hello' } });
  await connection.filter({ hasText: 'Live' }).waitFor();
  await page.locator(`a[href*="${executionId}"]`).first().waitFor({ timeout: 10_000 });
  // Parts that are loaded on demand, with the session from before.
  await page.locator(`a[href*="${executionId}"]`).first().click();
  await page.getByText('greet').first().waitFor();
  expect(await page.evaluate(() => 'isSamePage' in globalThis)).toBe(true);
});
