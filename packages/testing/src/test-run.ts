/** A run under test: what has become of it, and what the test does to it. After each step time goes on by itself. */
import {
  didYouMean,
  type Json,
  NebulaError,
  type NodeDocument,
  type RunError,
  type RunStatus,
  type Settlement,
} from '@nebula/core';
import { withoutRounds } from './actions-used.ts';
import type { Chronicle, Frame, WaitingFor } from './chronicle.ts';
import { durationMs } from './mock.ts';
import type { Call } from './outside.ts';
import type { World } from './world.ts';

export interface ApproveOptions {
  readonly by?: string;
  readonly comment?: string;
  readonly form?: Json;
}

export interface CancelOptions {
  readonly reason?: string;
  /** Only this node, with all that is in it; what needs it is skipped, and the run goes on. */
  readonly node?: string;
  /** False: what was done stays done. */
  readonly compensate?: boolean;
}

/** Who approves when the test does not say. */
const SOMEBODY = 'test';

/** What is told of a run wherever it is printed or compared. */
const FACTS = ['status', 'output', 'error', 'path', 'skipped', 'nodes', 'waitingFor'] as const;

/** `Output` is known of workflows of the builder. */
export class TestRun<Output = Json> {
  readonly executionId: string;
  readonly #world: World;

  constructor(world: World, executionId = world.executionId) {
    this.#world = world;
    this.executionId = executionId;
    // As members of its own, so that the matchers of test runners see them, and can show how they differ.
    for (const name of FACTS) {
      const getter = Object.getOwnPropertyDescriptor(TestRun.prototype, name) as PropertyDescriptor;
      Object.defineProperty(this, name, { ...getter, enumerable: true });
    }
  }

  /** As `console.log` shows it. */
  [Symbol.for('nodejs.util.inspect.custom')](): object {
    return Object.fromEntries(FACTS.map((name) => [name, this[name]]));
  }

  get status(): RunStatus {
    return this.chronicle.state.status;
  }

  /** Null until the run has completed. */
  get output(): Output | null {
    return this.chronicle.document.output as Output | null;
  }

  get error(): RunError | null {
    return this.chronicle.state.error;
  }

  /** Nodes that completed or failed, by path (`items/3/pack`), in the order of finishing. */
  get path(): readonly string[] {
    return this.chronicle.path;
  }

  get skipped(): readonly string[] {
    return this.chronicle.skipped;
  }

  /** Every node that there is or was. */
  get nodes(): Readonly<Record<string, NodeDocument>> {
    return this.chronicle.document.nodes;
  }

  /** What somebody outside could do now. Empty when the run has ended, or time alone moves it. */
  get waitingFor(): readonly WaitingFor[] {
    return this.chronicle.waitingFor(this.#world.outside);
  }

  /** Milliseconds since the epoch, of virtual time. */
  get now(): number {
    return this.#world.clock.now();
  }

  /** As `replay` takes it. */
  get journal(): readonly Frame[] {
    return this.chronicle.frames;
  }

  /** Calls of actions, of all nodes, of a node (`pack`: in every round; `items/3/pack`) or of an action (`payment.charge`). */
  calls(of?: string): readonly Call[] {
    const calls = this.#world.outside.calls.filter(({ executionId }) => executionId === this.executionId);
    if (of === undefined) return calls;
    if (of.includes('.')) return calls.filter(({ action }) => action === of || action.split('@')[0] === of);
    const isIt = ({ node }: Call): boolean =>
      node === of || withoutRounds(node) === of || withoutRounds(node).endsWith(`/${of}`);
    const found = calls.filter(isIt);
    if (found.length === 0) this.mustKnow(of);
    return found;
  }

  /** The execution that a node started; the last one, where a retry has started another. */
  child(node: string): TestRun {
    for (const executionId of this.#world.executions.toReversed()) {
      const { parent } = this.#world.run(executionId).state;
      if (parent?.executionId === this.executionId && parent.node === node)
        return new TestRun(this.#world, executionId);
    }
    throw new NebulaError('UNKNOWN_EXECUTION', `'${node}' has started no execution`, {
      hint: 'A node starts one with workflow: { mode: child }',
    });
  }

  /** Moves time on, over deadlines too: `30d`, `90m`, or milliseconds. */
  async advance(duration: string | number): Promise<this> {
    await this.#world.advance(durationMs(duration));
    return this.rest();
  }

  async signal(name: string, payload: Json = null, key?: string): Promise<this> {
    const signal = { signal: name, payload, ...(key === undefined ? {} : { key }) };
    return this.ask((engine) => engine.requestSignal(this.executionId, signal));
  }

  /** A signal for whoever listens, this run or one of its children. */
  async publish(name: string, payload: Json = null, key?: string): Promise<this> {
    const signal = { signal: name, payload, ...(key === undefined ? {} : { key }) };
    return this.ask((engine) => engine.publishSignal(signal));
  }

  /** `form` is checked against the schema, and `by` against those who may. */
  async approve(node: string, options: ApproveOptions = {}): Promise<this> {
    return this.answer(node, true, options);
  }

  async reject(node: string, options: ApproveOptions = {}): Promise<this> {
    return this.answer(node, false, options);
  }

  /** Somebody calls the address that the node waits for. */
  async callback(node: string, payload: Json = null): Promise<this> {
    return this.ask((engine) => engine.requestCallback(this.executionId, node, payload));
  }

  /** The whole run, or one node of it; a text is the reason. */
  async cancel(options: string | CancelOptions = {}): Promise<this> {
    const { reason = 'cancelled by the test', ...rest } = typeof options === 'string' ? { reason: options } : options;
    return this.ask((engine) => engine.requestCancel(this.executionId, reason, rest));
  }

  async pause(reason?: string): Promise<this> {
    return this.ask((engine) => engine.requestPause(this.executionId, reason));
  }

  async resume(): Promise<this> {
    return this.ask((engine) => engine.requestResume(this.executionId));
  }

  /** Says what became of an attempt whose outcome is unknown. */
  async settle(node: string, settlement: Settlement): Promise<this> {
    return this.ask((engine) => engine.requestSettle(this.executionId, node, settlement));
  }

  /** Begins a finished run again at its failed nodes. */
  async retry(): Promise<this> {
    return this.ask((engine) => engine.requestRetry(this.executionId));
  }

  /** Runs a node of a finished run, and what depends on it, again. */
  async replay(node: string, input?: Json): Promise<this> {
    return this.ask((engine) => engine.requestReplay(this.executionId, node, input));
  }

  /** Kills the engine, as kill -9 does, and lets another one go on with the same data. */
  async crash(): Promise<this> {
    this.#world.kill();
    return this.rest();
  }

  /** Lets time go on until the node has been begun: it runs, waits or has ended. */
  async until(node: string): Promise<this> {
    const isThere = (): boolean => (this.nodes[node]?.status ?? 'pending') !== 'pending';
    await this.#world.rest(isThere);
    if (isThere()) return this;
    this.mustKnow(node);
    throw new NebulaError('NOT_REACHED', `the run is ${this.status} and has not come to '${node}'`, {
      hint: `It went: ${this.path.join(' → ') || '(nowhere)'}`,
    });
  }

  private get chronicle(): Chronicle {
    return this.#world.run(this.executionId);
  }

  private answer(node: string, approved: boolean, options: ApproveOptions): Promise<this> {
    const by = options.by ?? this.mayAnswer(node);
    return this.ask((engine) => engine.requestAnswer(this.executionId, node, { ...options, approved, by }));
  }

  /** Where only some may answer, the first of them does. */
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
    return this.rest();
  }

  private async rest(): Promise<this> {
    await this.#world.rest();
    return this;
  }

  private mustKnow(node: string): void {
    const paths = Object.keys(this.nodes);
    const known = new Set([...paths, ...paths.map(withoutRounds), ...paths.map((path) => path.split('/').at(-1))]);
    if (known.has(node)) return;
    const near = didYouMean(node, paths);
    throw new NebulaError('UNKNOWN_NODE', `there is no node '${node}' in this run`, {
      hint: near === undefined ? `There are: ${paths.slice(0, 12).join(', ')}` : `Did you mean '${near}'?`,
    });
  }
}
