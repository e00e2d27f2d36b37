/** Looks at runs and leaves durable requests. Needs no engine: works beside one of another process. */
import {
  type Awaited,
  type BareRun,
  bareDocumentOf,
  compileSchema,
  createCatalog,
  describePath,
  didYouMean,
  documentOf,
  type Entry,
  explainEnded,
  explainNode,
  explainRun,
  type Holders,
  holderCauses,
  isAwaitedCall,
  isFinished,
  type Json,
  NebulaError,
  type NodeState,
  nodeAt,
  type Plan,
  pathOf,
  permitKey,
  placePermit,
  RUN_DEFAULTS,
  type RunDocument,
  type RunState,
  RunView,
  refuseCancel,
  refuseReplay,
  refuseSettle,
  spilledInDocument,
  spilledInUndoPlan,
  statusOf,
  type TimelineEvent,
  timelineOf,
  type UndoPlan,
  undoPlanOf,
  valuesIn,
  type WorkflowDefinition,
} from '@nebula/core';
import {
  type Blobs,
  type CacheChoice,
  type Clock,
  DEFAULT_PROJECT,
  type Digest,
  type Logs,
  type PermitRow,
  type Random,
  type Store,
} from '@nebula/ports';
import type {
  AnswerRequest,
  Desk,
  EngineOptions,
  Explanation,
  JournalFrame,
  Settlement,
  SignalRequest,
} from './api.ts';
import { Authority } from './authority.ts';
import { decodeFrame, encodeEntries } from './codec.ts';
import { Holds } from './holds.ts';
import { encodeMessage, type Message, sharedName, stimulusOf } from './messages.ts';
import { Plans } from './plans.ts';
import { readState } from './runs.ts';
import { forgetOutputs, removeExecution } from './sweeper.ts';
import { Values } from './values.ts';

/** How long a signal waits for somebody who listens. */
const KEEP_SIGNALS_MS = 24 * 3_600_000;

/** Longer journals are not folded from their beginning for a question: a fold of this many takes about a second. */
const MAX_FOLDED_ENTRIES = 200_000;
/** Gated nodes of a run whose holders are looked up, and holders of each whose state is read. */
const MAX_GATED = 10;
const MAX_HOLDERS = 5;

export interface DeskDrivers {
  readonly store: Store;
  readonly blobs: Blobs;
  readonly logs: Logs;
  readonly clock: Clock;
  readonly random: Random;
  readonly digest: Digest;
}

export function createDesk(
  drivers: DeskDrivers,
  options: Pick<EngineOptions, 'actions' | 'retryPolicies' | 'labels' | 'announced' | 'projects'>,
): Desk {
  const catalog = createCatalog(options.actions, options.retryPolicies ?? {}, undefined, options.labels);
  catalog.announce(options.announced ?? []);
  return new StoreDesk(drivers, new Plans(drivers, catalog, {}, new Authority(options.projects)));
}

export class StoreDesk implements Desk {
  protected readonly drivers: DeskDrivers;
  protected readonly holds = new Holds();
  private readonly deskPlans: Plans;

  constructor(drivers: DeskDrivers, plans: Plans) {
    this.drivers = drivers;
    this.deskPlans = plans;
  }

  async document(executionId: string, at?: number): Promise<RunDocument | undefined> {
    const state = await this.state(executionId, at);
    if (state === undefined) return undefined;
    return this.documentIn(state);
  }

  async bareDocument(executionId: string, at?: number): Promise<BareRun | undefined> {
    const state = await this.state(executionId, at);
    return state && bareDocumentOf(state);
  }

  /** With its large values. */
  protected async documentIn(state: RunState): Promise<RunDocument> {
    const values = new Values(this.drivers, RUN_DEFAULTS.inlineLimitBytes);
    await values.fetch(state.executionId, spilledInDocument(state));
    return documentOf(state, values.lookup);
  }

  async journal(executionId: string, after = 0): Promise<readonly JournalFrame[]> {
    const rows = await this.drivers.store.frames(executionId, after);
    return rows.map((row) => {
      const { seq, at, entries } = decodeFrame(row);
      return { seq, at, entries: entries as unknown as Json[], position: row.position };
    });
  }

  async timeline(executionId: string): Promise<readonly TimelineEvent[]> {
    const rows = await this.drivers.store.frames(executionId, 0);
    return rows.map(decodeFrame).flatMap((frame) => frame.entries.flatMap((entry) => timelineOf(entry, frame.at)));
  }

  async input(executionId: string): Promise<Json | undefined> {
    const state = await this.state(executionId);
    if (state === undefined) return undefined;
    const { blob, value = null } = state.root.realm.input;
    if (blob === undefined) return value;
    const values = new Values(this.drivers, RUN_DEFAULTS.inlineLimitBytes);
    await values.fetch(executionId, [blob]);
    return values.lookup(blob);
  }

  register(definition: Json): Promise<{ workflowId: string; version: number; created: boolean }> {
    return this.deskPlans.register(definition as unknown as WorkflowDefinition);
  }

  plan(workflowId: string, version?: number): Promise<Plan> {
    return this.deskPlans.get(workflowId, version);
  }

  async undoPlan(executionId: string): Promise<UndoPlan | undefined> {
    const state = await this.state(executionId);
    if (state === undefined) return undefined;
    const values = new Values(this.drivers, RUN_DEFAULTS.inlineLimitBytes);
    await values.fetch(executionId, spilledInUndoPlan(state));
    return undoPlanOf(state, values.lookup);
  }

  async places(executionId: string, key: string): Promise<readonly PermitRow[]> {
    const row = await this.drivers.store.execution(executionId);
    return row === undefined ? [] : this.drivers.store.permits(sharedName(row.project, key));
  }

  async explain(executionId: string, node?: string): Promise<Explanation | undefined> {
    const state = await this.state(executionId);
    if (state === undefined) return undefined;
    const now = this.drivers.clock.now();
    if (node === undefined)
      return this.withHolders(state, explainRun(state, now), [...state.gated].slice(0, MAX_GATED));
    const explanation = explainNode(state, node, now);
    if (explanation?.status === 'collapsed') return this.explainEnded(state, node, explanation);
    const gated = nodeAt(state, node);
    return explanation && this.withHolders(state, explanation, gated === undefined ? [] : [gated]);
  }

  /** With who holds what the nodes wait for: the journals of other runs know that. */
  private async withHolders(
    state: RunState,
    explained: Explanation,
    nodes: readonly NodeState[],
  ): Promise<Explanation> {
    const causes = [...explained.causes];
    const { executionId, place } = state;
    const now = this.drivers.clock.now();
    if (explained.node === null && place?.standing === 'waiting') {
      const rows = await this.drivers.store.permits(placePermit(place));
      causes.push(...holderCauses(await this.holdersOf(executionId, '', rows), now));
    }
    for (const node of nodes) {
      const key = node.phase.status === 'gated' ? permitKey(node.phase.gate) : undefined;
      if (key === undefined) continue;
      const rows = await this.places(executionId, key);
      const held = holderCauses(await this.holdersOf(executionId, pathOf(node), rows), now);
      const path = explained.node === null ? pathOf(node) : undefined;
      causes.push(
        ...held.map((one) => (path === undefined ? one : { ...one, message: `${path}: ${one.message}`, node: path })),
      );
    }
    return { ...explained, causes, reasons: causes.map(({ message }) => message) };
  }

  private async holdersOf(executionId: string, node: string, rows: readonly PermitRow[]): Promise<Holders> {
    const own = rows.findIndex((row) => row.executionId === executionId && row.node === node);
    const held = rows.filter(({ isHeld }) => isHeld);
    const holders: Holders['holders'][number][] = [];
    for (const row of held) {
      const state = holders.length < MAX_HOLDERS ? await this.state(row.executionId).catch(() => undefined) : undefined;
      const since = row.node === '' ? state?.startedAt : state && nodeAt(state, row.node)?.startedAt;
      holders.push({ executionId: row.executionId, node: row.node, since: since ?? null });
    }
    return { holders, before: Math.max(0, own - held.length) };
  }

  /** How the node stood at the end of its round, which the journal still has. */
  private async explainEnded(state: RunState, path: string, collapsed: Explanation): Promise<Explanation | undefined> {
    const view = await this.view(state, (other) => other === path);
    if (view === undefined) return collapsed;
    const node = view.node(path);
    return node && explainEnded(collapsed, view.state, node);
  }

  /** Folded from its whole journal; undefined where that is too long. */
  private async view({ plan, executionId }: RunState, keeps: (path: string) => boolean): Promise<RunView | undefined> {
    const frames = (await this.drivers.store.frames(executionId, 0)).map(decodeFrame);
    if (frames.reduce((sum, { entries }) => sum + entries.length, 0) > MAX_FOLDED_ENTRIES) return undefined;
    const view = new RunView(plan, executionId, keeps);
    for (const frame of frames) view.apply(frame);
    return view;
  }

  list(filter: Parameters<Store['list']>[0]): ReturnType<Store['list']> {
    return this.drivers.store.list(filter);
  }

  async requestCancel(
    executionId: string,
    reason: string,
    { compensate = true, node }: { readonly compensate?: boolean; readonly node?: string } = {},
  ): Promise<boolean> {
    if (node !== undefined) {
      const state = await this.state(executionId);
      if (state === undefined) return false;
      if (nodeAt(state, node) === undefined) throw unknownNode(state, node);
    } else {
      await this.checkCancel(executionId, compensate);
    }
    const options = { ...(compensate ? {} : { compensate }), ...(node === undefined ? {} : { node }) };
    return this.send(executionId, { type: 'cancel', reason, ...options });
  }

  /** Only a run that is being undone is read for that: others are cancelled even where their plan is not known. */
  private async checkCancel(executionId: string, compensate: boolean): Promise<void> {
    const row = await this.drivers.store.execution(executionId);
    const mayUndo = row?.status === 'compensating' || row?.status === 'paused';
    const state = mayUndo ? await this.state(executionId) : undefined;
    const refusal = state && refuseCancel(state, compensate);
    if (refusal !== undefined) throw refusal;
  }

  async fork(executionId: string, node: string, input?: Json): Promise<string> {
    const row = await this.drivers.store.execution(executionId);
    const state = await this.state(executionId);
    if (row === undefined || state === undefined) {
      throw new NebulaError('UNKNOWN_EXECUTION', `There is no execution ${executionId}.`);
    }
    checkReplay(state, node, input);
    const forkId = this.drivers.random.id('exe');
    const letGo = this.holds.hold(forkId);
    try {
      await this.copyFork(state, forkId, row.project, {
        type: 'replay',
        node,
        ...(input === undefined ? {} : { input }),
      });
    } finally {
      letGo();
    }
    this.sent();
    return forkId;
  }

  private async copyFork(state: RunState, forkId: string, project: string, replay: Message): Promise<void> {
    const { store, blobs, random, clock } = this.drivers;
    const { executionId } = state;
    const now = clock.now();
    const frames = (await store.frames(executionId, 0)).map(decodeFrame);
    const entries = frames.flatMap((frame) => frame.entries).map(withoutLinks);
    // What the copied journal names must be there before it.
    for (const { blob } of entries.flatMap(valuesIn)) {
      if (blob === undefined) continue;
      const data = await blobs.get(executionId, blob.sha256);
      if (data !== undefined) await blobs.put(forkId, blob.sha256, data);
    }
    const { workflowId, version } = state.plan;
    await store.append([
      {
        executionId: forkId,
        create: { project, workflowId, version, createdAt: now, owner: null },
        frame: { seq: 1, at: now, entries: encodeEntries(entries) },
        status: { status: state.status, finishedAt: now, expiresAt: null },
        // With it, so that no copy is left that nobody replays.
        sends: [{ messageId: random.id('msg'), executionId: forkId, body: encodeMessage(replay), wakeAt: now }],
      },
    ]);
  }

  requestPause(executionId: string, reason?: string): Promise<boolean> {
    return this.send(executionId, { type: 'pause', ...(reason === undefined ? {} : { reason }) });
  }

  requestResume(executionId: string): Promise<boolean> {
    return this.send(executionId, { type: 'resume' });
  }

  async requestReplay(executionId: string, node: string, input?: Json): Promise<boolean> {
    const state = await this.state(executionId);
    if (state === undefined) return false;
    checkReplay(state, node, input);
    return this.send(executionId, { type: 'replay', node, ...(input === undefined ? {} : { input }) });
  }

  requestSignal(executionId: string, { signal, key = '', payload = null }: SignalRequest): Promise<boolean> {
    return this.send(executionId, { type: 'signal', signal, key, payload });
  }

  publishSignal({
    signal,
    key = '',
    payload = null,
    keepMs = KEEP_SIGNALS_MS,
    messageId = this.drivers.random.id('msg'),
    project = DEFAULT_PROJECT,
  }: Parameters<Desk['publishSignal']>[0]): Promise<string | undefined> {
    const { store, clock } = this.drivers;
    const at = clock.now();
    const body = encodeMessage({ type: 'signal', signal, key, payload });
    return store.publish({ signal: sharedName(project, signal), key, messageId, body, at, expiresAt: at + keepMs });
  }

  async requestAnswer(executionId: string, node: string, answer: AnswerRequest): Promise<boolean> {
    const state = await this.state(executionId);
    if (state === undefined) return false;
    checkAnswer(state, node, answer);
    return this.send(executionId, { type: 'answer', node, ...answer });
  }

  async requestCallback(executionId: string, node: string, payload: Json): Promise<boolean> {
    const state = await this.state(executionId);
    if (state === undefined) return false;
    waitOf(state, node, 'callback', 'a call');
    return this.send(executionId, { type: 'callback', node, payload });
  }

  async requestCall(
    executionId: string,
    node: string,
    generation: number,
    payload: Json,
  ): Promise<'taken' | 'over' | 'unknown'> {
    const state = await this.state(executionId);
    if (state === undefined) return 'unknown';
    if (!isAwaitedCall(state, node, generation)) return 'over';
    const { store, clock } = this.drivers;
    const body = encodeMessage({ type: 'callback', node, payload, generation });
    const isThere = await store.send({ messageId: `call:${node}:${generation}`, executionId, body }, clock.now());
    this.sent();
    return isThere ? 'taken' : 'unknown';
  }

  requestRetry(executionId: string): Promise<boolean> {
    return this.send(executionId, { type: 'retry' });
  }

  async requestSettle(executionId: string, node: string, settlement: Settlement, attempt?: number): Promise<boolean> {
    const state = await this.state(executionId);
    if (state === undefined) return false;
    const refusal = refuseSettle(state, node);
    if (refusal !== undefined) throw refusal;
    const inbox = await this.drivers.store.inbox(executionId);
    const isSettled = inbox
      .map(({ body }) => stimulusOf(body))
      .some((one) => one?.type === 'settle' && one.node === node);
    if (isSettled) {
      throw new NebulaError('ALREADY_SETTLED', `What became of '${node}' has been said already.`, {
        hint: 'It is acted on when an engine runs: `nebula resume`.',
      });
    }
    if (settlement.happened === true) checkSettledOutput(state, node, settlement.output);
    const newest = nodeAt(state, node)?.attempts;
    const lookedAt = attempt ?? newest;
    return this.send(executionId, {
      type: 'settle',
      node,
      settlement,
      ...(lookedAt === undefined ? {} : { attempt: lookedAt }),
    });
  }

  async forgetCached(which: CacheChoice): Promise<number> {
    const { store } = this.drivers;
    return forgetOutputs(this.drivers, (limit) => store.forgetCached(which, limit));
  }

  delete(executionId: string): Promise<boolean> {
    return removeExecution(this.drivers, executionId);
  }

  protected send(executionId: string, message: Message): Promise<boolean> {
    const { store, random, clock } = this.drivers;
    return store.send({ messageId: random.id('msg'), executionId, body: encodeMessage(message) }, clock.now());
  }

  /** Somebody has a message. */
  protected sent(): void {}

  protected async state(executionId: string, at?: number): Promise<RunState | undefined> {
    const row = await this.drivers.store.execution(executionId);
    if (row === undefined) return undefined;
    const plan = await this.deskPlans.get(row.workflowId, row.version);
    return (await readState(this.drivers.store, plan, executionId, at)).state;
  }
}

/** What a person gives as the output is held to the action's schema, as its own would have been. */
function checkSettledOutput(state: RunState, path: string, output: Json): void {
  const work = nodeAt(state, path)?.plan.work;
  const action = work !== undefined && 'action' in work ? work.action : undefined;
  if (action?.output === undefined || action.describeOnly?.includes('output')) return;
  const problems = compileSchema(action.output).problems(output) ?? [];
  if (problems.length === 0) return;
  const told = problems.map((problem) => `${describePath(problem.path, 'it')} ${problem.message}`).join('; ');
  throw new NebulaError('OUTPUT_INVALID', `The output does not fit ${action.id}: ${told}.`, {
    hint: `\`nebula actions ${action.id}\` says what it gives.`,
  });
}

/** What the node waits for, if it does: an answer or a call that nobody waits for would be lost. */
function waitOf<K extends Awaited['kind']>(
  state: RunState,
  path: string,
  kind: K,
  what: string,
): { readonly wait: Extract<Awaited, { kind: K }>; readonly plan: NodeState['plan'] } {
  const node = nodeAt(state, path);
  if (node === undefined) throw unknownNode(state, path);
  const { phase, plan } = node;
  const wait = phase.status === 'listening' ? phase.waits.find((one) => one.kind === kind) : undefined;
  if (wait !== undefined) return { wait: wait as Extract<Awaited, { kind: K }>, plan };
  throw new NebulaError('NOT_WAITING', `'${path}' does not wait for ${what}.`, {
    hint: `It is ${statusOf(phase)}; \`nebula executions explain ${state.executionId} ${path}\` says why.`,
  });
}

/** Who may answer and what the form must hold is said at once, not when an engine reads the answer. */
function checkAnswer(state: RunState, path: string, { by, approved, form = null }: AnswerRequest): void {
  const { wait, plan } = waitOf(state, path, 'approval', 'an approval');
  if (wait.who !== undefined && !wait.who.includes(by)) {
    throw new NebulaError('NOT_ALLOWED', `${by} may not answer for '${path}'.`, {
      hint: `Those who may: ${wait.who.join(', ')}.`,
    });
  }
  const waits = plan.work.kind === 'wait' ? plan.work.waits : [];
  const own = waits.find(({ name, kind }) => kind === 'approval' && name === wait.name);
  const problems = approved && own?.kind === 'approval' ? (own.check?.problems(form) ?? []) : [];
  if (problems.length === 0) return;
  const told = problems.map((problem) => `${describePath(problem.path, 'it')} ${problem.message}`).join('; ');
  throw new NebulaError('FORM_INVALID', `The form does not fit: ${told}.`, {
    hint: 'Fill in what its schema asks for.',
  });
}

function checkReplay(state: RunState, node: string, input: Json | undefined): void {
  const { executionId, status } = state;
  const refusal = refuseReplay(state, node, input);
  if (refusal !== undefined) throw refusal;
  if (nodeAt(state, node) === undefined) throw unknownNode(state, node);
  if (isFinished(status)) return;
  throw new NebulaError('STILL_RUNNING', `Execution ${executionId} is ${status}.`, {
    hint: `Replay it when it has ended, or cancel it first: \`nebula executions cancel ${executionId}\`.`,
  });
}

/** A fork is nobody's child and in nobody's trace, stands for no start, takes no place, and has none of the other's children. */
function withoutLinks(entry: Entry): Entry {
  if (entry.type === 'child.requested') return { ...entry, copied: true };
  if (entry.type !== 'run.started') return entry;
  const { parent: _, key: __, traceparent: ___, place: ____, ...rest } = entry;
  return rest;
}

function unknownNode(state: RunState, path: string): NebulaError {
  const paths = [...state.scopes.values()].flatMap(({ nodes }) => nodes.map(pathOf));
  const near = didYouMean(path, paths);
  return new NebulaError('UNKNOWN_NODE', `Execution ${state.executionId} has no node '${path}'.`, {
    hint: near === undefined ? `Its nodes: ${paths.slice(0, 12).join(', ')}` : `did you mean '${near}'?`,
  });
}
