/** Live updates as Server-Sent Events. */
import { NebulaError } from '@nebula/core';
import { type Handlers, ok } from '../http/handler.ts';
import type { Parts } from '../parts.ts';
import { type Feed, isEventId } from './feed.ts';
import type { Followers } from './followers.ts';
import { logEvents, wantedRuns } from './log-subscription.ts';

export function liveRoutes(parts: Parts, feed: Feed, followers: Followers) {
  return {
    async followExecution({ params: { executionId }, query: { after }, who, headers, signal }) {
      const start = startingPoint(after, headers['last-event-id']);
      return ok(followers.count(who, feed.follow({ executionId, signal, ...start })));
    },

    async followAll({ query: { after, workflowId, level }, who, project, headers, signal }) {
      const wants = wantedRuns(parts, who, { project, workflowId });
      const start = startingPoint(after, headers['last-event-id']);
      return ok(
        followers.count(who, feed.follow({ signal, ...start, ...(wants && { wants }), isOfRuns: level === 'runs' })),
      );
    },

    async followLogs({ params: { executionId }, query: { node, level, after }, who, headers, signal }) {
      const from = positionAfter(after, headers['last-event-id']);
      const subscription = {
        executionId,
        ...(node !== undefined && { node }),
        ...(level !== undefined && { level }),
        ...(from !== undefined && { after: from }),
      };
      return ok(followers.count(who, logEvents(parts, feed, subscription, signal)));
    },
  } satisfies Partial<Handlers>;
}

/** A browser that reconnects sends `Last-Event-ID` by itself. */
function startingPoint(
  after: string | undefined,
  lastEventId: string | readonly string[] | undefined,
): { after?: string } {
  const given = typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : after;
  if (given === undefined) return {};
  if (given === 'now' || isEventId(given)) return { after: given };
  throw new NebulaError('QUERY_INVALID', `'${given.slice(0, 60)}' is not an event id.`, {
    hint: 'Give the `id` of an event, or `now`.',
    details: { errors: [{ pointer: '?after', detail: 'is not an event id' }] },
  });
}

function positionAfter(
  after: number | undefined,
  lastEventId: string | readonly string[] | undefined,
): number | undefined {
  if (typeof lastEventId !== 'string' || lastEventId === '') return after;
  if (/^\d{1,15}$/.test(lastEventId)) return Number(lastEventId);
  throw new NebulaError('QUERY_INVALID', `'${lastEventId.slice(0, 60)}' is not the id of a log line.`, {
    hint: 'Give the `id` of the last line received.',
  });
}
