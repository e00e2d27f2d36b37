/**
 * A simulated environment in memory: data that outlives processes, one living process with the real engine, and virtual
 * time.
 *
 *  1. Time advances automatically while that has an effect, and stops when the run waits for an external event: a
 *     signal may arrive before its deadline, and the test decides.
 *  2. A dead process is replaced by a new one on the same data as soon as the test requests anything.
 *  3. The entries that the engine writes are folded here again, so that the engine's own view of its state is not
 *     trusted.
 */
import {
  type Action,
  type Catalog,
  compilePlan,
  createCatalog,
  type Entry,
  type Json,
  NebulaError,
  type Plan,
  type TestOptions as TestRunOptions,
  testPlanOf,
  usedWorkflows,
  type WorkflowDefinition,
  withTest,
} from '@nebula/core';
import {
  memoryBlobs,
  memoryData,
  memoryLogs,
  memoryQueue,
  memoryStore,
  seededRandom,
  virtualClock,
} from '@nebula/drivers/memory';
import { sha256 } from '@nebula/drivers/real';
import { createInProcessSandbox } from '@nebula/drivers/sandbox-inprocess';
import { memorySecrets } from '@nebula/drivers/secrets';
import { createEngine, type Engine, withoutTest } from '@nebula/engine';
import { type Logs, type Secrets, STACK_FIELD, type Write } from '@nebula/ports';
import type { NebulaConfig } from '@nebula/sdk';
import { Chronicle } from './chronicle.ts';
import type { Coverage } from './coverage.ts';
import { ExternalWorld } from './external-world.ts';
import type { Mock } from './mock.ts';
import { type Edge, Process } from './process.ts';
import { invalidWorkflow } from './source.ts';
import { standIns } from './stand-ins.ts';

/** A fixed time in November 2023, the same for every test. */
const START_MS = 1_700_000_000_000;
const SEED = 7;
/** High enough that only the workflow's own limits apply. */
const SLOTS = 1_000;
/** Maximum number of time jumps: enough for a year of resyncs. */
const MAX_JUMPS = 1_000_000;
/** Real time that a mock or a real action may take. */
const PATIENCE_MS = 10_000;

export interface WorldOptions {
  readonly definition: WorkflowDefinition;
  readonly workflows: readonly WorkflowDefinition[];
  /** Later versions of the workflow: 2, 3 … */
  readonly versions: readonly WorkflowDefinition[];
  readonly mocks: Readonly<Record<string, Mock>>;
  readonly real: readonly string[];
  readonly credentials: Readonly<Record<string, string>>;
  readonly config: Pick<NebulaConfig, 'actions' | 'retryPolicies' | 'capabilities' | 'expressionLimits'>;
  readonly coverage: Coverage;
  readonly projectDir: string;
  /** The run is a test run. */
  readonly test: TestRunOptions | undefined;
}

/** One append and its content. */
export interface Append {
  readonly number: number;
  readonly frames: readonly {
    readonly executionId: string;
    readonly seq: number;
    readonly entries: readonly Entry[];
  }[];
}

export class World {
  readonly clock = virtualClock(START_MS);
  readonly externalWorld: ExternalWorld;
  readonly appends: Append[] = [];
  /** The process dies at this append; `side`: before it is durable, or after that and before it is acknowledged. */
  crashAt: { readonly append: number; readonly side: 'before' | 'after' } | undefined;
  readonly executionId = 'exe_test';
  private readonly options: WorldOptions;
  private readonly catalog: Catalog;
  private readonly actions: readonly Action[];
  private readonly data = memoryData();
  private readonly blobs = memoryBlobs();
  private readonly logs = this.logsWithStacks();
  /** The stack of the last failed attempt, by execution and node. */
  private readonly stacks = new Map<string, string>();
  private readonly secrets: Secrets;
  /** A start that a crash cut off is repeated with the same random values. */
  private readonly random = {
    ...seededRandom(SEED, () => this.clock.now()),
    seed: (executionId: string) => executionId,
  };
  private readonly chronicles = new Map<string, Chronicle>();
  private process: Process;
  private engine: Engine | undefined;
  private trouble: unknown;

  constructor(options: WorldOptions) {
    this.options = options;
    const { mocks, real, config } = options;
    this.secrets = memorySecrets(options.credentials, () => this.clock.now());
    this.externalWorld = new ExternalWorld({ mocks, real, now: () => this.clock.now() });
    this.actions = standIns(this.externalWorld, config.actions ?? [], mocks, [
      options.definition,
      ...options.workflows,
      ...options.versions,
    ]);
    this.catalog = createCatalog(this.actions, config.retryPolicies, config.capabilities, 'all');
    this.process = new Process(this.clock);
  }

  /** Registers all workflows and starts the run. */
  async start(input: Json): Promise<void> {
    this.check();
    const { definition, workflows, test } = this.options;
    const all = inOrder([...workflows, definition]);
    const registered = (engine: Engine, options: TestRunOptions) =>
      engine.registerTest(definition as unknown as Json, options, this.executionId);
    await this.ask(async (engine) => {
      for (const one of all) await engine.register(one as unknown as Json);
      const { executionId } = this;
      const version = test === undefined ? definition.version : (await registered(engine, test)).version;
      await engine.start(definition.id, version, { input, executionId, ...(test && { trigger: { type: 'test' } }) });
    });
  }

  /** Registers a later version of the workflow, and returns its number. */
  async register(number: number): Promise<number> {
    const { versions, definition } = this.options;
    const next = versions[number - 2];
    if (next === undefined) {
      throw new NebulaError('UNKNOWN_WORKFLOW', `there is no version ${number} of '${definition.id}' in this test`, {
        hint: 'List later versions in the option `versions`; the first of them is version 2.',
      });
    }
    const { version } = await this.ask((engine) => engine.register({ ...next, id: definition.id } as unknown as Json));
    return version;
  }

  /** Sends a request to the engine, and again to the next engine if it dies meanwhile. */
  async ask<T>(request: (engine: Engine) => Promise<T>): Promise<T> {
    for (;;) {
      const engine = await this.living();
      const answers: (() => T)[] = [];
      request(engine).then(
        (value) => answers.push(() => value),
        (error: unknown) =>
          answers.push(() => {
            throw error;
          }),
      );
      // Requests are answered without time passing; their callbacks run here.
      while (answers.length === 0 && !this.process.isDead) {
        await this.clock.runSoon();
        await this.fireDue();
      }
      const [answer] = answers;
      if (answer !== undefined) return answer();
    }
  }

  /** Kills the process like kill -9. A new one continues. */
  kill(): void {
    this.process.kill();
    this.externalWorld.forget();
    this.engine = undefined;
  }

  /** Advances time until `until` holds or nothing more will happen. */
  async runUntilQuiescent(until: () => boolean = () => false): Promise<void> {
    for (let jumps = 0; jumps < MAX_JUMPS; jumps++) {
      await this.stand();
      if (this.isDead) continue;
      if (until() || (this.run().isOver && !this.hasMail)) return;
      if (!this.movesByItself()) return;
      const next = this.timerAt(false);
      // A distant timer may be known only to the store; the engine looks there at its next heartbeat.
      await this.clock.moveTo(Number.isFinite(next) ? next : this.timerAt(true));
    }
    throw new NebulaError('STUCK', 'the run did not end, although time advanced', {
      hint: 'Check for an endless loop or an attempt that never ends; the option `until` stops earlier',
    });
  }

  /** Advances time by exactly this much, past deadlines of waits as well. */
  async advance(ms: number): Promise<void> {
    const target = this.clock.now() + ms;
    let hasLooked = false;
    for (;;) {
      await this.stand();
      if (this.isDead) continue;
      const timer = this.timerAt(false);
      const next: number = Number.isFinite(timer) || hasLooked ? timer : this.timerAt(true);
      if (next > target) break;
      hasLooked = next !== timer;
      await this.clock.moveTo(next);
    }
    await this.clock.moveTo(target);
    await this.stand();
  }

  /** The run under test, or one of its children. */
  run(executionId = this.executionId): Chronicle {
    const chronicle = this.chronicles.get(executionId);
    if (chronicle === undefined) throw new NebulaError('UNKNOWN_EXECUTION', `There is no execution ${executionId}.`);
    return chronicle;
  }

  get executions(): readonly string[] {
    return [...this.chronicles.keys()];
  }

  private get isDead(): boolean {
    return this.process.isDead;
  }

  /** Requests that no engine has processed yet, because the engine that was about to has died. */
  private get hasMail(): boolean {
    return [...this.data.runs.values()].some(({ inbox }) => inbox.size > 0);
  }

  private movesByItself(): boolean {
    const now = this.clock.now();
    if (this.hasMail) return true;
    return [...this.chronicles.values()].some((one) => one.movesByItself(now, this.externalWorld));
  }

  /** Waits until everything that can happen without time passing has happened. */
  private async stand(): Promise<void> {
    await this.living();
    do {
      await this.clock.runSoon();
      await this.fireDue();
      if (this.externalWorld.isBusy && !this.isDead) await this.patiently();
    } while (!this.isDead && (this.externalWorld.isBusy || this.timerAt(false) <= this.clock.now()));
    this.fold();
    if (this.externalWorld.complaint !== undefined) throw this.externalWorld.complaint;
    if (this.trouble !== undefined) throw this.trouble;
  }

  private timerAt(background: boolean): number {
    return this.clock.nextTimerAt({ background }) ?? Number.POSITIVE_INFINITY;
  }

  private async fireDue(): Promise<void> {
    if (this.timerAt(false) <= this.clock.now()) await this.clock.moveTo(this.clock.now());
  }

  /** Waits for a mock or a real action that awaits something real. */
  private async patiently(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(slow(this.externalWorld)), PATIENCE_MS);
    });
    try {
      await Promise.race([this.externalWorld.change(), this.process.died, tooLong]);
    } finally {
      clearTimeout(timer);
    }
  }

  private async living(): Promise<Engine> {
    while (this.engine === undefined || this.process.isDead) {
      this.process = new Process(this.clock);
      const { clock, died } = this.process;
      const { config, projectDir } = this.options;
      const engine = createEngine(
        {
          store: this.process.store(memoryStore({ data: this.data, exclusive: true }), this.edge()),
          queue: memoryQueue({ clock }),
          blobs: this.blobs,
          logs: this.logs,
          sandbox: createInProcessSandbox({ projectDir, clock }),
          clock,
          random: this.random,
          digest: sha256,
          secrets: this.secrets,
        },
        {
          actions: this.actions,
          ...(config.retryPolicies && { retryPolicies: config.retryPolicies }),
          ...(config.capabilities && { capabilities: config.capabilities }),
          ...(config.expressionLimits && { expressionLimits: config.expressionLimits }),
          // Mocks answer for everything that remote workers would run.
          labels: 'all',
          concurrency: SLOTS,
          retentionMs: null,
          inlineLimitBytes: Number.MAX_SAFE_INTEGER,
        },
      );
      engine.on((event) => {
        if (event.type === 'trouble' || event.type === 'fault') this.trouble ??= event.error;
      });
      this.engine = engine;
      await Promise.race([engine.open(), died]);
    }
    return this.engine;
  }

  /** Where the last error of a node was thrown. */
  stackOf(executionId: string, node: string): string | undefined {
    return this.stacks.get(`${executionId} ${node}`);
  }

  private logsWithStacks(): Logs {
    const logs = memoryLogs();
    const append = logs.append.bind(logs);
    logs.append = (line) => {
      if (line.fields?.[STACK_FIELD] === true) this.stacks.set(`${line.executionId} ${line.node}`, line.message);
      append(line);
    };
    return logs;
  }

  private edge(): Edge {
    const dies = (side: 'before' | 'after'): boolean => {
      const isHere = this.crashAt?.append === this.appends.length && this.crashAt.side === side;
      if (isHere) this.kill();
      return isHere;
    };
    return {
      beforeAppend: (writes) => {
        this.appends.push({ number: this.appends.length + 1, frames: framesOf(writes) });
        return dies('before');
      },
      afterAppend: (writes) => {
        for (const { executionId, entries } of framesOf(writes)) this.externalWorld.written(executionId, entries);
        return dies('after');
      },
    };
  }

  private fold(): void {
    for (const [executionId, { row, frames }] of this.data.runs) {
      let chronicle = this.chronicles.get(executionId);
      if (chronicle === undefined) {
        const planOf = (version: number): Plan => this.plan(row.workflowId, version);
        chronicle = new Chronicle(planOf(row.version), executionId, this.options.coverage, planOf);
        this.chronicles.set(executionId, chronicle);
      }
      for (const frame of frames.slice(chronicle.state.seq)) {
        const { seq, at } = frame;
        chronicle.fold({ seq, at, entries: JSON.parse(frame.entries) as Entry[] });
      }
    }
  }

  private plan(workflowId: string, version: number): Plan {
    const find = (id: string, wanted?: number): WorkflowDefinition | undefined => {
      const row = [...this.data.workflows, ...this.data.testVersions.values()]
        .filter((one) => one.workflowId === id && (wanted === undefined || one.version === wanted))
        .sort((a, b) => b.version - a.version)[0];
      return row && { ...(JSON.parse(row.definition) as WorkflowDefinition), version: row.version };
    };
    const { definition, test } = withoutTest(find(workflowId, version) as WorkflowDefinition);
    const { plan, problems } = compilePlan(definition, this.catalog, { workflows: find });
    if (plan === undefined) throw invalidWorkflow(problems);
    const made = test && testPlanOf(plan, test);
    return made !== undefined && 'test' in made ? withTest(plan, made.test) : plan;
  }

  /** Reports all problems of the definitions at once, before anything runs. */
  private check(): void {
    const { definition, workflows, versions } = this.options;
    const find = (id: string): WorkflowDefinition | undefined => workflows.find((one) => one.id === id);
    for (const one of [...workflows, definition, ...versions]) {
      const { problems } = compilePlan(one, this.catalog, {
        workflows: find,
        knownWorkflows: workflows.map(({ id }) => id),
      });
      if (problems.some(({ severity }) => severity === 'error')) throw invalidWorkflow(problems);
    }
  }
}

function framesOf(writes: readonly Write[]): Append['frames'] {
  return writes.flatMap(({ executionId, frame }) =>
    frame === undefined ? [] : [{ executionId, seq: frame.seq, entries: JSON.parse(frame.entries) as Entry[] }],
  );
}

/** Sorts inlined workflows before those that inline them, because they are pinned to an existing version. */
function inOrder(definitions: readonly WorkflowDefinition[]): WorkflowDefinition[] {
  const ordered: WorkflowDefinition[] = [];
  const visited = new Set<WorkflowDefinition>();
  const visit = (definition: WorkflowDefinition): void => {
    if (visited.has(definition)) return;
    visited.add(definition);
    for (const { id } of usedWorkflows(definition)) {
      const used = definitions.find((one) => one.id === id);
      if (used !== undefined) visit(used);
    }
    ordered.push(definition);
  };
  for (const definition of definitions) visit(definition);
  return ordered;
}

function slow(externalWorld: ExternalWorld): NebulaError {
  const open = externalWorld.calls.filter(({ outcome }) => outcome === 'under way').map(({ node }) => `'${node}'`);
  return new NebulaError('MOCK_SLOW', `${open.join(', ')} did not end within ${PATIENCE_MS / 1_000} s of real time`, {
    hint: "For a mock that never ends, use hang(); for a slow one, after('5m', …)",
  });
}
