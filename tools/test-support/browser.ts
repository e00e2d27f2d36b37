/** A real browser for tests: the system's Chromium if there is one, else the one that comes as a package. */
import { existsSync } from 'node:fs';
import packaged from '@sparticuz/chromium';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const SYSTEM = '/usr/bin/chromium';
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--no-first-run',
];

/** Of the packaged browser: with one process for everything, it ends with the first page that is closed. */
const FRAGILE = '--single-process';

export async function openBrowser(): Promise<Browser> {
  const hasSystem = existsSync(SYSTEM);
  return await chromium.launch({
    executablePath: hasSystem ? SYSTEM : await packaged.executablePath(),
    args: hasSystem ? FLAGS : [...packaged.args.filter((flag) => flag !== FRAGILE), ...FLAGS],
  });
}

export interface OpenedPage {
  readonly page: Page;
  /** Errors in the console, and errors that no code has caught. */
  readonly errors: string[];
}

export async function newPage(browser: Browser, options: BrowserContextOptions): Promise<OpenedPage> {
  const page = await browser.newPage(options);
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(`${message.text()} ${message.location().url}`.trim());
  });
  page.on('pageerror', (error) => errors.push(error.message));
  return { page, errors };
}

/** Opens a page that may log no error. */
export async function openPage(browser: Browser, url: string): Promise<OpenedPage> {
  const opened = await newPage(browser, { viewport: { width: 1_000, height: 600 } });
  await opened.page.goto(url);
  return opened;
}
