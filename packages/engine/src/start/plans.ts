/** Workflow versions: stored once, compiled once, shared by all their runs. */
import {
  canonicalJson,
  type DefinitionChecks,
  type ExecutionId,
  type Json,
  NebulaError,
  type Plan,
  pinWorkflows,
  type TestOptions,
  testPlanOf,
  usedWorkflows,
  type WorkflowDefinition,
  type WorkflowId,
  withTest,
} from '@nebula/core';
import { type Clock, type Definitions, type Digest, inSlices, pause, type WorkflowSourceRow } from '@nebula/ports';
import { Authority, unknownWorkflow } from './authority.ts';

const MAX_CACHED_PLANS = 500;

/** Parsing or printing text of this length takes a few milliseconds: the event loop runs after each. */
const LARGE_CHARS = 64 * 1024;

export class Plans {
  private readonly store: Definitions;
  readonly checks: DefinitionChecks;
  private readonly clock: Clock;
  private readonly digest: Digest;
  private readonly cache = new Map<string, Plan>();
  private readonly compiling = new Map<string, Promise<Plan>>();
  private readonly compiled: Map<string, Plan> | undefined;
  private readonly authority: Authority;

  constructor(
    { store, clock, digest }: { store: Definitions; clock: Clock; digest: Digest },
    checks: DefinitionChecks,
    authority: Authority = new Authority(undefined),
    compiled?: Map<string, Plan>,
  ) {
    this.store = store;
    this.clock = clock;
    this.digest = digest;
    this.checks = checks;
    this.authority = authority;
    this.compiled = compiled;
  }

  /** `source`: the text of the definition; without it, a known version keeps its text. */
  async register(
    given: WorkflowDefinition,
    source?: WorkflowSourceRow,
  ): Promise<{ workflowId: WorkflowId; version: number; created: boolean }> {
    const definition = await this.pinned(given);
    const { version: requested, ...content } = definition;
    // Equal content is one version whatever the order of its keys; the text keeps the order of its author.
    const text = JSON.stringify(content);
    if (text.length > LARGE_CHARS) await pause(this.clock);
    const canonical = canonicalJson(content as unknown as Json);
    if (text.length > LARGE_CHARS) await pause(this.clock);
    const outcome = await this.store.registerWorkflow({
      workflowId: definition.id,
      hash: this.digest(canonical),
      definition: text,
      createdAt: this.clock.now(),
      ...(requested === undefined ? {} : { version: requested }),
      ...(source === undefined ? {} : { source }),
    });
    if (!outcome.ok) {
      throw new NebulaError('VERSION_TAKEN', `Version ${requested} of workflow '${definition.id}' has other content.`, {
        hint: 'Versions do not change once registered: raise `version`, or leave it out to get the next one.',
      });
    }
    return { workflowId: definition.id, version: outcome.version, created: outcome.created };
  }

  /**
   * Stores the definition of a test run, which must be valid, as a version that only this execution has. Rejects with
   * `TEST_INVALID`.
   */
  async registerTest(
    given: WorkflowDefinition,
    options: TestOptions,
    executionId: ExecutionId,
  ): Promise<{ workflowId: WorkflowId; version: number }> {
    const { version: _, ...definition } = await this.pinned(given);
    const text = JSON.stringify({ ...definition, [TEST_KEY]: options });
    if (text.length > LARGE_CHARS) await pause(this.clock);
    const hash = this.digest(text);
    const { id: workflowId } = definition;
    const version = testVersionOf(this.digest(`${executionId} ${hash}`));
    const row = { workflowId, version, hash, definition: text, createdAt: this.clock.now() };
    // The test is checked before it is stored; the start finds the plan.
    await this.compileOnce(`${workflowId}@${version}`, row);
    await this.store.storeTestVersion({ ...row, executionId });
    return { workflowId, version };
  }

  /** Compiles a definition that was checked, and is no version. Rejects with `PLAN_INVALID`. */
  async compiledOf(given: WorkflowDefinition): Promise<Plan> {
    const { version: _, ...definition } = await this.pinned(given);
    return await this.compileContent(definition, JSON.stringify(definition), 0);
  }

  /** Drops compiled plans, because actions were announced and the plans may name older ones. */
  forget(): void {
    this.cache.clear();
    this.checks.forget();
    this.compiling.clear();
  }

  /** Returns the plan if it is in memory. */
  cached(workflowId: WorkflowId, version: number): Plan | undefined {
    return this.cache.get(`${workflowId}@${version}`);
  }

  async get(workflowId: WorkflowId, version?: number): Promise<Plan> {
    const known = version === undefined ? undefined : this.cached(workflowId, version);
    if (known !== undefined) return known;
    const row = await this.store.workflowVersion(workflowId, version);
    if (row === undefined) throw unknownWorkflow(workflowId, version);
    const key = `${workflowId}@${row.version}`;
    return this.cache.get(key) ?? (await this.compileOnce(key, row));
  }

  /**
   * The plan to read a run or to end it: like `get`, but an action that is missing here is no error. No attempt of such
   * an action can be made by this process.
   */
  async getWithoutActions(workflowId: WorkflowId, version: number): Promise<Plan> {
    try {
      return await this.get(workflowId, version);
    } catch (error) {
      if (!(error instanceof NebulaError) || error.code !== 'PLAN_INVALID') throw error;
      const row = await this.store.workflowVersion(workflowId, version);
      if (row === undefined) throw error;
      const { test, ...content } = withoutTest(parsed(row.definition));
      const definition = { ...content.definition, version };
      const project = await this.authority.projectOf(workflowId);
      const inlined = await this.inlined(definition, project);
      const plan = await this.compileAnew(definition, project, inlined, { isWithoutActions: true }).catch(() => {
        throw error;
      });
      return test === undefined ? plan : tested(plan, test);
    }
  }

  /** Callers that ask for a plan while it is being compiled wait for the same one. */
  private compileOnce(key: string, row: { readonly definition: string; readonly version: number }): Promise<Plan> {
    const underWay = this.compiling.get(key);
    if (underWay !== undefined) return underWay;
    const compiling: Promise<Plan> = this.compile(row.definition, row.version)
      .catch((error: unknown) => {
        // Actions were announced meanwhile: the missing one may be among them.
        if (this.compiling.get(key) !== compiling) return this.compileOnce(key, row);
        throw error;
      })
      .then((plan) => {
        // Actions were announced meanwhile: the plan may name older ones.
        if (this.compiling.get(key) !== compiling) return this.compileOnce(key, row);
        if (this.cache.size >= MAX_CACHED_PLANS) this.cache.delete(this.cache.keys().next().value as string);
        this.cache.set(key, plan);
        return plan;
      })
      .finally(() => {
        if (this.compiling.get(key) === compiling) this.compiling.delete(key);
      });
    this.compiling.set(key, compiling);
    return compiling;
  }

  /** Pins workflows that are inlined without a version to their newest one. */
  private async pinned(definition: WorkflowDefinition): Promise<WorkflowDefinition> {
    const versions = new Map<string, number>();
    const project = await this.authority.projectOf(definition.id);
    for (const { id, version, mode } of usedWorkflows(definition)) {
      if (mode === 'child' || version !== undefined || !(await this.authority.mayUse(project, id))) continue;
      const row = await this.store.workflowVersion(id);
      if (row !== undefined) versions.set(id, row.version);
    }
    return versions.size === 0 ? definition : pinWorkflows(definition, (id) => versions.get(id));
  }

  /** All workflows of the project that the definition inlines, at any depth. */
  private async inlined(
    definition: WorkflowDefinition,
    project: string | undefined,
  ): Promise<Map<string, WorkflowDefinition>> {
    const found = new Map<string, WorkflowDefinition>();
    const queue = [...usedWorkflows(definition)];
    for (let used = queue.pop(); used !== undefined && found.size < MAX_INLINED; used = queue.pop()) {
      const key = `${used.id}@${used.version ?? ''}`;
      if (used.mode === 'child' || found.has(key) || !(await this.authority.mayUse(project, used.id))) continue;
      const row = await this.store.workflowVersion(used.id, used.version);
      if (row === undefined) continue;
      const inner = { ...parsed(row.definition), version: row.version };
      if (row.definition.length > LARGE_CHARS) await pause(this.clock);
      found.set(key, inner);
      queue.push(...usedWorkflows(inner));
    }
    return found;
  }

  private async compile(text: string, version: number): Promise<Plan> {
    const { definition, test } = withoutTest(parsed(text));
    if (text.length > LARGE_CHARS) await pause(this.clock);
    if (test === undefined) return await this.compileContent(definition, text, version);
    return tested(await this.compileContent(definition, JSON.stringify(definition), version), test);
  }

  private async compileContent(content: WorkflowDefinition, text: string, version: number): Promise<Plan> {
    const definition = { ...content, version };
    const project = await this.authority.projectOf(definition.id);
    const inlined = await this.inlined(definition, project);
    const { revision } = this.checks.catalog;
    const checked = inlined.size > 0 ? undefined : this.checks.planOf(project, text);
    if (checked !== undefined) return { ...checked, version, definition };
    // An inlined workflow is pinned to its version, or is the newest one.
    const key = `${project} ${revision} ${version} ${text} ${Array.from(inlined, ([name, inner]) => `${name} is ${inner.version}`)}`;
    const known = this.compiled?.get(key);
    if (known !== undefined) return known;
    const plan = await this.compileAnew(definition, project, inlined);
    // Actions announced meanwhile may be missing in parts of the plan.
    if (this.checks.catalog.revision === revision) this.compiled?.set(key, plan);
    return plan;
  }

  private async compileAnew(
    definition: WorkflowDefinition,
    project: string | undefined,
    inlined: ReadonlyMap<string, WorkflowDefinition>,
    options: { readonly isWithoutActions?: boolean } = {},
  ): Promise<Plan> {
    const find = (id: string, wanted?: number) => inlined.get(`${id}@${wanted ?? ''}`);
    const steps = this.checks.compileAccepted(definition, project, find, options);
    const { plan, problems } = await inSlices(steps, this.clock);
    if (plan !== undefined) return plan;
    const errors = problems.filter((problem) => problem.severity === 'error');
    throw new NebulaError('PLAN_INVALID', `Workflow '${definition.id}' cannot run here: ${errors[0]?.message}`, {
      hint: errors[0]?.hint ?? 'An action that it needs may be missing from nebula.config.ts.',
    });
  }
}

/** The limit on inlined workflows that are looked up; the compiler reports the others as unknown. */
const MAX_INLINED = 1_000;

/** The member of a stored definition that has the options of a test. The language has no keys with `$`. */
const TEST_KEY = '$test';

type StoredDefinition = WorkflowDefinition & { readonly [TEST_KEY]?: TestOptions };

/** A definition of the store, without the options of the test that it was stored for. */
export function withoutTest(stored: StoredDefinition): {
  readonly definition: WorkflowDefinition;
  readonly test: TestOptions | undefined;
} {
  const { [TEST_KEY]: test, ...definition } = stored;
  return { definition, test };
}

/**
 * 52 bits, so that two tests do not share a version, and JSON holds the number exactly. The digest is of the execution and
 * of the content: after a start that failed, or beside another one, the same execution may be asked for with other content.
 */
function testVersionOf(digest: string): number {
  return -1 - Number.parseInt(digest.slice(0, 13), 16);
}

function tested(plan: Plan, options: TestOptions): Plan {
  const made = testPlanOf(plan, options);
  if ('test' in made) return withTest(plan, made.test);
  const { problems } = made;
  const [first] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  throw new NebulaError('TEST_INVALID', `${first?.message}${more}`, {
    ...(first?.hint !== undefined && { hint: first.hint }),
    details: {
      errors: problems.map(({ pointer, message, hint }) => ({
        pointer,
        detail: hint ? `${message}. ${hint}` : message,
      })),
    },
  });
}

function parsed(text: string): StoredDefinition {
  try {
    return JSON.parse(text) as StoredDefinition;
  } catch (cause) {
    throw new NebulaError('STORE_CORRUPT', 'A stored workflow definition cannot be read.', {
      hint: 'Restore the data folder from a backup.',
      cause,
    });
  }
}
