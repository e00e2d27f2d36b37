/** Looks at the runs of a server and leaves requests there: what `Desk` does on a data folder, over HTTP. */
import type { AnswerOf, BodyOf, NebulaClient, QueryOf } from '@nebula/client';
import type { Json, RunDocument, TimelineEvent, UndoPlan, WorkflowDefinition } from '@nebula/core';
import type { Desk, Explanation, JournalFrame } from '@nebula/engine';
import type { ExecutionFilter, ExecutionRow, ExecutionStatus, LogFilter, Logs, StoredLogLine } from '@nebula/ports';
import type { DeskSession } from '../services.ts';
import { asked, found } from './connection.ts';

/** As much as the server gives at once. */
const PAGE = 10_000;
const MAX_ROWS = 1_000;

export function remoteDeskSession(client: NebulaClient): DeskSession {
  return {
    desk: remoteDesk(client),
    logs: remoteLogs(client),
    server: client.url,
    me: () => me(client),
    definition: (workflowId, version) => definitionOf(client, workflowId, version),
    workflowIds: () => asked(workflowIdsOf(client)),
    close: async () => undefined,
  };
}

/** The owner of a desktop has no name there. */
async function me(client: NebulaClient): Promise<string | undefined> {
  const { kind, user } = await asked(client.call('getMe'));
  return kind === 'token' ? undefined : user;
}

async function definitionOf(
  client: NebulaClient,
  workflowId: string,
  version: number | undefined,
): Promise<WorkflowDefinition | undefined> {
  const params = { workflowId, version: version ?? ('newest' as const) };
  const answer = await found(client.call('getWorkflowVersion', { params }));
  if (answer === undefined) return undefined;
  return { ...(answer.definition as unknown as WorkflowDefinition), version: answer.version };
}

async function workflowIdsOf(client: NebulaClient): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { workflowId } of client.all('listWorkflows', { query: { limit: MAX_ROWS } })) ids.push(workflowId);
  return ids;
}

export function remoteDesk(client: NebulaClient): Desk {
  const accepted = async (call: Promise<unknown>): Promise<boolean> => (await found(call)) !== undefined;
  const of = (executionId: string) => ({ params: { executionId } });
  return {
    async document(executionId) {
      return (await found(client.call('getExecution', of(executionId)))) as RunDocument | undefined;
    },
    journal: (executionId) => journalOf(client, executionId),
    timeline: (executionId) => timelineOf(client, executionId),
    async explain(executionId, node) {
      const query = node === undefined ? {} : { node };
      return (await found(client.call('explainExecution', { ...of(executionId), query }))) as Explanation | undefined;
    },
    async undoPlan(executionId) {
      return (await found(client.call('getUndoPlan', of(executionId)))) as UndoPlan | undefined;
    },
    places: async (executionId, key) =>
      (await found(client.call('listPlaces', { ...of(executionId), query: { key } })))?.items ?? [],
    list: (filter) => listOf(client, filter),
    requestCancel: (executionId, reason, options = {}) =>
      accepted(client.call('cancelExecution', { ...of(executionId), body: { reason, ...options } })),
    requestPause: (executionId, reason) =>
      accepted(client.call('pauseExecution', { ...of(executionId), body: reason === undefined ? {} : { reason } })),
    requestResume: (executionId) => accepted(client.call('resumeExecution', { ...of(executionId), body: {} })),
    requestReplay: (executionId, node, input) =>
      accepted(
        client.call('replayExecution', { ...of(executionId), body: { node, ...(input !== undefined && { input }) } }),
      ),
    async fork(executionId, node, input) {
      const body = { node, fork: true, ...(input !== undefined && { input }) };
      return (await asked(client.call('replayExecution', { ...of(executionId), body }))).executionId;
    },
    requestSignal: (executionId, body) => accepted(client.call('signalExecution', { ...of(executionId), body })),
    async publishSignal({ signal, key, payload, keepMs, project }) {
      const body = {
        signal,
        ...(project !== undefined && { project }),
        ...(key !== undefined && { key }),
        ...(payload !== undefined && { payload }),
        ...(keepMs !== undefined && { keep: `${keepMs}ms` }),
      };
      const { taken, started } = await asked(client.call('publishSignal', { body }));
      return taken ?? started[0];
    },
    requestAnswer: (executionId, node, answer) =>
      accepted(client.call('answerApproval', { ...of(executionId), body: { node, ...answer } })),
    requestCallback: (executionId, node, payload) =>
      accepted(client.call('callBack', { ...of(executionId), body: { node, payload } })),
    requestRetry: (executionId) => accepted(client.call('retryExecution', { ...of(executionId), body: {} })),
    requestSettle: (executionId, node, settlement, attempt) => {
      const body = { node, ...settlement, ...(attempt !== undefined && { attempt }) };
      // Nobody is asked to say that it is still unknown.
      return accepted(client.call('settleNode', { ...of(executionId), body: body as BodyOf<'settleNode'> }));
    },
    async delete(executionId) {
      const isGone = await found(client.call('deleteExecution', of(executionId)).then(() => true));
      return isGone === true;
    },
  };
}

async function journalOf(client: NebulaClient, executionId: string): Promise<readonly JournalFrame[]> {
  const frames: JournalFrame[] = [];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const query: QueryOf<'getJournal'> = { after, limit: PAGE };
    const page: AnswerOf<'getJournal'> | undefined = await found(
      client.call('getJournal', { params: { executionId }, query }),
    );
    for (const frame of page?.items ?? []) {
      frames.push({ ...frame, entries: frame.entries as Json[], at: Date.parse(frame.at) });
    }
    after = page?.next == null ? undefined : Number(page.next);
  }
  return frames;
}

async function timelineOf(client: NebulaClient, executionId: string): Promise<readonly TimelineEvent[]> {
  const events: TimelineEvent[] = [];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const query: QueryOf<'getTimeline'> = { after, limit: PAGE };
    const page: AnswerOf<'getTimeline'> | undefined = await found(
      client.call('getTimeline', { params: { executionId }, query }),
    );
    for (const event of page?.items ?? []) events.push(timelineEvent(event));
    after = page?.next == null ? undefined : Number(page.next);
  }
  return events;
}

/** As the server tells it, in the form of the engine's. */
export function timelineEvent(event: {
  at: string;
  type: string;
  node: string | null;
  details: unknown;
}): TimelineEvent {
  const { type, node, details } = event;
  return { at: Date.parse(event.at), type, node, details } as TimelineEvent;
}

async function listOf(client: NebulaClient, filter: ExecutionFilter) {
  const { status, workflowId, project, cursor, limit } = filter;
  const statuses = status === undefined ? undefined : [status].flat().join(',');
  const query = {
    limit: Math.min(limit, MAX_ROWS),
    ...(statuses !== undefined && { status: statuses }),
    ...(workflowId !== undefined && { workflowId }),
    ...(project !== undefined && { project }),
    ...(cursor !== undefined && { cursor }),
  };
  const { items, next } = await asked(client.call('listExecutions', { query }));
  const rows = items.map(
    (item): ExecutionRow => ({
      ...item,
      status: item.status as ExecutionStatus,
      createdAt: Date.parse(item.createdAt),
      finishedAt: timeOrNull(item.finishedAt),
      wakeAt: timeOrNull(item.wakeAt),
      owner: null,
      expiresAt: null,
    }),
  );
  return { rows, next };
}

function timeOrNull(text: string | null): number | null {
  return text === null ? null : Date.parse(text);
}

/** Only looks: what actions say is written where they run. */
function remoteLogs(client: NebulaClient): Logs {
  const queryOf = ({ node, minLevel, afterPosition, limit }: LogFilter) => ({
    limit: Math.min(limit, PAGE),
    ...(node !== undefined && { node }),
    ...(minLevel !== undefined && { level: minLevel }),
    ...(afterPosition !== undefined && { after: afterPosition }),
  });
  return {
    append: () => undefined,
    flush: async () => undefined,
    async read(filter) {
      const { executionId } = filter;
      const page = await found(client.call('listLogs', { params: { executionId }, query: queryOf(filter) }));
      return (page?.items ?? []).map((line) => storedLine(executionId, line));
    },
    async *follow(filter, signal) {
      await untilThere(client, filter.executionId, signal);
      const { executionId, node, minLevel, afterPosition } = filter;
      const lines = client.logs(executionId, {
        signal,
        ...(node !== undefined && { node }),
        ...(minLevel !== undefined && { level: minLevel }),
        ...(afterPosition !== undefined && { after: afterPosition }),
      });
      for await (const line of lines) yield storedLine(executionId, line);
    },
    deleteExecution: async () => undefined,
    close: async () => undefined,
  };
}

/** Whoever starts a run may listen before it is there. */
export async function untilThere(client: NebulaClient, executionId: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if ((await found(client.call('getResult', { params: { executionId } }))) !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, ABSENT_MS));
  }
}

const ABSENT_MS = 250;

function storedLine(executionId: string, line: { at: string }): StoredLogLine {
  return { ...line, executionId, at: Date.parse(line.at) } as StoredLogLine;
}
