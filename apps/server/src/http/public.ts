/** What everybody may look at: whether the server is well, and how to talk to it. */
import { API_PREFIX } from '@nebula/client/contract';
import type { FastifyInstance } from 'fastify';
import { docsPage } from './docs-page.ts';
import { openApiDocument } from './openapi.ts';

export interface Health {
  /** The process runs. */
  isAlive(): boolean;
  /** It takes requests and gets them done: what is wrong otherwise, by part. */
  troubles(): Promise<Readonly<Record<string, string>>>;
}

/** Scripts are not needed; the styles are the page's own. */
const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

export function publicRoutes(app: FastifyInstance, version: string, health: Health): void {
  const document = JSON.stringify(openApiDocument(version));
  const page = docsPage(version);
  app.get('/health', async (_request, reply) =>
    reply.status(health.isAlive() ? 200 : 503).send({ status: health.isAlive() ? 'ok' : 'closing' }),
  );
  app.get('/ready', async (_request, reply) => {
    const troubles = await health.troubles();
    const isReady = Object.keys(troubles).length === 0;
    return reply.status(isReady ? 200 : 503).send({ status: isReady ? 'ready' : 'not ready', troubles });
  });
  app.get(`${API_PREFIX}/openapi.json`, async (_request, reply) => reply.type('application/json').send(document));
  app.get('/api/docs', async (_request, reply) =>
    reply.type('text/html; charset=utf-8').header('content-security-policy', PAGE_POLICY).send(page),
  );
}
