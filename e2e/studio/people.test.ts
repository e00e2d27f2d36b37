/** A server with users: roles, keys and passwords. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { StudioBrowser, type StudioPage } from './studio-browser.ts';
import { StudioServer } from './studio-server.ts';

const PROGRAM = fileURLToPath(new URL('../../apps/cli/bin/nebula.js', import.meta.url));
const PASSWORD = 'correct horse battery';
const NEW_PASSWORD = 'another horse battery';

let server: StudioServer;
let browser: StudioBrowser;

beforeAll(async () => {
  server = await StudioServer.start({ preset: 'selfhost' });
  execFileSync(process.execPath, [PROGRAM, 'users', 'add', 'ann', '--admin', '--password-stdin'], {
    cwd: server.folder,
    input: PASSWORD,
  });
  browser = await StudioBrowser.open(server);
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

async function signedIn(user: string, password: string, target: string): Promise<StudioPage> {
  const opened = await browser.page(target, { isStranger: true });
  await signIn(opened.page, user, password);
  return opened;
}

async function signIn(page: Page, user: string, password: string): Promise<void> {
  await page.getByLabel('User', { exact: true }).fill(user);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation').first().waitFor();
}

it('[STU-52] a key is shown once, works, and is refused after it was revoked', async () => {
  const opened = await signedIn('ann', PASSWORD, '/settings?tab=keys');
  const { page } = opened;
  await page.getByRole('button', { name: 'New key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('deploy');
  expect(await opened.barriers()).toEqual([]);
  await dialog.getByRole('button', { name: 'New key' }).click();
  const token = (await dialog.locator('.made-key').textContent()) ?? '';
  await dialog.getByRole('button', { name: 'I have it' }).click();
  const status = async (): Promise<number> =>
    (await fetch(`${server.url}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } })).status;
  expect(await status()).toBe(200);
  expect(await page.content()).not.toContain(token);
  await page.getByRole('button', { name: 'Revoke deploy' }).click();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('No API keys').waitFor();
  expect(await status()).toBe(401);
});

it('[STU-52, STU-53] a viewer sees less, and changes the own password', async () => {
  const admin = await signedIn('ann', PASSWORD, '/settings?tab=users');
  await admin.page.getByRole('button', { name: 'New user' }).click();
  const dialog = admin.page.getByRole('dialog');
  await dialog.getByLabel('User', { exact: true }).fill('bob');
  await dialog.getByLabel('Password').fill(PASSWORD);
  await dialog.locator('.role-fields select').first().selectOption('viewer');
  expect(await admin.barriers()).toEqual([]);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await admin.page.getByRole('row', { name: /bob/ }).waitFor();
  await admin.page.getByRole('link', { name: 'Audit' }).waitFor();

  const opened = await signedIn('bob', PASSWORD, '/settings?tab=account');
  const { page } = opened;
  await page.getByRole('tab', { name: 'Account' }).waitFor();
  expect(await page.getByRole('tab').allTextContents()).toEqual(['Appearance', 'Account', 'API keys']);
  expect(await page.getByRole('link', { name: 'Audit' }).count()).toBe(0);
  expect(await page.getByRole('link', { name: 'Credentials' }).count()).toBe(0);
  await page.getByLabel('Current password').fill(PASSWORD);
  await page.getByLabel('New password', { exact: true }).fill(NEW_PASSWORD);
  await page.getByLabel('New password again').fill(`${NEW_PASSWORD}!`);
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText('The two are not the same.').waitFor();
  await page.getByLabel('New password again').fill(NEW_PASSWORD);
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText('Your password is changed').waitFor();
  expect(await opened.barriers()).toEqual([]);
  await page.reload();
  await page.getByRole('navigation').first().waitFor();
  await signedIn('bob', NEW_PASSWORD, '/runs');
});
