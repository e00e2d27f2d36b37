/** A subscription to log lines, over Server-Sent Events or a WebSocket. */
import type { EventStream } from '../http/handler.ts';
import { type Principal, visibleProjects } from '../identity/principal.ts';
import { LIVE_LIMITS } from '../limits.ts';
import type { Parts } from '../parts.ts';
import { isoTime } from '../routes/times.ts';

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

export async function* logEvents(
  { logs }: Parts,
  { executionId, node, level, after }: LogSubscription,
  signal: AbortSignal,
): EventStream {
  const filter = {
    executionId,
    limit: LIVE_LIMITS.maxLogLinesPerPage,
    ...(node !== undefined && { node }),
    ...(level !== undefined && { minLevel: level }),
    ...(after !== undefined && { afterPosition: after }),
  };
  for await (const page of logs.follow(filter, signal)) {
    yield page.map(({ executionId: _, ...line }) => ({
      id: String(line.position),
      json: JSON.stringify({ ...line, at: isoTime(line.at) }),
    }));
  }
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
