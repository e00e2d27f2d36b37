/** Logs of jobs: as a list, and as a stream that begins with the stored lines and ends with the job. */
import { Readable } from 'node:stream';
import type { OperationId } from '@nebula/client/contract';
import { isFinal, type RunDocument } from '@nebula/core';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { sendEvents } from '../http/sse.ts';
import type { Principal } from '../identity/principal.ts';
import { watchRights } from '../identity/watch-rights.ts';
import type { Parts } from '../parts.ts';
import { callerOf } from './access.ts';
import { type Ask, type Compat, found } from './endpoint.ts';
import { chunkDocument } from './wire.ts';

const PAGE = 1_000;
const EVENTS_TYPE = 'text/event-stream; charset=utf-8';
/** How often a followed job is checked for its end. */
const ENDED_EVERY_MS = 500;

export function logRoutes(app: FastifyInstance, own: Compat): void {
  const { parts, graphs } = own;
  const runOf = async (request: Ask, like: OperationId): Promise<RunDocument | undefined> => {
    const { named } = await found(own, request, like, 'viewer', 'wf');
    return await graphs.run(named);
  };

  app.get('/api/workflows/:wf/jobs/:job/logs', async (request: Ask, reply) => {
    const { wf, job: node } = request.params as { wf: string; job: string };
    const run = await runOf(request, 'listLogs');
    if (run === undefined) return [];
    await parts.logs.flush();
    const text = Readable.from(chunksOf(parts, run.executionId, node, wf));
    return await reply.type('application/json; charset=utf-8').send(text);
  });

  app.get('/api/workflows/:wf/jobs/:job/logs/stream', async (request: Ask, reply) => {
    const run = await runOf(request, 'followLogs');
    // There are no logs, and no run that could get some: an empty stream.
    if (run === undefined) return await reply.type(EVENTS_TYPE).send('');
    const ended = new AbortController();
    const look = (): Promise<Principal> => callerOf(own, request, 'viewer');
    const stop = watchRights(parts.clock, await look(), look, () => ended.abort());
    reply.raw.once('close', () => {
      stop();
      ended.abort();
    });
    reply.hijack();
    reply.raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': EVENTS_TYPE,
    });
    await streamLogs(parts, run, request, reply, ended);
    return reply;
  });
}

/** A list of all chunks, page by page: a slow reader holds one page. */
async function* chunksOf({ logs }: Parts, executionId: string, node: string, wf: string): AsyncGenerator<string> {
  let index = 0;
  let afterPosition: number | undefined;
  yield '[';
  for (let isMore = true; isMore; ) {
    const page = await logs.read({
      executionId,
      node,
      limit: PAGE,
      ...(afterPosition !== undefined && { afterPosition }),
    });
    const texts = page.map((line) => JSON.stringify(chunkDocument(line, wf, index++)));
    if (texts.length > 0) yield `${afterPosition === undefined ? '' : ','}${texts.join(',')}`;
    afterPosition = page.at(-1)?.position ?? afterPosition;
    isMore = page.length === PAGE;
  }
  yield ']';
}

/** Sends the stored log, then new lines, until the job has ended. */
async function streamLogs(
  { logs, executions }: Parts,
  { executionId }: RunDocument,
  request: Ask,
  reply: FastifyReply,
  ended: AbortController,
): Promise<void> {
  const { wf, job: node } = request.params as { wf: string; job: string };
  const look = async (): Promise<void> => {
    const run = await executions.document(executionId);
    const status = run?.nodes[node]?.status;
    if (run !== undefined && run.finishedAt === null && (status === undefined || !isFinal(status))) return;
    await logs.flush();
    setTimeout(() => ended.abort(), ENDED_EVERY_MS).unref();
  };
  const timer = setInterval(() => void look().catch(() => ended.abort()), ENDED_EVERY_MS);
  timer.unref();
  async function* events() {
    let index = 0;
    for await (const line of logs.follow({ executionId, node, limit: PAGE }, ended.signal)) {
      const json = JSON.stringify(chunkDocument(line, wf, index++));
      yield [{ id: String(line.position), event: 'log', json }];
    }
  }
  try {
    await sendEvents(reply.raw, events(), ended.signal);
  } finally {
    clearInterval(timer);
  }
}
