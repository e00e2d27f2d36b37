/** Logs of jobs: as a list, and as a stream that begins with the stored lines and ends with the job. */
import { Readable } from 'node:stream';
import type { OperationId } from '@nebula/client/contract';
import type { FastifyInstance } from 'fastify';
import type { EventStream } from '../http/handler.ts';
import { sendEvents } from '../http/sse.ts';
import { projectOfWorkflow, unknownWorkflow } from '../http/subject.ts';
import type { Principal } from '../identity/principal.ts';
import { watchRights } from '../identity/watch-rights.ts';
import { LIVE_LIMITS } from '../limits.ts';
import { NodeEnds } from '../live/node-ends.ts';
import type { Parts } from '../parts.ts';
import { allowed, callerOf } from './access.ts';
import type { Ask, Compat } from './endpoint.ts';
import { namedRun } from './graphs.ts';
import { queryIn } from './input.ts';
import { chunkDocument } from './wire.ts';

const PAGE = LIVE_LIMITS.maxLogLinesPerPage;
const EVENTS_TYPE = 'text/event-stream; charset=utf-8';

export function logRoutes(app: FastifyInstance, compat: Compat): void {
  const { parts, feed, followers } = compat;
  const ends = new NodeEnds(parts, feed);

  /** The run that the path names. Neither the graph nor the state is read: both may be large. */
  const runOf = async (request: Ask, like: OperationId): Promise<Run> => {
    const { workflowId, executionId = queryIn(request.query, 'run') } = namedRun(request.params['wf'] as string);
    await allowed(compat, request, like, 'viewer', undefined);
    const project = await projectOfWorkflow(parts, workflowId);
    const who = await allowed(compat, request, like, 'viewer', project, () => unknownWorkflow(workflowId));
    const [row] =
      executionId === undefined
        ? (await parts.store.list({ workflowId, limit: 1 })).rows
        : [await parts.store.execution(executionId)];
    return { who, executionId: row?.workflowId === workflowId ? row.executionId : undefined };
  };

  app.get('/api/workflows/:wf/jobs/:job/logs', async (request: Ask, reply) => {
    const { wf, job: node } = request.params as { wf: string; job: string };
    const { executionId } = await runOf(request, 'listLogs');
    if (executionId === undefined) return [];
    await parts.logs.flush();
    const text = Readable.from(chunksOf(parts, executionId, node, wf));
    return await reply.type('application/json; charset=utf-8').send(text);
  });

  app.get('/api/workflows/:wf/jobs/:job/logs/stream', async (request: Ask, reply) => {
    const { wf, job: node } = request.params as { wf: string; job: string };
    const { who, executionId } = await runOf(request, 'followLogs');
    // There are no logs, and no run that could get some: an empty stream.
    if (executionId === undefined) return await reply.type(EVENTS_TYPE).send('');
    const ended = new AbortController();
    const stream = followers.count(who, chunkEvents(parts, { executionId, node, wf }, ended.signal));
    const authenticate = (): Promise<Principal> => callerOf(compat, request, 'viewer');
    const stop = watchRights(parts.clock, who, authenticate, () => ended.abort());
    const leave = (): void => {
      stop();
      ended.abort();
    };
    // The caller may have disconnected during the reads.
    if (reply.raw.destroyed) leave();
    else reply.raw.once('close', leave);
    reply.hijack();
    reply.raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': EVENTS_TYPE,
    });
    void ends.end(executionId, node, ended.signal).then(() => endAfterLastLines(parts, ended));
    await sendEvents(reply.raw, stream, ended.signal);
    return reply;
  });
}

interface Run {
  readonly who: Principal;
  /** Undefined: the workflow has not been run. */
  readonly executionId: string | undefined;
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

/** The stored log, then new lines, until the signal aborts. */
async function* chunkEvents(
  { logs }: Parts,
  { executionId, node, wf }: { readonly executionId: string; readonly node: string; readonly wf: string },
  signal: AbortSignal,
): EventStream {
  let index = 0;
  for await (const page of logs.follow({ executionId, node, limit: PAGE }, signal)) {
    yield page.map((line) => ({
      id: String(line.position),
      event: 'log',
      json: JSON.stringify(chunkDocument(line, wf, index++)),
    }));
  }
}

async function endAfterLastLines({ logs }: Parts, ended: AbortController): Promise<void> {
  await logs.flush().catch(() => undefined);
  setTimeout(() => ended.abort(), LIVE_LIMITS.lastLinesMs).unref();
}
