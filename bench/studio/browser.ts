/**
 * A browser with a process for each page, as people have it, and pages with scripts that are bundled from their sources.
 * The system's Chromium is used if there is one, else the one that comes as a package.
 */
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import packaged from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';
import { rolldown } from 'rolldown';

const SYSTEM = '/usr/bin/chromium';
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'];
export const ROOT = path.resolve(import.meta.dirname, '../..');

export async function openBrowser(): Promise<Browser> {
  const executablePath = existsSync(SYSTEM) ? SYSTEM : await packaged.executablePath();
  return await chromium.launch({ executablePath, args: FLAGS });
}

export interface Site {
  readonly url: string;
  close(): void;
}

/** `pages`: the body of each page; it loads the script of its name. `scripts`: their sources, from the root. */
export async function serve(
  pages: Readonly<Record<string, string>>,
  scripts: Readonly<Record<string, string>>,
  styles: string,
): Promise<Site> {
  const bundle = await rolldown({
    input: Object.fromEntries(Object.entries(scripts).map(([name, file]) => [name, path.join(ROOT, file)])),
    platform: 'browser',
    // Libraries for React name the place where their code runs.
    onLog: (level, log, report) => {
      if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log);
    },
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
  });
  const { output } = await bundle.generate({ format: 'esm' });
  await bundle.close();
  const code = new Map(output.map((file) => [`/${file.fileName}`, file.type === 'chunk' ? file.code : '']));
  const server = createServer((request, response) => {
    const name = request.url ?? '/';
    const script = code.get(name);
    const body = pages[name.slice(1)];
    if (script !== undefined) response.setHeader('content-type', 'text/javascript').end(script);
    else if (name === '/page.css') response.setHeader('content-type', 'text/css').end(styles);
    else if (body !== undefined)
      response
        .setHeader('content-type', 'text/html; charset=utf-8')
        .end(
          `<!doctype html><link rel="stylesheet" href="/page.css">${body}<script type="module" src="${name}.js"></script>`,
        );
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
