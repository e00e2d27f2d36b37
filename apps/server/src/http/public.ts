/** Public documents: the API reference and the OpenAPI document. */
import { API_PREFIX } from '@nebula/client/contract';
import type { FastifyInstance } from 'fastify';
import { docsPage } from './docs-page.ts';
import { openApiDocument } from './openapi.ts';

/** Scripts are not needed; the styles are the page's own. */
const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

export function publicRoutes(app: FastifyInstance, version: string): void {
  const document = JSON.stringify(openApiDocument(version));
  const page = docsPage(version);
  app.get(`${API_PREFIX}/openapi.json`, async (_request, reply) => reply.type('application/json').send(document));
  app.get('/api/docs', async (_request, reply) =>
    reply.type('text/html; charset=utf-8').header('content-security-policy', PAGE_POLICY).send(page),
  );
}
