/**
 * Workflows of workflow-graph and their runs.
 *
 * The protocol of workflow-graph knows workflows, not runs: a worker asks by workflow and job whether its job was
 * cancelled. Therefore a run has a name that replaces a workflow's id: the id itself for the first run, `<id>.<run>`
 * for each later one. Every endpoint accepts both. For people, the plain id is the newest run; to cancel, all of them.
 */
import {
  type DocumentPath,
  isJsonObject,
  type Json,
  type JsonObject,
  jobsDefinition,
  jobsIn,
  NebulaError,
  type RunDocument,
  readJobsDocument,
} from '@nebula/core';
import { UNFINISHED_STATUSES } from '@nebula/ports';
import { checkedDefinition } from '../definitions/definitions.ts';
import { DEFAULT_PROJECT } from '../http/subject.ts';
import type { Parts } from '../parts.ts';
import { readRecord, type WorkflowRecord } from '../records.ts';
import { type Graph, workflowDocument } from './wire.ts';

const KIND = 'workflow-graph';
const PAGE = 500;
const MAX_OTHERS = 10_000;
/** Marks the trigger of runs that are started through the protocol. */
export const PROTOCOL = 'workflow-graph';

/** The record of a posted workflow. */
interface GraphRecord {
  readonly project: string;
  readonly display?: Graph['display'];
  /** The run that has the workflow's id as its name. */
  readonly first?: string;
}

/** One version of a workflow. */
export interface StoredGraph extends Graph {
  readonly project: string;
  readonly version: number;
}

export interface NamedRun {
  readonly workflowId: string;
  readonly executionId: string | undefined;
}

/** Neither ids of workflows nor of runs have dots. */
export function namedRun(name: string): NamedRun {
  const dot = name.indexOf('.');
  if (dot === -1) return { workflowId: name, executionId: undefined };
  return { workflowId: name.slice(0, dot), executionId: name.slice(dot + 1) };
}

export class Graphs {
  private readonly parts: Parts;
  /** Versions known not to be jobs files, so that lists read their definitions once. */
  private readonly others = new Set<string>();

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** Every posted workflow is a new one, as in workflow-graph. Rejects with `DEFINITION_INVALID`. */
  async create(body: Json, project: string): Promise<{ readonly id: string; readonly graph: Graph }> {
    const { executions, records, digest, random } = this.parts;
    const { definition: read, display } =
      typeof body === 'string' ? await this.fromText(body, project) : fromObject(body);
    const id = `${read['id']}-${digest(random.id('wfg')).slice(0, 12)}`;
    const definition = { ...read, id };
    await this.check(definition, project);
    const record: GraphRecord = { project, display };
    const owner: WorkflowRecord = { project, active: null };
    await records.commit([
      { kind: 'workflow', id, body: JSON.stringify(owner), expected: 0 },
      { kind: KIND, id, body: JSON.stringify(record) },
    ]);
    await executions.register(definition);
    return { id, graph: { ...described(id, definition), jobs: jobsIn(definition) ?? [], display } };
  }

  /** Reads a file in YAML or JSON; problems have a line and a column. */
  private async fromText(source: string, project: string): Promise<Converted> {
    const given = { source, filename: 'workflow.yaml' };
    const { definition, problems } = await checkedDefinition(this.parts, given, project, undefined);
    const errors = problems.filter(({ severity }) => severity === 'error');
    if (errors.length > 0 || definition === undefined) throw refused(errors);
    const read = definition as unknown as JsonObject;
    if (jobsIn(read) === undefined && hasNodes(read))
      throw refused([{ code: 'MISSING_KEY', message: 'the workflow has no jobs', path: [] }]);
    return { definition: read, display: {} };
  }

  /** Compiles it like any definition, which rejects e.g. a cycle or a broken condition. */
  private async check(definition: JsonObject, project: string): Promise<void> {
    const checked = await checkedDefinition(this.parts, { definition }, project, undefined);
    const problems = checked.problems.filter(({ severity }) => severity === 'error');
    if (problems.length > 0) throw refused(problems);
  }

  /** A workflow that was posted here, or whose nodes are all jobs. Without `version`, the newest one. */
  async find(workflowId: string, version?: number): Promise<StoredGraph | undefined> {
    const { records, store } = this.parts;
    const found = await store.workflowVersion(workflowId, version);
    if (found === undefined) return undefined;
    const definition = JSON.parse(found.definition) as JsonObject;
    const posted = await readRecord<GraphRecord>(records, KIND, workflowId);
    const jobs = jobsIn(definition) ?? (posted !== undefined && !hasNodes(definition) ? [] : undefined);
    if (jobs === undefined) return undefined;
    const owner = await readRecord<WorkflowRecord>(records, 'workflow', workflowId);
    const project = owner?.body.project ?? DEFAULT_PROJECT;
    const display = posted?.body.display ?? {};
    return { ...described(workflowId, definition), jobs, project, display, version: found.version };
  }

  /** The status of a workflow: the jobs of the run's version, which may be older than the newest one. */
  async document(id: string, newest: StoredGraph, run: RunDocument | undefined): Promise<JsonObject> {
    const isOlder = run !== undefined && run.version !== newest.version;
    const graph = isOlder ? await this.find(run.workflowId, run.version) : newest;
    return workflowDocument(id, graph ?? newest, run);
  }

  /** All posted workflows, and all others whose nodes are all jobs (a jobs file of the folder), ordered by id. */
  async *all(): AsyncGenerator<{ readonly id: string; readonly body: StoredGraph }> {
    for (let after: string | undefined; ; ) {
      const heads = await this.parts.store.workflows({ limit: PAGE, ...(after !== undefined && { after }) });
      for (const { workflowId, version } of heads) {
        const key = `${workflowId}@${version}`;
        if (this.others.has(key)) continue;
        const body = await this.find(workflowId);
        if (body !== undefined) {
          yield { id: workflowId, body };
          continue;
        }
        if (this.others.size >= MAX_OTHERS) this.others.clear();
        this.others.add(key);
      }
      after = heads.at(-1)?.workflowId;
      if (heads.length < PAGE) return;
    }
  }

  /** Called before a run begins: the first run takes the workflow's id as its name, which workers then get. */
  async claimName(workflowId: string, executionId: string): Promise<void> {
    const { records, store } = this.parts;
    const row = await readRecord<GraphRecord>(records, KIND, workflowId);
    if (row === undefined) return;
    const { first } = row.body;
    // A rejected or deleted first run gives its name to the next one.
    if (first !== undefined && (await store.execution(first)) !== undefined) return;
    const body = JSON.stringify({ ...row.body, first: executionId });
    await records.commit([{ kind: KIND, id: workflowId, body, expected: row.revision }]);
  }

  async nameOf(workflowId: string, executionId: string): Promise<string> {
    const row = await readRecord<GraphRecord>(this.parts.records, KIND, workflowId);
    return row?.body.first === executionId ? workflowId : `${workflowId}.${executionId}`;
  }

  /** The run that a worker means. */
  async runOfWorker(name: string): Promise<RunDocument | undefined> {
    const { workflowId, executionId } = namedRun(name);
    const row =
      executionId === undefined ? await readRecord<GraphRecord>(this.parts.records, KIND, workflowId) : undefined;
    return await this.run({ workflowId, executionId: executionId ?? row?.body.first });
  }

  /** The named run, or, by the id of the workflow, all runs that were started through the protocol; newest first. */
  async unfinished(named: NamedRun): Promise<string[]> {
    const { workflowId, executionId } = named;
    if (executionId !== undefined) {
      const run = await this.run(named);
      return run === undefined || run.finishedAt !== null ? [] : [run.executionId];
    }
    const { store, executions } = this.parts;
    const found: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const filter = { workflowId, status: UNFINISHED_STATUSES, limit: PAGE };
      const page = await store.list({ ...filter, ...(cursor !== undefined && { cursor }) });
      for (const row of page.rows) {
        const trigger = (await executions.document(row.executionId))?.trigger ?? null;
        if (isJsonObject(trigger) && trigger['protocol'] === PROTOCOL) found.push(row.executionId);
      }
      cursor = page.next;
    }
    return found;
  }

  /** Without an execution, the newest one. */
  async run({ workflowId, executionId }: NamedRun): Promise<RunDocument | undefined> {
    const { store, executions } = this.parts;
    const { rows } =
      executionId === undefined
        ? await store.list({ workflowId, limit: 1 })
        : { rows: [await store.execution(executionId)] };
    const [row] = rows;
    return row?.workflowId === workflowId ? await executions.document(row.executionId) : undefined;
  }
}

function described(id: string, { name = id, description = '' }: JsonObject): Pick<Graph, 'name' | 'trigger'> {
  return { name: String(name), trigger: String(description) };
}

function hasNodes({ nodes = {} }: JsonObject): boolean {
  return Object.keys(nodes as JsonObject).length > 0;
}

interface Converted {
  readonly definition: JsonObject;
  readonly display: Readonly<Record<string, JsonObject>>;
}

function fromObject(body: Json): Converted {
  const { document, findings } = readJobsDocument(body);
  if (document === undefined) throw refused(findings);
  const shown = document.jobs.filter(({ display }) => Object.keys(display).length > 0);
  return {
    definition: jobsDefinition(document).definition,
    display: Object.fromEntries(shown.map(({ id, display }) => [id, display])),
  };
}

interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly path: DocumentPath;
  readonly range?: { readonly line: number; readonly column: number };
}

function refused(findings: readonly Refusal[]): NebulaError {
  const [first] = findings as readonly [Refusal, ...Refusal[]];
  const problems = findings.map(({ code, message, path, range }) => ({
    code,
    message,
    path: path.join('.'),
    ...(range && { line: range.line, column: range.column }),
  }));
  return new NebulaError('DEFINITION_INVALID', first.message, {
    hint: first.hint ?? 'See docs/workflow-graph.md for the format.',
    details: { problems },
  });
}
