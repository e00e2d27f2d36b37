/** Reads of an execution besides its document: timeline, journal, iterations, attempts. */
import type { AnswerOf } from '@nebula/client/contract';
import { AttemptList, type Entry, type Json, NebulaError, timelineOf, type WorkflowDefinition } from '@nebula/core';
import { type JournalFrame, withoutTest } from '@nebula/engine';
import { type Position, STACK_FIELD } from '@nebula/ports';
import { type Call, type Handlers, ok } from '../http/handler.ts';
import { unknownExecution } from '../http/subject.ts';
import { READ_LIMITS } from '../limits.ts';
import type { Parts } from '../parts.ts';
import { blobRoutes } from './blobs.ts';
import { IterationIndexes } from './iterations.ts';
import { logRoutes } from './logs.ts';
import { isoTime, isoTimeOrNull } from './times.ts';
import { sourceDocument } from './workflows.ts';

/** The limit on journal entries in one page, as JSON text. */
const MAX_PAGE_CHARS = 1024 * 1024;

type Frame = AnswerOf<'getJournal'>['items'][number];
type Event = AnswerOf<'getTimeline'>['items'][number];

/** `isWriting`: this process writes the logs and may still have lines in its buffer. */
export function executionReads(parts: Parts, isWriting: boolean) {
  const { executions, store } = parts;
  const iterations = new IterationIndexes(parts);
  return {
    ...logRoutes(parts, isWriting),
    ...blobRoutes(parts),

    async getJournal({ params: { executionId }, query }) {
      return ok(
        await pageOf<Frame>(framesOf(parts, executionId, query), query.limit, ({ seq, at, position, entries }) => [
          { seq, at: isoTime(at), position: wirePosition(position), entries: [...entries] },
        ]),
      );
    },

    async getTimeline({ params: { executionId }, query }) {
      const isBack = query.order === 'newest';
      return ok(
        await pageOf<Event>(framesOf(parts, executionId, query), query.limit, ({ seq, at, entries }) => {
          const events = entries.flatMap((entry) => timelineOf(entry, at));
          return (isBack ? events.reverse() : events).map((event) => ({ ...event, seq, at: isoTime(event.at) }));
        }),
      );
    },

    async listIterations({ params: { executionId }, query }) {
      const page = await iterations.page(executionId, query);
      if (page !== undefined) return ok(page);
      await requireNode(parts, executionId, query.node);
      return ok({ items: [], next: null, counts: { open: 0, completed: 0, failed: 0, cancelled: 0 } });
    },

    listAttempts: async ({ params: { executionId }, query }) =>
      ok(await attempts(parts, executionId, query, isWriting)),

    async explainExecution({ params: { executionId }, query: { node, at } }) {
      const explanation = await executions.explain(executionId, node, at);
      if (explanation === undefined) throw unknownNode(executionId, node);
      return ok(explanation as AnswerOf<'explainExecution'>);
    },

    async getUndoPlan({ params: { executionId } }) {
      const plan = await executions.undoPlan(executionId);
      if (plan === undefined) throw unknownExecution(executionId);
      return ok<AnswerOf<'getUndoPlan'>>({ toUndo: [...plan.toUndo], undone: [...plan.undone] });
    },

    async getDefinition({ params: { executionId } }) {
      const row = await store.execution(executionId);
      if (row === undefined) throw unknownExecution(executionId);
      const version = await store.workflowVersion(row.workflowId, row.version);
      if (version === undefined) throw new NebulaError('UNKNOWN_WORKFLOW', `Its workflow '${row.workflowId}' is gone.`);
      const { workflowId, hash, createdAt, definition } = version;
      return ok({
        workflowId,
        version: Math.max(0, row.version),
        hash,
        createdAt: isoTime(createdAt),
        active: false,
        definition: withoutTest(JSON.parse(definition) as WorkflowDefinition).definition as unknown as Json,
        source: sourceDocument(await store.workflowSource(workflowId, row.version)),
      });
    },

    async getValues({ params: { executionId }, query: { node, at } }) {
      const values = await executions.values(executionId, node, at);
      if (values === undefined) throw unknownNode(executionId, node);
      return ok<AnswerOf<'getValues'>>(values);
    },
  } satisfies Partial<Handlers>;
}

/** The frames of a page, in its order. */
function framesOf(
  { executions }: Parts,
  executionId: string,
  { after, before, order }: Call<'getJournal'>['query'],
): AsyncIterable<JournalFrame> {
  if (order === 'newest' && after === undefined) return executions.framesBack(executionId, before);
  if (order !== 'newest' && before === undefined) return executions.frames(executionId, after);
  const [given, fitting] = order === 'newest' ? ['after', 'before'] : ['before', 'after'];
  throw new NebulaError('QUERY_INVALID', `'${given}' does not fit the order of the page.`, {
    hint: `Give \`${fitting}\`, or the other order.`,
    details: { errors: [{ pointer: `?${given}`, detail: 'does not fit the order' }] },
  });
}

/**
 * The items of the frames up to the one that fills the page; `next` is the last of these frames. A page has at least one frame, so a
 * frame of any size is read.
 */
async function pageOf<T>(
  frames: AsyncIterable<JournalFrame>,
  limit = 1_000,
  itemsOf: (frame: JournalFrame) => readonly T[],
): Promise<{ items: T[]; next: string | null }> {
  const items: T[] = [];
  let chars = 0;
  let last: number | undefined;
  for await (const frame of frames) {
    const isFull = items.length >= limit || chars >= MAX_PAGE_CHARS;
    if (last !== undefined && isFull) return { items, next: String(last) };
    items.push(...itemsOf(frame));
    chars += frame.chars;
    last = frame.seq;
  }
  return { items, next: null };
}

/** Reads the whole journal, of which it keeps the attempts of one node. */
async function attempts(
  parts: Parts,
  executionId: string,
  { node, cursor = '0', limit = 100 }: Call<'listAttempts'>['query'],
  isWriting: boolean,
): Promise<AnswerOf<'listAttempts'>> {
  const list = new AttemptList(node);
  await noteAll(parts, executionId, list);
  const rest = list.attempts.filter(({ attempt }) => attempt > Number(cursor));
  if (rest.length === 0) await requireNode(parts, executionId, node);
  const items = rest.slice(0, limit);
  const isFailed = items.some(({ error }) => error !== undefined);
  const stacks = isFailed ? await stacksOf(parts, executionId, node, isWriting) : new Map<number, string>();
  return {
    items: items.map(({ attempt, worker = null, from, to, end = null, error = null }) => ({
      attempt,
      worker,
      startedAt: isoTime(from),
      endedAt: isoTimeOrNull(to),
      end,
      error,
      stack: stacks.get(attempt) ?? null,
    })),
    next: rest.length > limit ? String(items.at(-1)?.attempt) : null,
  };
}

/** Log lines of a node that are read at once to look for stacks, and the most such pages: log lines may be many. */
const LINES_PER_PAGE = 200;
const MAX_PAGES = 500;

/** Stacks of failed attempts, by number. */
async function stacksOf(
  { logs }: Parts,
  executionId: string,
  node: string,
  isWriting: boolean,
): Promise<ReadonlyMap<number, string>> {
  if (isWriting) await logs.flush();
  const stacks = new Map<number, string>();
  let afterPosition = 0;
  for (let page = 0; page < MAX_PAGES; page++) {
    const lines = await logs.read({ executionId, node, afterPosition, limit: LINES_PER_PAGE });
    for (const { attempt, message, fields } of lines) {
      if (attempt !== null && fields?.[STACK_FIELD] === true) stacks.set(attempt, message);
    }
    if (lines.length < LINES_PER_PAGE) break;
    afterPosition = lines.at(-1)?.position ?? afterPosition;
  }
  return stacks;
}

/** Shows every entry of the journal to a view. */
async function noteAll(
  { executions, clock }: Parts,
  executionId: string,
  view: { note(entry: Entry, at: number): void },
): Promise<void> {
  let unpaused = 0;
  for await (const { at, entries, chars } of executions.frames(executionId)) {
    for (const entry of entries) view.note(entry, at);
    unpaused += chars;
    if (unpaused < READ_LIMITS.maxCharsUnpaused) continue;
    unpaused = 0;
    await new Promise<void>((resolve) => clock.soon(resolve));
  }
}

async function requireNode({ executions }: Parts, executionId: string, node: string): Promise<void> {
  const { nodes = {} } = (await executions.bareDocument(executionId)) ?? {};
  if (!Object.hasOwn(nodes, node)) throw unknownNode(executionId, node);
}

/** A number if JSON can hold the position exactly, for clients that expect numbers. */
function wirePosition(position: Position): number | string {
  const number = Number(position);
  return Number.isSafeInteger(number) ? number : position;
}

function unknownNode(executionId: string, node: string | undefined): NebulaError {
  if (node === undefined) return unknownExecution(executionId);
  return new NebulaError('UNKNOWN_NODE', `There is no node '${node}' in ${executionId}.`);
}
