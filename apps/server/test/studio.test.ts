import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StudioSource, StudioState } from '../src/index.ts';
import { BuiltStudio, type StudioManifest } from '../src/studio/built-studio.ts';
import { type Booted, boot, TOKEN } from './support/boot.ts';

const SCRIPT = `console.log('${'a script '.repeat(200)}');\n`;
const MANIFEST: StudioManifest = {
  format: 1,
  page: '<!doctype html><meta name="csp-nonce" content="__NONCE__"><script type="module" src="/assets/main-1.js"></script>',
  files: {
    'main-1.js': fileOf('text/javascript; charset=utf-8', 'sha256-main'),
    'core-worker-1.js': { ...fileOf('text/javascript; charset=utf-8', 'sha256-core'), worker: 'eval' },
    'layout-worker-1.js': { ...fileOf('text/javascript; charset=utf-8', 'sha256-layout'), worker: 'strict' },
    'gone-1.js': fileOf('text/javascript; charset=utf-8', 'sha256-gone'),
    'sans-1.woff2': { ...fileOf('font/woff2', 'sha256-sans'), encodings: [] },
  },
  first: ['main-1.js'],
};

function fileOf(contentType: string, integrity: string): StudioManifest['files'][string] {
  return { bytes: SCRIPT.length, gzipBytes: 10, contentType, integrity, encodings: ['br', 'gzip'] };
}

function builtFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'studio-'));
  mkdirSync(path.join(folder, 'assets/inner'), { recursive: true });
  writeFileSync(path.join(folder, 'manifest.json'), JSON.stringify(MANIFEST));
  for (const name of Object.keys(MANIFEST.files)) {
    writeFileSync(path.join(folder, 'assets', name), SCRIPT);
    writeFileSync(path.join(folder, 'assets', `${name}.br`), brotliCompressSync(SCRIPT));
    writeFileSync(path.join(folder, 'assets', `${name}.gz`), gzipSync(SCRIPT));
  }
  writeFileSync(path.join(folder, 'assets/unlisted.js'), SCRIPT);
  for (const name of ['gone-1.js', 'gone-1.js.br', 'gone-1.js.gz']) rmSync(path.join(folder, 'assets', name));
  return folder;
}

let state: StudioState = { status: 'building' };
let settled = Promise.withResolvers<StudioState>();
const source: StudioSource = { state: async () => state, settled: () => settled.promise };
let booted: Booted;
let studio: BuiltStudio;

beforeAll(async () => {
  studio = await BuiltStudio.open(builtFolder());
  booted = await boot({ studio: source });
});

afterAll(() => booted.close());

function setState(next: StudioState): void {
  state = next;
  settled.resolve(next);
  settled = Promise.withResolvers();
  if (next.status !== 'building') settled.resolve(next);
}

const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const get = (target: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Response> =>
  fetch(`${booted.server.url}${target}`, { method, headers, redirect: 'manual' });

/** As it is written: `fetch` would normalize the path. */
function rawStatus(target: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const { hostname, port } = new URL(booted.server.url);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path: target, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

describe('the page', () => {
  it('[SRV-1160] answers under every path that a browser opens', async () => {
    setState({ status: 'ready', studio });
    expect(await (await get('/')).text()).toContain('<script type="module" src="/assets/main-1.js">');
    for (const target of [
      '/r/exe_1?node=items/3/pack&at=812',
      '/w/order/edit',
      '/inbox',
      '/settings/',
      '/a/b/c',
      '/%20',
    ]) {
      const response = await get(target, HTML);
      expect([target, response.status, response.headers.get('content-type')]).toEqual([
        target,
        200,
        'text/html; charset=utf-8',
      ]);
      const head = await get(target, HTML, 'HEAD');
      expect([head.status, await head.text(), head.headers.get('x-nebula-studio')]).toEqual([200, '', 'ready']);
    }
  });

  it('[SRV-1160] answers for no program', async () => {
    setState({ status: 'ready', studio });
    const owner = { ...HTML, authorization: `Bearer ${TOKEN}` };
    for (const target of [
      '/api',
      '/api/v1/nothing',
      '/api/nothing',
      '/hooks/none',
      '/assets',
      '/metrics/x',
      '/ready/x',
    ]) {
      const response = await get(target, owner);
      expect([target, response.status, response.headers.get('content-type')]).toEqual([
        target,
        404,
        'application/problem+json; charset=utf-8',
      ]);
    }
    expect((await get('/inbox', { accept: 'application/json' })).status).toBe(404);
    expect((await get('/inbox')).status).toBe(404);
    expect((await get('/inbox', HTML, 'POST')).status).toBe(404);
    expect((await get('/favicon.ico', { accept: 'image/*' })).status).toBe(404);
    expect(await (await get('/health', HTML)).json()).toMatchObject({ status: 'ok' });
    expect(await (await get('/api/docs', HTML)).text()).toContain('API reference');
  });

  it('[SRV-1161] has a strict policy and a nonce of its own', async () => {
    setState({ status: 'ready', studio });
    const [one, other] = await Promise.all([get('/r/exe_1', HTML), get('/', HTML)]);
    const nonceOf = async (response: Response): Promise<string> =>
      /csp-nonce" content="([\w+/=]{24})"/.exec(await response.text())?.[1] ?? '';
    const nonce = await nonceOf(one);
    expect(one.headers.get('content-security-policy')).toBe(
      `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'`,
    );
    expect(one.headers.get('cache-control')).toBe('no-store');
    expect(await nonceOf(other)).not.toBe(nonce);
  });

  it('[SRV-1164] says that it is being built, and that it could not be', async () => {
    setState({ status: 'building' });
    const building = await get('/r/exe_1', HTML);
    const policy = building.headers.get('content-security-policy') ?? '';
    expect(policy).not.toMatch(/unsafe|'self'(?!; frame)/);
    const [, nonce] = /script-src 'nonce-([^']+)'/.exec(policy) ?? [];
    expect(await building.text()).toContain(`<script nonce="${nonce}">`);
    const waiting = get('/assets/main-1.js');
    setState({ status: 'ready', studio });
    expect((await waiting).status).toBe(200);
    setState({ status: 'failed' });
    const failed = await get('/', HTML);
    expect([failed.status, failed.headers.get('x-nebula-studio')]).toEqual([503, 'failed']);
    expect(await failed.text()).toContain('could not be built');
    expect((await get('/assets/main-1.js')).status).toBe(404);
    expect((await get('/api/v1/info')).status).toBe(200);
  });
});

describe('a file', () => {
  beforeAll(() => setState({ status: 'ready', studio }));

  it.each([
    ['br, gzip', 'br'],
    ['gzip, deflate', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['identity', null],
  ])('[SRV-1162] is sent as the caller accepts it: %s', async (accepted, encoding) => {
    const response = await get('/assets/main-1.js', { 'accept-encoding': accepted });
    expect(response.headers.get('content-encoding')).toBe(encoding);
    expect(await response.text()).toBe(SCRIPT);
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(response.headers.get('vary')).toBe('accept-encoding');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('[SRV-1162] is not sent again, and not with HEAD', async () => {
    const first = await get('/assets/main-1.js', { 'accept-encoding': 'br' });
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toBe('"main.br"');
    const again = await get('/assets/main-1.js', { 'accept-encoding': 'br', 'if-none-match': `"x", W/${etag}` });
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect((await get('/assets/main-1.js', { 'accept-encoding': 'gzip', 'if-none-match': etag })).status).toBe(200);
    const head = await get('/assets/main-1.js', { 'accept-encoding': 'identity' }, 'HEAD');
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(SCRIPT.length)]);
  });

  it.each([
    '/assets/',
    '/assets/unlisted.js',
    '/assets/gone-1.js',
    '/assets/main-1.js.br',
    '/assets/../manifest.json',
    '/assets/%2e%2e/manifest.json',
    '/assets/..%2fmanifest.json',
    '/assets/inner/../main-1.js',
    '/assets/./main-1.js',
    '/assets//main-1.js',
    '/assets/main-1.js%00',
    '/assets/inner',
    '/assets/constructor',
    '/assets/__proto__',
    '/assets/%5c..%5cmanifest.json',
    '/assets//etc/passwd',
  ])('[SRV-1162] is no other path: %s', async (target) => {
    expect(await rawStatus(target, HTML)).toBe(404);
  });

  it('[SRV-1163] of a worker has a policy of its own', async () => {
    const policyOf = async (name: string) => (await get(`/assets/${name}`)).headers.get('content-security-policy');
    expect(await policyOf('core-worker-1.js')).toBe(
      "default-src 'none'; script-src 'self' 'unsafe-eval'; frame-ancestors 'none'",
    );
    expect(await policyOf('layout-worker-1.js')).toBe("default-src 'none'; script-src 'self'; frame-ancestors 'none'");
    expect(await policyOf('main-1.js')).toBe("default-src 'none'; frame-ancestors 'none'");
  });

  it('[SRV-1165] needs no sign-in, as little as the page does', async () => {
    for (const target of ['/', '/assets/sans-1.woff2']) {
      const response = await get(target, { ...HTML, cookie: 'nebula_session=none' });
      expect(response.status).toBe(200);
      expect(response.headers.get('set-cookie')).toBeNull();
      expect(await response.text()).not.toContain(TOKEN);
    }
  });
});
