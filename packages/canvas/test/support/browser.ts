/** Pages for a browser, served with a policy that forbids inline scripts, inline styles and `eval`. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rolldown } from 'rolldown';

export { openBrowser, openPage } from '../../../../tools/test-support/browser.ts';

const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; worker-src 'self'; connect-src 'self'";
/** Of the pages: an element without a height has the least one. */
const STYLES = 'body { margin: 0 } nebula-graph { height: 600px }';

export interface Site {
  readonly url: string;
  close(): void;
}

export interface ServeOptions {
  readonly styles?: string;
  readonly policy?: string;
  /** Texts of entry files that do not exist. */
  readonly sources?: Readonly<Record<string, string>>;
}

/** Serves pages by name, and scripts that are bundled from entry files. */
export async function serve(
  pages: Readonly<Record<string, string>>,
  entries: Readonly<Record<string, string>>,
  { styles = STYLES, policy = POLICY, sources = {} }: ServeOptions = {},
): Promise<Site> {
  const bundle = await rolldown({
    input: { ...entries },
    plugins: [
      {
        name: 'sources',
        resolveId: (id) => (Object.hasOwn(sources, id) ? id : null),
        load: (id) => sources[id] ?? null,
      },
    ],
    platform: 'browser',
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
  });
  const { output } = await bundle.generate({ format: 'esm' });
  await bundle.close();
  const scripts = new Map(output.map((file) => [`/${file.fileName}`, file.type === 'chunk' ? file.code : '']));
  const server = createServer((request, response) => {
    const [path = '/'] = (request.url ?? '/').split('?');
    const script = scripts.get(path);
    const page = pages[path];
    response.setHeader('content-security-policy', policy);
    if (script !== undefined) response.setHeader('content-type', 'text/javascript').end(script);
    else if (path === '/page.css') response.setHeader('content-type', 'text/css').end(styles);
    else if (page !== undefined) response.setHeader('content-type', 'text/html; charset=utf-8').end(page);
    else response.writeHead(path === '/favicon.ico' ? 204 : 404).end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
