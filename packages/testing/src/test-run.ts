/** A run under test: its state, and the events that the test applies. After each event, time advances automatically. */
import { didYouMean, type Json, NebulaError, type NodeDocument, type RunError, type RunStatus } from '@nebula/core';
import { runError, type Settlement, withoutIterations } from '@nebula/core/run';
import type { Chronicle, Frame, WaitingFor } from './chronicle.ts';
import type { Call } from './external-world.ts';
import { durationMs } from './mock.ts';
import type { World } from './world.ts';

export interface ApproveOptions {
  readonly by?: string;
  readonly comment?: string;
  readonly form?: Json;
}

export interface MigrateOptions {
  /** Versions are numbered as in the option `versions`, from 2. */
  readonly to?: number;
  /** Nodes that keep their result although the version changes them. */
  readonly keep?: readonly string[];
  /** Nodes that begin again, with everything that depends on them. */
  readonly again?: readonly string[];
  /** Nodes that the version does not have, and whose result is not needed. */
  readonly drop?: readonly string[];
}

export interface CancelOptions {
  readonly reason?: string;
  /** Cancels only this node and everything inside it; nodes that need it are skipped, and the run continues. */
  readonly node?: string;
  /** False: completed nodes are not compensated. */
  readonly compensate?: boolean;
}

/** The default approver. */
const SOMEBODY = 'test';

/** Properties that are shown when a run is printed or compared. */
const FACTS = ['status', 'output', 'error', 'path', 'skipped', 'nodes', 'waitingFor'] as const;

/** `Output` is known for workflows of the builder. */
export class TestRun<Output = Json> {
  readonly executionId: string;
  readonly #world: World;

  constructor(world: World, executionId = world.executionId) {
    this.#world = world;
    this.executionId = executionId;
    // Defined as own members, so that the matchers of test runners see them and can show differences.
    for (const name of FACTS) {
      const getter = Object.getOwnPropertyDescriptor(TestRun.prototype, name) as PropertyDescriptor;
      Object.defineProperty(this, name, { ...getter, enumerable: true });
    }
  }

  /** Used by `console.log`. */
  [Symbol.for('nodejs.util.inspect.custom')](): object {
    return Object.fromEntries(FACTS.map((name) => [name, this[name]]));
  }

  get status(): RunStatus {
    return this.chronicle.state.phase.status;
  }

  /** Null until the run has completed. */
  get output(): Output | null {
    return this.chronicle.document.output as Output | null;
  }

  get error(): RunError | null {
    return runError(this.chronicle.state);
  }

  /** Where in an action the error of the run was thrown: frames of your own code. For a mock, where it was made. */
  get stack(): string | undefined {
    const node = this.error?.node;
    return node === undefined ? undefined : this.#world.stackOf(this.executionId, node);
  }

  /** Nodes that completed or failed, by path (`items/3/pack`), in the order in which they ended. */
  get path(): readonly string[] {
    return this.chronicle.path;
  }

  get skipped(): readonly string[] {
    return this.chronicle.skipped;
  }

  /** All current and former nodes. */
  get nodes(): Readonly<Record<string, NodeDocument>> {
    return this.chronicle.document.nodes;
  }

  /** External events that could advance the run now. Empty when the run has ended, or when time alone advances it. */
  get waitingFor(): readonly WaitingFor[] {
    return this.chronicle.waitingFor(this.#world.externalWorld);
  }

  /** Virtual time in milliseconds since the epoch. */
  get now(): number {
    return this.#world.clock.now();
  }

  /** The input of `replay`. */
  get journal(): readonly Frame[] {
    return this.chronicle.frames;
  }

  /**
   * Calls of all actions, of a node (`pack`: in every iteration; `items/3/pack`) or of an action (`payment.charge`).
   */
  calls(of?: string): readonly Call[] {
    const calls = this.#world.externalWorld.calls.filter(({ executionId }) => executionId === this.executionId);
    if (of === undefined) return calls;
    if (of.includes('.')) return calls.filter(({ action }) => action === of || action.split('@')[0] === of);
    const isIt = ({ node }: Call): boolean =>
      node === of || withoutIterations(node) === of || withoutIterations(node).endsWith(`/${of}`);
    const found = calls.filter(isIt);
    if (found.length === 0) this.mustKnow(of);
    return found;
  }

  /** The execution that a node started; after a retry, the last one. */
  child(node: string): TestRun {
    for (const executionId of this.#world.executions.toReversed()) {
      const { parent } = this.#world.run(executionId).state;
      if (parent?.executionId === this.executionId && parent.node === node)
        return new TestRun(this.#world, executionId);
    }
    throw new NebulaError('UNKNOWN_EXECUTION', `'${node}' has not started an execution`, {
      hint: 'A node starts one with workflow: { mode: child }',
    });
  }

  /** Advances time, past deadlines as well: `30d`, `90m`, or milliseconds. */
  async advance(duration: string | number): Promise<this> {
    await this.#world.advance(durationMs(duration));
    return this.whenQuiescent();
  }

  async signal(name: string, payload: Json = null, key?: string): Promise<this> {
    const signal = { signal: name, payload, ...(key === undefined ? {} : { key }) };
    return this.ask((engine) => engine.requestSignal(this.executionId, signal));
  }

  /** Publishes a signal to the matching subscriber: this run or one of its children. */
  async publish(name: string, payload: Json = null, key?: string): Promise<this> {
    const signal = { signal: name, payload, ...(key === undefined ? {} : { key }) };
    return this.ask((engine) => engine.publishSignal(signal));
  }

  /** `form` is checked against the schema, `by` against the list of approvers. */
  async approve(node: string, options: ApproveOptions = {}): Promise<this> {
    return this.answer(node, true, options);
  }

  async reject(node: string, options: ApproveOptions = {}): Promise<this> {
    return this.answer(node, false, options);
  }

  /** Makes the HTTP call that the node waits for. */
  async callback(node: string, payload: Json = null): Promise<this> {
    return this.ask((engine) => engine.requestCallback(this.executionId, node, payload));
  }

  /** Cancels the whole run or one node; a text is the reason. */
  async cancel(options: string | CancelOptions = {}): Promise<this> {
    const { reason = 'cancelled by the test', ...whenQuiescent } =
      typeof options === 'string' ? { reason: options } : options;
    return this.ask((engine) => engine.requestCancel(this.executionId, reason, whenQuiescent));
  }

  async pause(reason?: string): Promise<this> {
    return this.ask((engine) => engine.requestPause(this.executionId, reason));
  }

  async resume(): Promise<this> {
    return this.ask((engine) => engine.requestResume(this.executionId));
  }

  /** Settles an attempt with an unknown outcome. */
  async settle(node: string, settlement: Settlement): Promise<this> {
    return this.ask((engine) => engine.requestSettle(this.executionId, node, settlement));
  }

  /** Retries a finished run from its failed nodes. */
  async retry(): Promise<this> {
    return this.ask((engine) => engine.requestRetry(this.executionId));
  }

  /** Runs a node of a finished run, and its dependents, again. */
  async replay(node: string, input?: Json): Promise<this> {
    return this.ask((engine) => engine.requestReplay(this.executionId, node, input));
  }

  /**
   * Moves the run to the next version in `versions`, or to the given one. Nodes that ended keep their results; a finished
   * run continues with `retry`.
   */
  async migrate({ to, ...decisions }: MigrateOptions = {}): Promise<this> {
    const version = await this.#world.register(to ?? this.chronicle.state.plan.version + 1);
    const chosen = Object.fromEntries(
      (['keep', 'again', 'drop'] as const).flatMap((how) => (decisions[how] ?? []).map((node) => [node, how])),
    );
    return this.ask((engine) => engine.requestMigration(this.executionId, { version, decisions: chosen }));
  }

  /** Takes the last migration back, as long as the run has not continued. */
  async migrateBack(): Promise<this> {
    return this.ask((engine) => engine.requestMigrationBack(this.executionId));
  }

  /** Kills the engine like kill -9, and continues with a new one on the same data. */
  async crash(): Promise<this> {
    this.#world.kill();
    return this.whenQuiescent();
  }

  /** Advances time until the node has started: it runs, waits or has ended. */
  async until(node: string): Promise<this> {
    const isThere = (): boolean => (this.nodes[node]?.status ?? 'pending') !== 'pending';
    await this.#world.runUntilQuiescent(isThere);
    if (isThere()) return this;
    this.mustKnow(node);
    throw new NebulaError('NOT_REACHED', `the run is ${this.status} and has not reached '${node}'`, {
      hint: `Path so far: ${this.path.join(' → ') || '(none)'}`,
    });
  }

  private get chronicle(): Chronicle {
    return this.#world.run(this.executionId);
  }

  private answer(node: string, approved: boolean, options: ApproveOptions): Promise<this> {
    const by = options.by ?? this.mayAnswer(node);
    return this.ask((engine) => engine.requestAnswer(this.executionId, node, { ...options, approved, by }));
  }

  /** If approvers are listed, the first one answers. */
  private mayAnswer(node: string): string {
    for (const { plan, phase, scope } of [...this.chronicle.state.listening]) {
      const path = scope.path === '' ? plan.id : `${scope.path}/${plan.id}`;
      if (path !== node || phase.status !== 'listening') continue;
      for (const wait of phase.waits) if (wait.kind === 'approval') return wait.who?.[0] ?? SOMEBODY;
    }
    return SOMEBODY;
  }

  private async ask(request: Parameters<World['ask']>[0]): Promise<this> {
    await this.#world.ask(request);
    return this.whenQuiescent();
  }

  private async whenQuiescent(): Promise<this> {
    await this.#world.runUntilQuiescent();
    return this;
  }

  private mustKnow(node: string): void {
    const paths = Object.keys(this.nodes);
    const known = new Set([...paths, ...paths.map(withoutIterations), ...paths.map((path) => path.split('/').at(-1))]);
    if (known.has(node)) return;
    const near = didYouMean(node, paths);
    throw new NebulaError('UNKNOWN_NODE', `there is no node '${node}' in this run`, {
      hint: near === undefined ? `Available: ${paths.slice(0, 12).join(', ')}` : `Did you mean '${near}'?`,
    });
  }
}
