/**
 * Serves the Studio: one page for all paths that a browser opens, and the files that it loads.
 *
 *  1 Everything here is public and has no data: the page gets data from the API, as a signed-in user.
 *  2 The page runs scripts and styles of this server only. No policy allows inline code or, in the page, `eval`.
 *  3 CodeMirror puts its styles into a style element, which a policy can allow by a nonce only. The nonce is new in each
 *    response; the page finds it in `<meta name="csp-nonce">`.
 *  4 The worker that checks definitions compiles JSON Schemas to code (`eval`). Its own policy allows that, and no
 *    connection.
 */
import { randomBytes } from 'node:crypto';
import { NebulaError } from '@nebula/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { BuiltStudio, ServedFile } from './built-studio.ts';
import { buildingPage, failedPage } from './waiting-pages.ts';

export type StudioState =
  | { readonly status: 'building' }
  | { readonly status: 'failed' }
  | { readonly status: 'ready'; readonly studio: BuiltStudio };

/** The Studio of a server; in a clone it is built while the server runs. */
export interface StudioSource {
  /** The current state. The first call begins the build if there is none. */
  state(): Promise<StudioState>;
  /** The state after the build. */
  settled(): Promise<StudioState>;
}

/** Paths of programs: an unknown one is an error, and no page. */
const OF_PROGRAMS = /^\/(?:api|assets|health|ready|metrics|hooks|callbacks)(?:\/|$)/;
const ASSETS = '/assets/';
/** Names have a hash of their content. */
const FOR_EVER = 'public, max-age=31536000, immutable';

const WORKER_POLICIES = {
  strict: "default-src 'none'; script-src 'self'; frame-ancestors 'none'",
  eval: "default-src 'none'; script-src 'self' 'unsafe-eval'; frame-ancestors 'none'",
} as const;

function pagePolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ].join('; ');
}

/** The small pages have one script and one style element, both with the nonce. */
function waitingPolicy(nonce: string): string {
  const own = `script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; img-src data:; connect-src 'self'`;
  return `default-src 'none'; ${own}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;
}

/** Whether a browser opens a page: it asks for HTML, at a path that no program uses. */
export function isPageRequest({ method, url, headers }: Pick<FastifyRequest, 'method' | 'url' | 'headers'>): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  const [path = ''] = url.split('?');
  return !OF_PROGRAMS.test(path) && /\btext\/html\b/i.test(headers.accept ?? '');
}

export function studioRoutes(app: FastifyInstance, source: StudioSource): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/',
    handler: (_request, reply) => sendPage(reply, source),
  });
  app.route({
    method: ['GET', 'HEAD'],
    url: `${ASSETS}*`,
    handler: async (request, reply) => {
      // The page of an earlier process may ask for its files while this one looks for the build.
      const state = await source.settled();
      const { '*': name } = request.params as { readonly '*': string };
      const accepted = String(request.headers['accept-encoding'] ?? '');
      const file = state.status === 'ready' ? await state.studio.file(name, accepted) : undefined;
      if (file === undefined) throw unknownFile();
      return sendFile(request, reply, file);
    },
  });
}

export async function sendPage(reply: FastifyReply, source: StudioSource): Promise<FastifyReply> {
  const state = await source.state();
  const nonce = randomBytes(16).toString('base64');
  reply.type('text/html; charset=utf-8').headers({
    'content-security-policy': state.status === 'ready' ? pagePolicy(nonce) : waitingPolicy(nonce),
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    // By this the page that waits for the build knows that it has ended.
    'x-nebula-studio': state.status,
  });
  if (state.status === 'ready') return reply.send(state.studio.page(nonce));
  if (state.status === 'building') return reply.send(buildingPage(nonce));
  return reply.status(503).send(failedPage(nonce));
}

function sendFile({ headers }: FastifyRequest, reply: FastifyReply, file: ServedFile): FastifyReply {
  const { etag, encoding, contentType, content, worker } = file;
  reply.headers({ etag, 'cache-control': FOR_EVER, vary: 'accept-encoding' });
  if (worker !== undefined) reply.header('content-security-policy', WORKER_POLICIES[worker]);
  if (isKnown(headers['if-none-match'], etag)) return reply.status(304).send();
  if (encoding !== undefined) reply.header('content-encoding', encoding);
  return reply.type(contentType).send(content);
}

function isKnown(header: string | undefined, etag: string): boolean {
  return header?.split(',').some((one) => one.trim().replace(/^W\//, '') === etag || one.trim() === '*') ?? false;
}

function unknownFile(): NebulaError {
  return new NebulaError('NO_SUCH_ROUTE', 'The Studio of this server has no such file.', {
    hint: 'Reload the page: the server may have been updated.',
  });
}
