import { readFileSync } from 'node:fs';
import { openBrowser } from './tools/test-support/browser.ts';
const url = 'http://127.0.0.1:7801';
const token = readFileSync('/tmp/try/data/token','utf8').trim();
const h = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
const call = async (m: string, p: string, b?: unknown) => (await fetch(url + '/api/v1' + p, { method: m, headers: h, ...(b !== undefined && { body: JSON.stringify(b) }) })).json();
const { code } = await call('POST', '/sign-in-codes') as any;
const browser = await openBrowser();
const [theme='light', size='desktop', ...targets] = process.argv.slice(2);
const ctx = await browser.newContext({ viewport: size === 'phone' ? { width: 390, height: 844 } : { width: 1440, height: 900 }, colorScheme: theme as any, locale: process.env.LOCALE ?? 'en-US' });
const page = await ctx.newPage();
page.on('console', (m) => { if (m.type() === 'error' || m.type()==='warning') console.log('CONSOLE', m.text()); });
page.on('pageerror', (e) => console.log('PAGEERROR', e.message, e.stack?.split('\n').slice(0,4).join('\n')));
await page.goto(`${url}/#code=${code}`);
await page.waitForTimeout(1500);
for (const t of targets) {
  const [path, name, ...clicks] = t.split('|');
  await page.goto(url + path);
  await page.waitForTimeout(1800);
  for (const c of clicks) { await page.click(c); await page.waitForTimeout(600); }
  await page.screenshot({ path: `/tmp/try/shots/${name}.png` });
}
await browser.close();
