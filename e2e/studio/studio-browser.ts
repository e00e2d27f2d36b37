/**
 * Pages of the Studio in a real browser. One browser serves all tests of a file; each page has cookies and storage of
 * its own. A page is closed after its test, and fails the test if its console has an error that was not allowed.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { newPage, type OpenedPage, openBrowser } from '../../tools/test-support/browser.ts';
import type { StudioServer } from './studio-server.ts';

export const SIZES = { desktop: { width: 1_440, height: 900 }, phone: { width: 390, height: 844 } } as const;
export type Size = keyof typeof SIZES;
export type Theme = 'light' | 'dark';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export interface OpenOptions {
  readonly size?: Size;
  readonly theme?: Theme;
  readonly locale?: string;
  /** The browser has not signed in. Its requests then fail with 401, which the browser logs as errors. */
  readonly isStranger?: boolean;
  /** Errors that the page may log. */
  readonly allowed?: readonly RegExp[];
}

export class StudioBrowser {
  readonly browser: Browser;
  readonly #server: StudioServer;
  #session: BrowserContextOptions['storageState'];

  private constructor(browser: Browser, server: StudioServer) {
    this.browser = browser;
    this.#server = server;
  }

  static async open(server: StudioServer): Promise<StudioBrowser> {
    return new StudioBrowser(await openBrowser(), server);
  }

  /** Opens a path of the Studio, as the owner of a desktop server unless told otherwise. */
  async page(target: string, options: OpenOptions = {}): Promise<StudioPage> {
    const { size = 'desktop', theme = 'light', locale = 'en-US', isStranger = false, allowed = [] } = options;
    if (!isStranger) this.#session ??= await this.#signIn();
    const opened = await newPage(this.browser, {
      viewport: SIZES[size],
      colorScheme: theme,
      locale,
      timezoneId: 'UTC',
      reducedMotion: 'reduce',
      ...(!isStranger && this.#session !== undefined && { storageState: this.#session }),
    });
    const studio = new StudioPage(opened, [...allowed, ...(isStranger ? [/status of 401/] : [])]);
    onTestFinished(async () => {
      const errors = studio.errors();
      await opened.page.context().close();
      expect(errors, 'errors in the console').toEqual([]);
    });
    await opened.page.goto(target.startsWith('http') ? target : `${this.#server.url}${target}`);
    return studio;
  }

  async #signIn(): Promise<BrowserContextOptions['storageState']> {
    const response = await fetch(`${this.#server.url}/api/v1/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code: (await this.#server.client().call('createSignInCode')).code }),
    });
    const [name = '', value = ''] = (response.headers.get('set-cookie') ?? '').split(';')[0]?.split('=') ?? [];
    const { hostname } = new URL(this.#server.url);
    const cookie = { name, value, domain: hostname, path: '/', httpOnly: true, secure: false, expires: -1 };
    return { cookies: [{ ...cookie, sameSite: 'Strict' }], origins: [] };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser.close();
  }
}

export class StudioPage {
  readonly page: Page;
  readonly #errors: readonly string[];
  readonly #allowed: readonly RegExp[];

  constructor({ page, errors }: OpenedPage, allowed: readonly RegExp[]) {
    this.page = page;
    this.#errors = errors;
    this.#allowed = allowed;
  }

  /** Errors in the console that the test did not allow. */
  errors(): string[] {
    return this.#errors.filter((error) => !this.#allowed.some((pattern) => pattern.test(error)));
  }

  /** Barriers for people with disabilities that axe calls serious or critical. */
  async barriers(): Promise<string[]> {
    await this.page.evaluate(AXE);
    const { violations } = await this.page.evaluate(() =>
      (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
    );
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' ')}`);
  }
}
