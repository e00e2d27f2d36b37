/** Finds the events of the feed that a notification is about. */
import { type Entry, errorPlace, isTestVersion, type RunError, type TimelineEvent, timelineOf } from '@nebula/core';
import { comparePositions, type ExecutionRow, type FrameRow, type Position, type Store } from '@nebula/ports';
import type { EventKind, NotificationKind, NotificationRecord, NotifiedEvent } from './records.ts';

export interface Collected {
  /** The first ones, at most `MAX_KEPT`. */
  readonly events: readonly NotifiedEvent[];
  readonly counts: Readonly<Record<EventKind, number>>;
  /** The position up to which the feed was read. */
  readonly end: Position;
}

type Reads = Pick<Store, 'feed' | 'frames' | 'execution' | 'workflowVersion'>;

const PAGE = 500;
const MAX_PAGES = 20;
const MAX_KEPT = 1_000;
/** Entries that matter. Other frames are not parsed: nearly all of them. */
const MATTERS = /"type":"(?:run\.finished|node\.unknown|node\.settled|node\.waiting|node\.answered)"/;
export const MAX_MESSAGE_CHARS = 500;

/** The events after `from`; up to `to` if it is given, else a bounded number of pages. */
export async function collect(
  store: Reads,
  record: NotificationRecord,
  from: Position,
  to?: Position,
): Promise<Collected> {
  const found: Found = { events: new Map(), more: { failed: 0, unknown: 0, approval: 0, stuck: 0 } };
  let end = from;
  for (let pages = 0; to !== undefined || pages < MAX_PAGES; pages++) {
    const rows = await store.feed({ after: end, limit: PAGE });
    for (const row of rows) {
      if (to !== undefined && comparePositions(row.position, to) > 0) return collected(found, to);
      end = row.position;
      if (MATTERS.test(row.entries)) await addFrame(store, record, row, found);
    }
    if (rows.length < PAGE) return collected(found, to ?? end);
  }
  return collected(found, end);
}

interface Found {
  readonly events: Map<string, NotifiedEvent>;
  /** The number of events beyond `MAX_KEPT`. */
  readonly more: Record<EventKind, number>;
}

function collected({ events, more }: Found, end: Position): Collected {
  const counts = { ...more };
  for (const { kind } of events.values()) counts[kind]++;
  return { events: [...events.values()], counts, end };
}

async function addFrame(
  store: Reads,
  record: NotificationRecord,
  { executionId, at, entries }: FrameRow,
  { events, more }: Found,
): Promise<void> {
  for (const event of (JSON.parse(entries) as Entry[]).flatMap((entry) => timelineOf(entry, at))) {
    const key = `${executionId} ${event.node ?? ''}`;
    // A person, or `verify`, was faster than the message.
    if (event.type === 'NodeSettled' && event.details.outcome !== 'unknown') events.delete(`unknown ${key}`);
    if (event.type === 'NodeAnswered') events.delete(`approval ${key}`);
    const kind = kindOf(event);
    if (kind === undefined || !record.on.includes(kind)) continue;
    const made = await eventOf(store, record, executionId, kind, event);
    if (made === undefined) continue;
    if (events.size < MAX_KEPT) events.set(`${kind} ${key}`, made);
    else more[kind]++;
  }
}

function kindOf(event: TimelineEvent): NotificationKind | undefined {
  if (event.type === 'WorkflowFailed' || event.type === 'WorkflowTimedOut') return 'failed';
  if (event.type === 'NodeUnknown') return 'unknown';
  const asks = event.type === 'NodeWaiting' && event.details.waits.some(({ kind }) => kind === 'approval');
  return asks ? 'approval' : undefined;
}

/** Undefined if the notification is not about this run. A deleted run concerns nobody. */
async function eventOf(
  store: Reads,
  record: NotificationRecord,
  executionId: string,
  kind: NotificationKind,
  event: TimelineEvent,
): Promise<NotifiedEvent | undefined> {
  const row = await store.execution(executionId);
  if (row === undefined || !(await isAbout(store, record, row))) return undefined;
  const { workflowId, createdAt } = row;
  if (kind === 'failed' && (await hasParent(store, executionId))) return undefined;
  const { error } = event.details as { readonly error?: RunError };
  return {
    kind,
    executionId,
    workflowId,
    node: event.node ?? error?.node ?? null,
    at: event.at,
    durationMs: Math.max(0, event.at - createdAt),
    code: error?.code ?? null,
    message: error?.message.slice(0, MAX_MESSAGE_CHARS) ?? null,
    place: error === undefined ? null : placeOf(error),
  };
}

function placeOf(error: RunError): string | null {
  const place = errorPlace(error);
  return place === undefined ? null : `${place.workflowId}: ${place.path.join('.')}`.slice(0, MAX_MESSAGE_CHARS);
}

/** Whether the notification is about runs like this one. */
export async function isAbout(
  store: Pick<Store, 'workflowVersion'>,
  { project, workflows, tag }: NotificationRecord,
  run: Pick<ExecutionRow, 'project' | 'workflowId' | 'version'>,
): Promise<boolean> {
  // The one who started a test run looks at it.
  if (isTestVersion(run.version)) return false;
  if (run.project !== project || (workflows !== null && !workflows.includes(run.workflowId))) return false;
  return tag === null || (await hasTag(store, run.workflowId, run.version, tag));
}

async function hasTag(
  store: Pick<Store, 'workflowVersion'>,
  workflowId: string,
  version: number,
  tag: string,
): Promise<boolean> {
  const found = await store.workflowVersion(workflowId, version);
  const { tags } = JSON.parse(found?.definition ?? '{}') as { readonly tags?: readonly string[] };
  return tags?.includes(tag) ?? false;
}

async function hasParent(store: Reads, executionId: string): Promise<boolean> {
  const [first] = await store.frames(executionId, 0, 1);
  const [started] = JSON.parse(first?.entries ?? '[]') as Entry[];
  return started?.type === 'run.started' && started.parent !== undefined;
}
