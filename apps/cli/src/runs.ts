/** Reads runs through the operations of the contract. */
import type { AnswerOf, NebulaClient, QueryOf } from '@nebula/client';
import type { BareRun, Json, RunDocument, TimelineEvent, WorkflowDefinition } from '@nebula/core';
import { allItems, unlessAbsent } from './api.ts';
import { unknownExecution } from './location.ts';
import type { OpenCall, ProjectCall } from './services.ts';

/** Page sizes: the most that an operation returns at once. */
const MAX_ROWS = 1_000;
const MAX_FRAMES = 10_000;

export type RunSummary = AnswerOf<'listExecutions'>['items'][number];
export type RunFilter = Omit<QueryOf<'listExecutions'>, 'limit' | 'cursor'>;

export interface JournalFrame {
  readonly seq: number;
  readonly at: number;
  readonly position: number | string;
  readonly entries: readonly Json[];
}

/** Returns undefined if the run does not exist. With `node`, the document has that node even if its iteration has ended. */
export async function findRun(api: NebulaClient, executionId: string, node?: string): Promise<RunDocument | undefined> {
  const query = node === undefined ? {} : { node };
  return (await unlessAbsent(api.call('getExecution', { params: { executionId }, query }))) as RunDocument | undefined;
}

/** The document of a run without its values. */
export async function findBareRun(api: NebulaClient, executionId: string): Promise<BareRun | undefined> {
  const query = { values: 'none' as const };
  return (await unlessAbsent(api.call('getExecution', { params: { executionId }, query }))) as BareRun | undefined;
}

export async function runNamed({ api, project }: OpenCall, executionId: string, node?: string): Promise<RunDocument> {
  return (await findRun(api, executionId, node)) ?? unknownExecution(project, executionId);
}

/** Awaits a request; throws `UNKNOWN_EXECUTION` with the usual hint if the run does not exist. */
export async function requested<T>({ project }: ProjectCall, executionId: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof Error && 'code' in error && GONE.has(String(error.code)))
      unknownExecution(project, executionId);
    throw error;
  }
}

const GONE: ReadonlySet<string> = new Set(['UNKNOWN_EXECUTION', 'NOT_FOUND']);

export async function timelineOf(api: NebulaClient, executionId: string): Promise<TimelineEvent[]> {
  const events = await allItems((cursor) => {
    const query = { after: Number(cursor ?? 0), limit: MAX_FRAMES };
    return api.call('getTimeline', { params: { executionId }, query });
  });
  return events.map(timelineEvent);
}

/** Converts an event of the contract to the type of the core. */
export function timelineEvent({ at, type, node, details }: AnswerOf<'getTimeline'>['items'][number]): TimelineEvent {
  return { at: Date.parse(at), type, node, details } as TimelineEvent;
}

/** Returns no frames if the run does not exist. */
export async function journalOf(api: NebulaClient, executionId: string): Promise<JournalFrame[]> {
  const read = allItems((cursor) => {
    const query = { after: Number(cursor ?? 0), limit: MAX_FRAMES };
    return api.call('getJournal', { params: { executionId }, query });
  });
  const frames = (await unlessAbsent(read)) ?? [];
  return frames.map((frame) => ({ ...frame, entries: frame.entries as Json[], at: Date.parse(frame.at) }));
}

/** The newest runs, or those after a cursor, up to `limit`. */
export async function runsOf(
  api: NebulaClient,
  filter: RunFilter,
  { limit, cursor: from }: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<{ readonly rows: readonly RunSummary[]; readonly next: string | null }> {
  const rows: RunSummary[] = [];
  let cursor = from;
  do {
    const page = { limit: Math.min(MAX_ROWS, limit - rows.length), ...(cursor !== undefined && { cursor }) };
    const { items, next } = await api.call('listExecutions', { query: { ...filter, ...page } });
    rows.push(...items);
    cursor = next ?? undefined;
  } while (cursor !== undefined && rows.length < limit);
  return { rows, next: cursor ?? null };
}

/** The definition that a run is pinned to, or undefined if it was deleted. */
export async function definitionOfRun(api: NebulaClient, executionId: string): Promise<WorkflowDefinition | undefined> {
  return definitionIn(await unlessAbsent(api.call('getDefinition', { params: { executionId } })));
}

/** The definition of a version; the newest by default. */
export async function definitionOf(
  api: NebulaClient,
  workflowId: string,
  version?: number,
): Promise<WorkflowDefinition | undefined> {
  const params = { workflowId, version: version ?? ('newest' as const) };
  return definitionIn(await unlessAbsent(api.call('getWorkflowVersion', { params })));
}

function definitionIn(answer: AnswerOf<'getWorkflowVersion'> | undefined): WorkflowDefinition | undefined {
  if (answer === undefined) return undefined;
  return { ...(answer.definition as unknown as WorkflowDefinition), version: answer.version };
}
