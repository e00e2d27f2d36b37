/** Requests under `/hooks` start runs. */
import { createHmac } from 'node:crypto';
import { isFinished, type Json, type JsonObject, NebulaError } from '@nebula/core';
import { type Clock, secretIn } from '@nebula/ports';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { readForm, readJson } from '../http/bodies.ts';
import { parsingBody } from '../http/connections.ts';
import { isSameSecret } from '../identity/tokens.ts';
import { type Launcher, traceparentIn } from '../launcher.ts';
import type { Parts } from '../parts.ts';
import { readRecord } from '../records.ts';
import { resultOf } from '../routes/executions.ts';
import { isoTime } from '../routes/times.ts';
import type { Waits } from '../waits.ts';
import { fire } from './fire.ts';
import type { WebhookRecord } from './records.ts';

const HOOKS_PREFIX = '/hooks';

/** The longest wait for a result; after it the response has the URL of the run. */
const RESULT_WAIT = '60s';

/** Headers that are not passed to the run. */
const PRIVATE_HEADERS = new Set(['authorization', 'cookie', 'proxy-authorization', 'x-api-key', 'x-csrf-token']);

interface Called {
  readonly id: string;
  readonly hook: WebhookRecord;
}

interface WebhookParts {
  readonly parts: Parts;
  readonly launcher: Launcher;
  readonly waits: Waits;
}

export function webhookRoutes(
  app: FastifyInstance,
  { parts, launcher, waits }: WebhookParts,
  origins: readonly string[],
): void {
  const called = new WeakMap<FastifyRequest, Called>();
  void app.register(async (hooks) => {
    takesAnyBody(hooks);
    hooks.route({
      method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      url: `${HOOKS_PREFIX}/*`,
      // Unknown paths are rejected before the body is read.
      onRequest: async (request) => {
        const id = `${request.method} /${(request.params as { '*': string })['*']}`;
        const hook = await readRecord<WebhookRecord>(parts.records, 'webhook', id);
        if (hook === undefined) {
          throw new NebulaError('NO_SUCH_ROUTE', `No workflow waits for ${id.slice(0, 200)}.`, {
            hint: 'Is the workflow active? Its triggers show the path.',
          });
        }
        if (hook.body.signature === null) guardOrigin(request, origins);
        called.set(request, { id, hook: hook.body });
      },
      handler: async (request, reply) => {
        const { id, hook } = called.get(request) as Called;
        await verifySignature(parts, hook, request);
        const { executionId } = await fire(parts, launcher, {
          source: hook,
          came: await cameWith(request, parts.clock),
          trigger: triggerOf(parts, hook, id, request),
          ...repeatKey(id, request),
          traceparent: traceparentIn(request.headers),
        });
        if (hook.respond === 'immediate') return reply.status(202).send({ executionId });
        const gone = new AbortController();
        reply.raw.once('close', () => gone.abort());
        const { status, output, error } = await resultOf(
          parts,
          executionId,
          await waits.ended(executionId, RESULT_WAIT, gone.signal),
        );
        reply.header('x-nebula-execution', executionId);
        if (status === 'completed')
          return reply.status(200).type('application/json; charset=utf-8').send(JSON.stringify(output));
        if (!isFinished(status)) return reply.status(202).send({ executionId, status });
        throw new NebulaError('RUN_FAILED', error?.message ?? `The run ended as ${status}.`, {
          details: { executionId, status, error: (error ?? null) as Json },
        });
      },
    });
  });
}

/**
 * A webhook without a signature accepts every caller except web pages: a browser
 * sends the origin of a request, and a page cannot change it.
 */
function guardOrigin({ headers, host }: FastifyRequest, origins: readonly string[]): void {
  const { origin } = headers;
  const site = headers['sec-fetch-site'];
  const isForeign = origin !== undefined && !origins.includes(origin) && URL.parse(origin)?.host !== host;
  const isCrossSite = site === 'cross-site' || site === 'same-site';
  if (!isForeign && !(isCrossSite && (origin === undefined || !origins.includes(origin)))) return;
  throw new NebulaError('NOT_ALLOWED', 'Pages of other sites may not call this webhook.', {
    hint: 'Give the trigger a signature, or name the origin in `server.origins`.',
  });
}

/** Keeps the raw bytes of the body, which a signature covers. */
export function takesAnyBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}

function repeatKey(id: string, { headers }: FastifyRequest): { idempotencyKey?: string } {
  const key = headers['idempotency-key'];
  return typeof key === 'string' && key !== '' ? { idempotencyKey: `${id} ${key.slice(0, 400)}` } : {};
}

function triggerOf({ clock }: Parts, { signature }: WebhookRecord, id: string, request: FastifyRequest): JsonObject {
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(
      ([name, value]) =>
        value !== undefined &&
        !PRIVATE_HEADERS.has(name) &&
        // In this scheme the header holds the secret itself.
        !(signature?.scheme === 'token' && name === signature.header.toLowerCase()),
    ),
  ) as JsonObject;
  return {
    type: 'webhook',
    id,
    at: isoTime(clock.now()),
    method: request.method,
    query: { ...(request.query as JsonObject) },
    headers,
  };
}

/** The payload: parsed JSON, a form as an object, or text; without a body, the query. */
export async function cameWith(request: FastifyRequest, clock: Clock): Promise<Json> {
  return parsingBody(request, () => payloadOf(request, clock));
}

async function payloadOf(request: FastifyRequest, clock: Clock): Promise<Json> {
  const body = request.body as Buffer | undefined;
  if (body === undefined || body === null || body.length === 0) return { ...(request.query as JsonObject) };
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const text = textOf(body);
  const isForm = type === 'application/x-www-form-urlencoded';
  if (isForm && !isJsonOfCurl(text)) return readForm(text, clock);
  if (type.startsWith('text/') && type !== 'text/json') return text;
  if (type === '' || type.includes('json') || isForm) return (await readJson(text, clock, JSON.parse)) as Json;
  throw new NebulaError('MEDIA_TYPE', `A webhook does not accept ${type.slice(0, 100)}.`, {
    hint: 'Send JSON, a form or text.',
  });
}

/** `curl -d '{…}'` says that it sends a form. In a form, the name of a field does not begin with a bracket: it is encoded. */
function isJsonOfCurl(text: string): boolean {
  return /^\s*[{[]/.test(text);
}

function textOf(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new NebulaError('BODY_INVALID', 'The body is not UTF-8.');
  }
}

async function verifySignature(
  { secrets }: Parts,
  { signature, project }: WebhookRecord,
  request: FastifyRequest,
): Promise<void> {
  if (signature === null) return;
  const { header, scheme, algorithm, encoding, prefix } = signature;
  const given = request.headers[header.toLowerCase()];
  const secret = await secretIn(secrets, project, signature.secret);
  if (secret === undefined) {
    throw new NebulaError('SECRET_NOT_FOUND', 'The secret of this webhook is not set on the server.', {
      hint: 'Set it with `nebula secrets set`; the `signature` of the trigger names it.',
    });
  }
  const body = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
  const wanted = prefix + (scheme === 'token' ? secret : createHmac(algorithm, secret).update(body).digest(encoding));
  if (typeof given === 'string' && isSameSecret(given, wanted)) return;
  throw new NebulaError('SIGNATURE_WRONG', `The header ${header} does not match the body and the secret.`, {
    hint: `It holds ${prefix === '' ? '' : `'${prefix}' and then `}${scheme === 'token' ? 'the shared secret' : `the HMAC-${algorithm} of the body, ${encoding}`}.`,
  });
}
