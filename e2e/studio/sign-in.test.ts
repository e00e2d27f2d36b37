import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { screenshots } from './screenshots.ts';
import { StudioBrowser } from './studio-browser.ts';
import { StudioServer } from './studio-server.ts';

const HELLO = `
id: hello
nodes: { greet: { action: core.set@1, with: { value: hello } } }
output: "{{ $nodes.greet.output }}"
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

describe('a browser at a desktop server', () => {
  it('[STU-1] is signed in by the printed address, which loses its code', async () => {
    const opened = await browser.page(await server.signInAddress('/workflows'), { isStranger: true });
    const { page } = opened;
    await page.getByRole('navigation').first().waitFor();
    expect(page.url()).toBe(`${server.url}/workflows`);
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/' });
    expect(await page.evaluate(() => document.cookie)).toBe('');
    await page.reload();
    await page.getByRole('navigation').first().waitFor();
  });

  it('[STU-1] is not signed in by a wrong code or one that was used, and is told what to do', async () => {
    const used = await server.signInAddress();
    const first = await browser.page(used, { isStranger: true });
    await first.page.getByRole('navigation').first().waitFor();
    for (const address of [used, `${server.url}/#code=wrong`]) {
      const opened = await browser.page(address, { isStranger: true });
      const { page } = opened;
      await page.getByRole('alert').waitFor();
      expect(await page.getByRole('alert').textContent()).toContain('The code is wrong');
      expect(await page.locator('body').textContent()).toContain('npx nebula studio');
      expect(page.url()).toBe(`${server.url}/`);
      expect(await page.context().cookies()).toEqual([]);
    }
    // The browser that has a session stays signed in when its old link is opened again.
    await first.page.goto(used);
    await first.page.getByRole('navigation').first().waitFor();
  });

  it('[STU-2] opens a page by its address', async () => {
    const opened = await browser.page('/workflows?x=1');
    await opened.page.getByText('hello').first().waitFor();
    expect(opened.page.url()).toContain('/workflows');
  });

  it('[STU-3] runs no inline code and nothing of another server', async () => {
    const { page } = await browser.page('/', { allowed: [/Content Security Policy/] });
    await page.getByRole('navigation').first().waitFor();
    const violated = await page.evaluate(async () => {
      const directives: string[] = [];
      document.addEventListener('securitypolicyviolation', (event) => directives.push(event.effectiveDirective));
      const script = document.createElement('script');
      script.textContent = 'globalThis.wasRun = true';
      document.head.append(script);
      const style = document.createElement('style');
      style.textContent = 'body { display: none }';
      document.head.append(style);
      const image = document.createElement('img');
      image.src = 'http://127.0.0.1:9/x.png';
      document.body.prepend(image);
      await fetch('http://127.0.0.1:9/').catch(() => undefined);
      // In a turn of its own: code that the test injects may use eval.
      await new Promise<void>((resolve) => {
        setTimeout(() => {
          try {
            new Function('globalThis.wasRun = true')();
          } catch {}
          resolve();
        });
      });
      const isRun = 'wasRun' in globalThis;
      const nonce = document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.content ?? '';
      const allowed = document.createElement('style');
      allowed.nonce = nonce;
      allowed.textContent = ':root { --by-nonce: 1 }';
      document.head.append(allowed);
      const value = getComputedStyle(document.documentElement).getPropertyValue('--by-nonce');
      image.remove();
      await new Promise((resolve) => setTimeout(resolve, 0));
      return { directives: directives.toSorted(), isRun, value };
    });
    expect(violated).toEqual({
      directives: ['connect-src', 'img-src', 'script-src', 'script-src-elem', 'style-src-elem'],
      isRun: false,
      value: '1',
    });
  });

  it('[STU-4] has no barriers at the sign-in', async () => {
    const opened = await browser.page('/', { isStranger: true });
    await opened.page.getByRole('button').first().waitFor();
    expect(await opened.barriers()).toEqual([]);
    await screenshots(opened, 'sign-in');
  });

  it('[STU-6] is compared with its picture, under the same version of the browser', async () => {
    const opened = await browser.page('/', { isStranger: true });
    const { page } = opened;
    await page.getByRole('button').first().waitFor();
    const references = mkdtempSync(path.join(tmpdir(), 'references-'));
    const compare = () => screenshots(opened, 'page', { references, sizes: ['phone'] });
    vi.stubEnv('STUDIO_REFERENCES', 'update');
    await compare();
    vi.unstubAllEnvs();
    await compare();
    await page.evaluate(() => document.body.prepend('A line that was not there'));
    await expect(compare()).rejects.toThrow('differs from its reference');
    for (const theme of ['light', 'dark']) {
      writeFileSync(path.join(references, `page-phone-${theme}.png.txt`), 'another version');
    }
    await compare();
  });
});

describe('a Studio that is being built', () => {
  it('[STU-5] says so, and opens by itself with the code of its address', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'studio-build-'));
    const script = fileURLToPath(new URL('../../apps/studio/build/build.ts', import.meta.url));
    const built = JSON.parse(execFileSync(process.execPath, [script], { encoding: 'utf8' })).folder as string;
    const target = path.join(folder, 'built');
    const other = await StudioServer.start({ env: { NEBULA_STUDIO_DIR: target } });
    // After the page: its hook runs first.
    onTestFinished(() => other[Symbol.asyncDispose]());
    const opened = await browser.page(await other.signInAddress('/inbox'), { isStranger: true });
    const { page } = opened;
    await page.getByText('Building the Studio…').waitFor();
    expect(await opened.barriers()).toEqual([]);
    cpSync(built, `${target}-copy`, { recursive: true });
    renameSync(`${target}-copy`, target);
    await page.getByRole('navigation').first().waitFor();
    expect(page.url()).toBe(`${other.url}/inbox`);
  });
});
