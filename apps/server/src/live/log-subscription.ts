/** A subscription to log lines, over Server-Sent Events or a WebSocket. */
import type { StoredLogLine } from '@nebula/ports';
import type { EventStream, StreamEvent } from '../http/handler.ts';
import { type Principal, visibleProjects } from '../identity/principal.ts';
import { LIVE_LIMITS } from '../limits.ts';
import type { Parts } from '../parts.ts';
import { isoTime } from '../routes/times.ts';
import type { Feed } from './feed.ts';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
type Level = (typeof LEVELS)[number];

export const LOG_LEVEL = { anyOf: LEVELS.map((level) => ({ const: level })) };

export interface LogSubscription {
  readonly executionId: string;
  readonly node?: string;
  /** This level and above. */
  readonly level?: Level;
  /** Lines after this position. */
  readonly after?: number;
}

/** The stored lines, then new ones. After the last line of the ended run comes `end`; a reopened run is followed further. */
export async function* logEvents(
  parts: Parts,
  feed: Pick<Feed, 'follow'>,
  { executionId, node, level, after = 0 }: LogSubscription,
  signal: AbortSignal,
): EventStream {
  const { logs } = parts;
  const filter = {
    executionId,
    limit: LIVE_LIMITS.maxLogLinesPerPage,
    ...(node !== undefined && { node }),
    ...(level !== undefined && { minLevel: level }),
  };
  const left = new AbortController();
  const over = new AbortController();
  const end = endOf(feed, executionId, AbortSignal.any([signal, left.signal])).finally(() => over.abort());
  // A failure of the feed is thrown below, unless the follower has left before.
  end.catch(() => undefined);
  let position = after;
  const events = (page: readonly StoredLogLine[]): StreamEvent[] => {
    position = page.at(-1)?.position ?? position;
    return page.map(lineEvent);
  };
  try {
    const following = AbortSignal.any([signal, over.signal]);
    for await (const page of logs.follow({ ...filter, afterPosition: after }, following)) yield events(page);
    const last = await end;
    if (last === undefined) return;
    await untilWritten(parts, executionId, signal);
    for (let isMore = true; isMore && !signal.aborted; ) {
      const page = await logs.read({ ...filter, afterPosition: position });
      if (page.length > 0) yield events(page);
      isMore = page.length === filter.limit;
    }
    yield [last];
  } finally {
    left.abort();
  }
}

/** The last event of a run; undefined if the feed closes or the signal aborts before. */
async function endOf(
  feed: Pick<Feed, 'follow'>,
  executionId: string,
  signal: AbortSignal,
): Promise<StreamEvent | undefined> {
  for await (const events of feed.follow({ executionId, after: 'now', signal })) {
    const end = events.find(({ event }) => event === 'end');
    if (end !== undefined) return end;
  }
  return undefined;
}

/** Waits until the lines of an ended run are stored: those of this process, and those that others buffer. */
async function untilWritten({ logs, store, clock }: Parts, executionId: string, signal: AbortSignal): Promise<void> {
  const finishedAt = (await store.execution(executionId))?.finishedAt ?? 0;
  const waitMs = finishedAt + LIVE_LIMITS.lastLinesMs - clock.now();
  if (waitMs > 0) {
    await new Promise<void>((resolve) => {
      const timer = clock.timer(Math.min(waitMs, LIVE_LIMITS.lastLinesMs), resolve);
      signal.addEventListener('abort', () => {
        timer.cancel();
        resolve();
      });
      if (signal.aborted) resolve();
    });
  }
  // A full disk must not keep the stream from ending.
  await logs.flush().catch(() => undefined);
}

function lineEvent({ executionId: _, ...line }: StoredLogLine): StreamEvent {
  return { id: String(line.position), json: JSON.stringify({ ...line, at: isoTime(line.at) }) };
}

/** The test for runs that the caller may see; undefined: all runs. */
export function wantedRuns(
  { store }: Parts,
  who: Principal,
  { project, workflowId }: { readonly project?: string | undefined; readonly workflowId?: string | undefined },
): ((executionId: string) => Promise<boolean>) | undefined {
  const visible = project === undefined ? visibleProjects(who) : [project];
  if (visible === undefined && workflowId === undefined) return undefined;
  return async (executionId) => {
    const row = await store.execution(executionId);
    if (row === undefined) return false;
    return (workflowId ?? row.workflowId) === row.workflowId && (visible?.includes(row.project) ?? true);
  };
}
