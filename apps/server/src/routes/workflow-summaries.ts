/** Workflows as lists show them. */
import type { AnswerOf } from '@nebula/client/contract';
import { PAGE_LIMITS } from '@nebula/client/limits';
import { NebulaError, type TriggerWords, triggerWords, type WorkflowDefinition } from '@nebula/core';
import { type ExecutionRow, pause, pauseFor, type WorkflowHead, type WorkflowVersionRow } from '@nebula/ports';
import { type Call, ok, type Reply } from '../http/handler.ts';
import { DEFAULT_PROJECT, unknownWorkflow } from '../http/subject.ts';
import { visibleProjects } from '../identity/principal.ts';
import type { Parts } from '../parts.ts';
import { etagOf, type Read, readRecord, type WorkflowRecord } from '../records.ts';
import { originDocument } from '../workflow-origins.ts';
import { isoTime } from './times.ts';

type Summary = AnswerOf<'getWorkflow'>;

/** Workflows that one request looks at; a page that ends there is short, and `next` leads on. */
const MAX_LOOKED_AT = 5_000;
/** Workflows that are read at once, also for a short page: a filter may skip most of them. */
const MIN_READ = 100;
/** The event loop runs after so many workflows: about 5 ms. */
const PER_TURN = 50;
/** A version never changes, so what lists show of it is kept, unless it is long. */
const MAX_OUTLINES = 5_000;
const MAX_OUTLINE_CHARS = 4_000;

/** The members of a definition that lists show. */
interface Outline {
  readonly name: string | null;
  readonly description: string | null;
  readonly tags: readonly string[];
  readonly triggers: readonly TriggerWords[];
  readonly createdAt: number;
}

export class WorkflowSummaries {
  readonly #parts: Parts;
  readonly #outlines = new Map<string, Outline>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** One workflow. Rejects with `UNKNOWN_WORKFLOW`. */
  async reply(workflowId: string): Promise<Reply<Summary>> {
    const [head] = await this.#parts.store.workflows({ workflowId, limit: 1 });
    if (head === undefined) throw unknownWorkflow(workflowId);
    const record = await readRecord<WorkflowRecord>(this.#parts.records, 'workflow', workflowId);
    const document = await this.#summary(head, record);
    return ok(document, record === undefined ? undefined : { etag: etagOf(record, document.newestVersion) });
  }

  async list(call: Call<'listWorkflows'>): Promise<Reply<AnswerOf<'listWorkflows'>>> {
    const { recent } = call.query;
    const page = await this.#page(call);
    return ok(recent === undefined ? page : { ...page, items: await this.#withRecent(page.items, recent) });
  }

  /** Pages are ordered by id over all projects; workflows that the caller may not see are skipped. */
  async #page(call: Call<'listWorkflows'>): Promise<AnswerOf<'listWorkflows'>> {
    const { cursor, limit = PAGE_LIMITS.default } = call.query;
    const { store, records, clock } = this.#parts;
    const items: Summary[] = [];
    const size = Math.max(limit, MIN_READ);
    let after = cursor;
    let count = 0;
    while (items.length < limit && count < MAX_LOOKED_AT) {
      const heads = await store.workflows({ limit: size, ...(after !== undefined && { after }) });
      for (const head of heads) {
        if (items.length === limit) return { items, next: after ?? null };
        after = head.workflowId;
        if (++count % PER_TURN === 0) await pause(clock, 'request');
        const record = await readRecord<WorkflowRecord>(records, 'workflow', head.workflowId);
        if (!isListed(call, record?.body)) continue;
        const found = await this.#summary(head, record);
        if (isAskedFor(call, found)) items.push(found);
      }
      if (heads.length < size) return { items, next: null };
    }
    return { items, next: after ?? null };
  }

  async #withRecent(items: readonly Summary[], limit: number): Promise<Summary[]> {
    const rows: ExecutionRow[] = [];
    for (let from = 0; from < items.length; from += PER_TURN) {
      if (from > 0) await pause(this.#parts.clock, 'request');
      const ids = items.slice(from, from + PER_TURN).map(({ workflowId }) => workflowId);
      rows.push(...(await this.#parts.store.recent(ids, limit)));
    }
    const byWorkflow = Map.groupBy(rows, (row) => `${row.workflowId} ${row.project}`);
    return items.map((item) => ({
      ...item,
      recent: (byWorkflow.get(`${item.workflowId} ${item.project}`) ?? []).map(
        ({ executionId, status, createdAt, finishedAt }) => ({
          executionId,
          status,
          durationMs: finishedAt === null ? null : Math.max(0, finishedAt - createdAt),
        }),
      ),
    }));
  }

  async #summary(head: WorkflowHead, record: Read<WorkflowRecord> | undefined): Promise<Summary> {
    const { workflowId, version, versions } = head;
    const newest = await this.#outline(workflowId, version);
    const active = record?.body.active ?? null;
    const { triggers } = active === null || active === version ? newest : await this.#outline(workflowId, active);
    const { name, description, tags, createdAt } = newest;
    return {
      workflowId,
      project: record?.body.project ?? DEFAULT_PROJECT,
      name,
      description,
      tags: [...tags],
      newestVersion: version,
      activeVersion: active,
      versions,
      updatedAt: isoTime(Math.max(createdAt, record?.updatedAt ?? 0)),
      origin: originDocument(this.#parts, record?.body.origin),
      archived: record?.body.archived ?? false,
      triggers: [...triggers],
    };
  }

  async #outline(workflowId: string, version: number): Promise<Outline> {
    const key = `${workflowId}@${version}`;
    const known = this.#outlines.get(key);
    if (known !== undefined) return known;
    const row = await versionOf(this.#parts, workflowId, version);
    await pauseFor(row.definition.length, this.#parts.clock, 'request');
    const definition = JSON.parse(row.definition) as WorkflowDefinition;
    const { name = null, description = null, tags = [], triggers = [] } = definition;
    const outline = { name, description, tags, triggers: triggers.map(triggerWords), createdAt: row.createdAt };
    if (this.#outlines.size >= MAX_OUTLINES) this.#outlines.delete(this.#outlines.keys().next().value as string);
    if (JSON.stringify(outline).length <= MAX_OUTLINE_CHARS) this.#outlines.set(key, outline);
    return outline;
  }
}

/** The summary of a workflow whose definition is not read. */
function isListed({ query, who, project }: Call<'listWorkflows'>, record: WorkflowRecord | undefined): boolean {
  const visible = project === undefined ? visibleProjects(who) : [project];
  if (visible?.includes(record?.project ?? DEFAULT_PROJECT) === false) return false;
  return (record?.archived ?? false) === (query.archived ?? false);
}

function isAskedFor({ query: { tag, search } }: Call<'listWorkflows'>, summary: Summary): boolean {
  const { workflowId, name, description, tags } = summary;
  if (tag !== undefined && !tags.includes(tag)) return false;
  if (search === undefined) return true;
  const wanted = search.toLowerCase();
  return [workflowId, name ?? '', description ?? '', ...tags].some((text) => text.toLowerCase().includes(wanted));
}

/** Rejects with `UNKNOWN_WORKFLOW`. */
export async function versionOf({ store }: Parts, workflowId: string, version?: number): Promise<WorkflowVersionRow> {
  const row = await store.workflowVersion(workflowId, version);
  if (row !== undefined) return row;
  const what = version === undefined ? `workflow '${workflowId}'` : `version ${version} of workflow '${workflowId}'`;
  throw new NebulaError('UNKNOWN_WORKFLOW', `There is no ${what}.`);
}

/** A version by its number or its name. Rejects with `UNKNOWN_WORKFLOW`. */
export async function namedVersion(
  parts: Parts,
  workflowId: string,
  version: number | 'newest' | 'active',
): Promise<WorkflowVersionRow> {
  if (version !== 'active') return await versionOf(parts, workflowId, version === 'newest' ? undefined : version);
  const active = (await readRecord<WorkflowRecord>(parts.records, 'workflow', workflowId))?.body.active ?? null;
  if (active === null) throw noneActive(workflowId);
  return await versionOf(parts, workflowId, active);
}

function noneActive(workflowId: string): NebulaError {
  return new NebulaError('UNKNOWN_WORKFLOW', `No version of workflow '${workflowId}' is active.`, {
    hint: 'Activate one, or ask for `newest`.',
  });
}
