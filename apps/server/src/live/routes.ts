/** Live updates as Server-Sent Events. */
import { NebulaError } from '@nebula/core';
import type { StoredLogLine } from '@nebula/ports';
import { type EventStream, type Handlers, ok } from '../http/handler.ts';
import { visibleProjects } from '../identity/principal.ts';
import type { Parts } from '../parts.ts';
import { isoTime } from '../routes/times.ts';
import { type Feed, isPlace } from './feed.ts';

export function liveRoutes(parts: Parts, feed: Feed): Pick<Handlers, 'followExecution' | 'followLogs' | 'followAll'> {
  const { store, logs } = parts;
  return {
    async followExecution({ params: { executionId }, query: { after }, headers, signal }) {
      return ok(feed.follow({ executionId, signal, ...startingPoint(after, headers['last-event-id']) }));
    },

    async followAll({ query: { after, workflowId }, who, project, headers, signal }) {
      const visible = project === undefined ? visibleProjects(who) : [project];
      const isAll = visible === undefined && workflowId === undefined;
      const wants = async (executionId: string): Promise<boolean> => {
        const row = await store.execution(executionId);
        if (row === undefined) return false;
        return (workflowId ?? row.workflowId) === row.workflowId && (visible?.includes(row.project) ?? true);
      };
      const start = startingPoint(after, headers['last-event-id']);
      return ok(feed.follow({ signal, ...start, ...(isAll ? {} : { wants }) }));
    },

    async followLogs({ params: { executionId }, query: { node, level, after }, headers, signal }) {
      const last = Number(headers['last-event-id']);
      const afterPosition = Number.isInteger(last) ? last : after;
      const lines = logs.follow(
        {
          executionId,
          limit: 1_000,
          ...(node !== undefined && { node }),
          ...(level !== undefined && { minLevel: level }),
          ...(afterPosition !== undefined && { afterPosition }),
        },
        signal,
      );
      return ok(asEvents(lines));
    },
  };
}

/** A browser that reconnects says where it was by itself. */
function startingPoint(
  after: string | undefined,
  lastEventId: string | readonly string[] | undefined,
): { after?: string } {
  const given = typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : after;
  if (given === undefined) return {};
  if (given === 'now' || isPlace(given)) return { after: given };
  throw new NebulaError('QUERY_INVALID', `'${given.slice(0, 60)}' is no event id.`, {
    hint: 'Give the `id` of an event, or `now`.',
    details: { errors: [{ pointer: '?after', detail: 'is no event id' }] },
  });
}

async function* asEvents(lines: AsyncIterable<StoredLogLine>): EventStream {
  for await (const { executionId: _, ...line } of lines) {
    yield [{ id: String(line.position), json: JSON.stringify({ ...line, at: isoTime(line.at) }) }];
  }
}
