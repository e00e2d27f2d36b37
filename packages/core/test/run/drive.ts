/**
 * Drives a run by hand: the core alone, without engine, store or clock. After every step the journal is folded again
 * and must give the same state, so every test here also proves RUN-65.
 */
import { expect } from 'vitest';
import { NODE_KINDS } from '../../src/definition/node-keys.ts';
import {
  type Action,
  type CallbackUrl,
  type ConcurrencySlot,
  compilePlan,
  createCatalog,
  type Entry,
  type Json,
  type NodeStatus,
  type Plan,
  type RetryPolicyFunction,
  type RunDocument,
  type RunError,
  type TestOptions,
  testPlanOf,
  type WorkflowDefinition,
  withTest,
} from '../../src/index.ts';
import {
  type Attempt,
  type ChildStart,
  decide,
  decodeSnapshot,
  documentOf,
  type Estimates,
  encodeSnapshot,
  foldFrames,
  inlineValue,
  type MigrationDecisions,
  newRunState,
  newTurn,
  nextReady,
  openAttempts,
  type RunAuthority,
  type RunState,
  runError,
  type Settlement,
  type Stimulus,
  seal,
  startAttempt,
  type Turn,
  wakeTime,
} from '../../src/run.ts';
import { checkWorkingSets, stateFacts } from './state-facts.ts';

const noWork = (): Json => null;

export const testActions: readonly Action[] = [
  { id: 'do', version: '1', effect: 'idempotent', run: noWork },
  { id: 'pay', version: '1', effect: 'once', run: noWork },
  { id: 'look', version: '1', effect: 'pure', run: noWork },
];

export interface DriveOptions {
  readonly input?: Json;
  /** The delay of the start (ms). */
  readonly delay?: number;
  readonly slot?: ConcurrencySlot;
  /** The seed of drawn values. */
  readonly seed?: string;
  readonly authority?: RunAuthority;
  /** Further members of the start. */
  readonly start?: Partial<Extract<Stimulus, { type: 'start' }>>;
  readonly callbackUrl?: CallbackUrl;
  /** How long nodes took in earlier runs. */
  readonly estimates?: Estimates;
  /** Slots that the imagined worker has. */
  readonly slots?: number;
  /** False: ready nodes are not started by themselves. */
  readonly starts?: boolean;
  readonly policies?: Record<string, RetryPolicyFunction>;
  /** The store of values; inline by default. */
  readonly values?: Pick<Turn, 'lookup' | 'store'>;
  /** The journal is folded again after this many steps; by default 1. */
  readonly foldEvery?: number;
  /** The journal to continue. */
  readonly frames?: readonly { seq: number; at: number; entries: Entry[] }[];
  /** Other workflows, by id. */
  readonly workflows?: Readonly<Record<string, Short>>;
  /** The definition was accepted before, perhaps by an earlier version. */
  readonly isAccepted?: boolean;
  /** The run is a test run. */
  readonly test?: TestOptions;
}

/** A definition in short: nodes without an action do `do@1`. */
export type Short = Omit<WorkflowDefinition, 'id' | 'nodes'> & {
  readonly nodes?: Record<string, Record<string, unknown>>;
};

export function planOf(
  short: Short,
  policies: Record<string, RetryPolicyFunction> = {},
  others: DriveOptions['workflows'] = {},
  isAccepted = false,
): Plan {
  const { plan, problems } = compilePlan(definitionOf('test', short), createCatalog(testActions, policies), {
    isAccepted,
    workflows: (id) => (others[id] === undefined ? undefined : definitionOf(id, others[id])),
  });
  if (plan === undefined) throw new Error(problems.map((problem) => `${problem.code} ${problem.message}`).join('\n'));
  return plan;
}

export function definitionOf(id: string, short: Short): WorkflowDefinition {
  const nodes = Object.fromEntries(Object.entries(short.nodes ?? {}).map(([name, node]) => [name, withAction(node)]));
  return { id, ...short, nodes } as unknown as WorkflowDefinition;
}

/** Nodes without a kind run `do@1`, in bodies too. */
function withAction(node: Record<string, unknown>): Record<string, unknown> {
  let whole = NODE_KINDS.some((kind) => kind in node) ? node : { action: 'do@1', ...node };
  for (const key of ['do', 'group'] as const) {
    const { [key]: body } = node as { do?: Short; group?: Short };
    if (body?.nodes === undefined) continue;
    const nodes = Object.fromEntries(Object.entries(body.nodes).map(([id, inner]) => [id, withAction(inner)]));
    whole = { ...whole, [key]: { ...body, nodes } };
  }
  return whole;
}

function tested(plan: Plan, options: TestOptions): Plan {
  const made = testPlanOf(plan, options);
  if ('test' in made) return withTest(plan, made.test);
  throw new Error(made.problems.map(({ pointer, message, hint }) => `${pointer} ${message} (${hint})`).join('\n'));
}

export class Drive {
  readonly plan: Plan;
  state: RunState;
  readonly frames: { seq: number; at: number; entries: Entry[] }[] = [];
  readonly attempts = new Map<string, Attempt>();
  readonly aborted: string[] = [];
  readonly children: ChildStart[] = [];
  readonly cancelled: string[] = [];
  readonly cancels: Turn['cancels'][number][] = [];
  readonly gateRequests: Turn['gateRequests'][number][] = [];
  readonly freed: Turn['freedPermits'][number][] = [];
  now = 1_000_000;
  private readonly newId = (): string => `exe_child${this.children.length}`;
  private readonly slots: number;
  private readonly values: Pick<Turn, 'lookup' | 'store'>;
  private readonly starts: boolean;
  private readonly foldEvery: number;
  /** Versions to which the run was migrated. */
  readonly versions = new Map<number, Plan>();
  private steps = 0;
  /** The journal, folded as far as it was at the last check: folding it from the start each time would be quadratic. */
  private readonly folded: RunState;

  constructor(short: Short, options: DriveOptions = {}) {
    const { policies, workflows, isAccepted, callbackUrl } = options;
    const plan = { ...planOf(short, policies, workflows, isAccepted), callbackUrl };
    this.plan = options.test === undefined ? plan : tested(plan, options.test);
    this.state = newRunState(this.plan, 'exe_test');
    const versionOf = (version: number) => this.versions.get(version) ?? this.plan;
    this.folded = newRunState(this.plan, 'exe_test', versionOf);
    this.slots = options.slots ?? 1_000;
    this.values = options.values ?? { lookup: () => null, store: inlineValue };
    this.starts = options.starts ?? true;
    this.foldEvery = options.foldEvery ?? 1;
    if (options.frames !== undefined) {
      this.continueTurn(options.frames);
      return;
    }
    const hold = options.delay === undefined ? {} : { delay: { until: this.now + options.delay } };
    const { input = {}, estimates, slot, authority, seed } = options;
    this.step({
      type: 'start',
      input,
      trigger: { type: 'manual' },
      ...hold,
      ...(slot && { slot }),
      ...(authority && { authority }),
      ...(estimates && { estimates }),
      ...(seed === undefined ? {} : { seed }),
      ...options.start,
    });
  }

  private continueTurn(frames: NonNullable<DriveOptions['frames']>): void {
    this.frames.push(...frames);
    this.now = frames.at(-1)?.at ?? this.now;
    foldFrames(this.state, frames);
    for (const { node, attempt } of openAttempts(this.state)) this.attempts.set(node, { attempt } as Attempt);
  }

  /** Moves the run to another version. */
  migrate(short: Short, decisions?: MigrationDecisions): this {
    return this.step({ type: 'migrate', plan: this.versionOf(short), ...(decisions && { decisions }) });
  }

  /** Compiles the next version of the workflow. */
  versionOf(short: Short): Plan {
    const plan = planOf({ version: this.versions.size + 2, ...short });
    this.versions.set(plan.version, plan);
    return plan;
  }

  step(...stimuli: Stimulus[]): this {
    const turn = newTurn(this.state, this.now, this.values.lookup, this.newId, this.values.store);
    for (const stimulus of stimuli) decide(turn, stimulus);
    for (let ready = this.ready(); ready.length > 0; ready = this.ready()) {
      for (const { node, attempt } of ready) {
        const started = startAttempt(turn, node, attempt, 'wrk_test');
        if (started !== undefined) this.attempts.set(node, started);
      }
    }
    seal(turn);
    this.aborted.push(...turn.aborts.map(({ node }) => node));
    this.children.push(...turn.children);
    this.cancels.push(...turn.cancels);
    this.cancelled.push(...turn.cancels.map(({ executionId }) => executionId));
    this.gateRequests.push(...turn.gateRequests);
    this.freed.push(...turn.freedPermits);
    if (turn.entries.length > 0) {
      this.frames.push({ seq: this.state.seq + 1, at: this.now, entries: JSON.parse(JSON.stringify(turn.entries)) });
      this.state.seq++;
    }
    if (++this.steps % this.foldEvery === 0) this.checkFold();
    return this;
  }

  private ready(): ReturnType<typeof nextReady> {
    return this.starts ? nextReady(this.state, this.slots) : [];
  }

  checkFold(): void {
    const { state, folded } = this;
    foldFrames(folded, this.frames.slice(folded.seq));
    const restored = this.restored();
    const facts = JSON.stringify(stateFacts(state));
    for (const other of [folded, restored]) {
      const own = JSON.stringify(stateFacts(other));
      if (own !== facts) expect(JSON.parse(own)).toEqual(JSON.parse(facts));
    }
    for (const one of [state, folded, restored]) checkWorkingSets(one);
    expectSame(wakeTime(restored, this.now, 1_000), wakeTime(state, this.now, 1_000));
  }

  private restored(): RunState {
    const restored = decodeSnapshot(this.state.plan, 'exe_test', encodeSnapshot(this.state));
    if (restored === undefined) throw new Error('the snapshot cannot be read');
    return restored;
  }

  /** Continues with the state of its snapshot. */
  reload(): this {
    this.state = this.restored();
    return this;
  }

  /** Starts a ready node, for drives that do not start nodes by themselves. */
  start(node: string): this {
    const turn = newTurn(this.state, this.now, this.values.lookup, this.newId, this.values.store);
    nextReady(this.state, this.slots);
    const attempt = (this.attempts.get(node)?.attempt ?? 0) + 1;
    const started = startAttempt(turn, node, attempt, 'wrk_test');
    if (started !== undefined) this.attempts.set(node, started);
    seal(turn);
    this.frames.push({ seq: ++this.state.seq, at: this.now, entries: JSON.parse(JSON.stringify(turn.entries)) });
    return this;
  }

  private ended(node: string, outcome: Extract<Stimulus, { type: 'ended' }>['outcome'], jitter = 0.5): Stimulus {
    const attempt = this.attempts.get(node);
    if (attempt === undefined) throw new Error(`'${node}' was never started`);
    return { type: 'ended', node, attempt: attempt.attempt, outcome, jitter };
  }

  complete(node: string, output: Json = null): this {
    return this.step(this.ended(node, { status: 'completed', output: this.values.store(output) }));
  }

  fail(node: string, error: Partial<RunError> = {}, jitter = 0.5): this {
    const full: RunError = { code: 'BROKEN', kind: 'USER', message: `${node} is broken`, ...error };
    return this.step(this.ended(node, { status: 'failed', error: full }, jitter));
  }

  breakOff(node: string, error: Partial<RunError> = {}): this {
    const full: RunError = { code: 'ABORTED', kind: 'USER', message: `${node} was aborted`, ...error };
    return this.step(this.ended(node, { status: 'broken-off', error: full }));
  }

  handBack(node: string): this {
    return this.step(this.ended(node, { status: 'returned' }));
  }

  loseWorker(): this {
    return this.step({ type: 'wake', lost: openAttempts(this.state), jitter: 0.5 });
  }

  advance(ms: number): this {
    this.now += ms;
    return this.step({ type: 'wake', lost: [], jitter: 0.5 });
  }

  cancel(reason = 'because'): this {
    return this.step({ type: 'cancel', reason });
  }

  retry(): this {
    return this.step({ type: 'retry' });
  }

  settle(node: string, settlement: Settlement): this {
    return this.step({ type: 'settle', node, by: 'person', settlement });
  }

  get document(): RunDocument {
    return documentOf(this.state, () => null);
  }

  get status(): string {
    return this.state.phase.status;
  }

  get error(): RunError | null {
    return runError(this.state);
  }

  get output(): Json {
    return JSON.parse(JSON.stringify(this.document.output));
  }

  get entries(): Entry[] {
    return this.frames.flatMap((frame) => frame.entries);
  }

  running(): string[] {
    return openAttempts(this.state).map(({ node }) => node);
  }

  statuses(): Record<string, NodeStatus> {
    return Object.fromEntries(Object.entries(this.document.nodes).map(([path, node]) => [path, node.status]));
  }

  statusOf(node: string): NodeStatus | undefined {
    return this.document.nodes[node]?.status;
  }
}

/** `expect` takes 20 µs: too long for values that are compared hundreds of times in a run. */
export function expectSame(actual: unknown, expected: unknown, message?: string): void {
  if (!Object.is(actual, expected)) expect(actual, message).toBe(expected);
}

export function drive(short: Short, options?: DriveOptions): Drive {
  return new Drive(short, options);
}
