/**
 * Reads runs and records durable requests. Needs no engine: works beside one of another process.
 * The methods of `ExecutionService` are fields, so that `createEngine` can spread them into an engine.
 */

import {
  type DefinitionChecks,
  definitionChecks,
  definitionPaths,
  type ExecutionId,
  isFinished,
  isTestVersion,
  type Json,
  NebulaError,
  type NodePath,
  type OpenCatalog,
  type Pin,
  type ProcessSettings,
  pathsBefore,
  RUN_DEFAULTS,
  type RunDocument,
  type TimelineEvent,
  timelineOf,
  type WorkflowDefinition,
} from '@nebula/core';
import {
  bareDocumentOf,
  type DocumentPart,
  documentOf,
  isAwaitedCall,
  nodeAt,
  nodeDocument,
  type RunState,
  refuseCancel,
  refuseSettle,
  reopenPreview,
  type StoredValue,
  spilledInDocument,
  spilledInNode,
  spilledInUndoPlan,
  undoPlanOf,
} from '@nebula/core/run';
import {
  type Blobs,
  type Clock,
  DEFAULT_PROJECT,
  type Digest,
  type Logs,
  pauseFor,
  type Random,
  type Store,
} from '@nebula/ports';
import type { EngineOptions, ExecutionService, JournalFrame } from '../api.ts';
import { Authority } from '../start/authority.ts';
import { Plans } from '../start/plans.ts';
import { BlobPins } from '../storage/blob-pins.ts';
import { forgetOutputs, removeExecution } from '../storage/sweeper.ts';
import { Values } from '../storage/values.ts';
import type { ResultItem } from '../test-runs.ts';
import { framesBackOf, framesOf } from '../turn/codec.ts';
import { humanTasksOf } from '../turn/human-tasks.ts';
import { encodeMessage, leave, type Message, receivedMessage, sharedName, sharedPrefix } from '../turn/messages.ts';
import { type PlanSource, readState } from '../turn/runs.ts';
import { type EndedNode, endedNode } from './ended-node.ts';
import { explanationOf } from './explanations.ts';
import { copyRun } from './forks.ts';
import { Migrations, notMigrated, reportOf } from './migrations.ts';
import { type NodeResult, nodeResults, pinsOf, shownOutput } from './node-results.ts';
import { RecentStates } from './recent-states.ts';
import { rehearse } from './rehearsals.ts';
import {
  checkAnswer,
  checkGiven,
  checkReplay,
  checkSettledOutput,
  isTestRun,
  unknownNode,
  waitOf,
} from './request-checks.ts';
import { valuesOfNode, valuesOfRun } from './value-previews.ts';

/** How long a published signal is buffered for a run that waits for it later. */
const KEEP_SIGNALS_MS = 24 * 3_600_000;

/** The limit on outputs that a test run takes from another run. */
const MAX_PIN_BYTES = 1024 * 1024;

export interface ServiceDrivers {
  readonly store: Store;
  readonly blobs: Blobs;
  readonly logs: Logs;
  readonly clock: Clock;
  readonly random: Random;
  readonly digest: Digest;
}

export function createExecutionService(
  drivers: ServiceDrivers,
  options: ProcessSettings & Pick<EngineOptions, 'projects'>,
): ExecutionService {
  const checks = definitionChecks(options, () => drivers.clock.now());
  return new StoreExecutionService(drivers, new Plans(drivers, checks, new Authority(options.projects)));
}

export class StoreExecutionService implements ExecutionService {
  readonly catalog: OpenCatalog;
  readonly checks: DefinitionChecks;
  readonly #drivers: ServiceDrivers;
  readonly #plans: Plans;
  readonly #pins: BlobPins;
  readonly #onSent: () => void;
  readonly #recent: RecentStates;

  /** `onSent`: called when a run has a message. */
  constructor(
    drivers: ServiceDrivers,
    plans: Plans,
    blobPins: BlobPins = new BlobPins(),
    onSent: () => void = () => {},
  ) {
    this.#drivers = drivers;
    this.#plans = plans;
    this.checks = plans.checks;
    this.catalog = plans.checks.catalog;
    this.#pins = blobPins;
    this.#onSent = onSent;
    this.#recent = new RecentStates(drivers);
  }

  /** The state after frame `at`, or now. Undefined if there is no such run. */
  async state(executionId: ExecutionId, at?: number): Promise<RunState | undefined> {
    return (await this.loaded(executionId, at))?.state;
  }

  /** As `state`, but only to be read: callers share it. */
  #recentState(executionId: ExecutionId, at?: number): Promise<RunState | undefined> {
    return this.#recent.get(executionId, at, () => this.state(executionId, at));
  }

  /** The state and the inbox, at one moment. */
  loaded(executionId: ExecutionId, at?: number): ReturnType<typeof readState> {
    const planOf: PlanSource = (workflowId, version) => this.#plans.getWithoutActions(workflowId, version);
    return readState(this.#drivers, planOf, executionId, at);
  }

  /** The document with its large values. */
  async documentIn(state: RunState, now?: number, part?: DocumentPart): Promise<RunDocument> {
    const values = this.#values();
    await values.fetch(state.executionId, spilledInDocument(state, part));
    return documentOf(state, values.lookup, now, part);
  }

  readonly document: ExecutionService['document'] = async (executionId, at, part) => {
    const state = await this.#recentState(executionId, at);
    return state && this.documentIn(state, this.#nowUnless(at), part);
  };

  readonly bareDocument: ExecutionService['bareDocument'] = async (executionId, at, part) => {
    const state = await this.#recentState(executionId, at);
    return state && bareDocumentOf(state, this.#nowUnless(at), part);
  };

  /** The document after an earlier frame is that of the frame's own time. */
  #nowUnless(at: number | undefined): number | undefined {
    return at === undefined ? this.#drivers.clock.now() : undefined;
  }

  readonly frames: ExecutionService['frames'] = (executionId, after = 0) =>
    framesOf(this.#drivers.store, executionId, after);

  readonly framesBack: ExecutionService['framesBack'] = (executionId, before = Number.MAX_SAFE_INTEGER) =>
    framesBackOf(this.#drivers.store, executionId, before);

  readonly journal: ExecutionService['journal'] = async (executionId, after) => {
    const frames: JournalFrame[] = [];
    for await (const frame of this.frames(executionId, after)) frames.push(frame);
    return frames;
  };

  readonly timeline: ExecutionService['timeline'] = async (executionId) => {
    const events: TimelineEvent[] = [];
    for await (const { at, entries } of framesOf(this.#drivers.store, executionId, 0)) {
      for (const entry of entries) events.push(...timelineOf(entry, at));
    }
    return events;
  };

  readonly input: ExecutionService['input'] = async (executionId) => {
    const state = await this.state(executionId);
    return state && this.#values().read(executionId, state.root.realm.input);
  };

  readonly undoPlan: ExecutionService['undoPlan'] = async (executionId) => {
    const state = await this.state(executionId);
    if (state === undefined) return undefined;
    const values = this.#values();
    await values.fetch(executionId, spilledInUndoPlan(state));
    return undoPlanOf(state, values.lookup);
  };

  readonly permits: ExecutionService['permits'] = async (executionId, key) => {
    const { store } = this.#drivers;
    const row = await store.execution(executionId);
    return row === undefined ? [] : store.permits(sharedName(row.project, key));
  };

  readonly saveHumanTasks: ExecutionService['saveHumanTasks'] = async (executionId) => {
    const state = await this.state(executionId);
    if (state !== undefined) await this.#drivers.store.saveHumanTasks(executionId, state.seq, humanTasksOf(state));
  };

  readonly explain: ExecutionService['explain'] = async (executionId, node, at) => {
    const { store, clock } = this.#drivers;
    const state = await this.#recentState(executionId, at);
    if (state === undefined) return undefined;
    const { workflowId } = state.plan;
    const planOf = (version: number) => this.#plans.getWithoutActions(workflowId, version);
    const parts = { store, state: (other: string) => this.state(other), permits: this.permits, planOf };
    return explanationOf(parts, state, node, clock.now(), at);
  };

  readonly values: ExecutionService['values'] = async (executionId, path, at) => {
    const { blobs } = this.#drivers;
    const state = await this.state(executionId, at);
    if (state === undefined) return undefined;
    if (path === undefined) return valuesOfRun(blobs, state);
    const node = nodeAt(state, path);
    if (node !== undefined) return valuesOfNode(blobs, state, node);
    const ended = await this.#endedNode(executionId, path, at);
    return ended && valuesOfNode(blobs, ended.state, ended.node);
  };

  async #endedNode(executionId: ExecutionId, path: NodePath, at: number | undefined): Promise<EndedNode | undefined> {
    const { store } = this.#drivers;
    const row = await store.execution(executionId);
    if (row === undefined) return undefined;
    const planOf = (version: number) => this.#plans.getWithoutActions(row.workflowId, version);
    const found = await endedNode({ store, planOf }, executionId, path, at);
    return found === 'too-long' ? undefined : found;
  }

  readonly endedNode: ExecutionService['endedNode'] = async (executionId, path, at) => {
    const found = await this.#endedNode(executionId, path, at);
    if (found === undefined) return undefined;
    const values = this.#values();
    await values.fetch(executionId, spilledInNode(found.node));
    return nodeDocument(found.node, values.lookup);
  };

  readonly list: ExecutionService['list'] = (filter) => this.#drivers.store.list(filter);

  readonly register: ExecutionService['register'] = (definition, source) =>
    this.#plans.register(definition as unknown as WorkflowDefinition, source);

  readonly registerTest: ExecutionService['registerTest'] = async (given, { from, ...test }, executionId) => {
    const definition = given as unknown as WorkflowDefinition;
    for (const [path, pin] of Object.entries(test.pins ?? {})) {
      if ('output' in pin) checkGiven(pin.output, `the pin of '${path.slice(0, 200)}'`);
      else if ('error' in pin) checkGiven(pin.error.details, `the pin of '${path.slice(0, 200)}'`);
    }
    if (from === undefined) return await this.#plans.registerTest(definition, test, executionId);
    const taken = await this.#pinsFrom(from, definition, test.only);
    const pins = { ...taken, ...test.pins };
    return await this.#plans.registerTest(definition, { ...test, pins }, executionId);
  };

  async #pinsFrom(
    from: ExecutionId,
    definition: WorkflowDefinition,
    only: string | undefined,
  ): Promise<Record<string, Pin>> {
    const { store, clock } = this.#drivers;
    const row = await store.execution(from);
    if (row === undefined || row.workflowId !== definition.id) {
      const hint = `Name an ended execution of '${definition.id}'.`;
      throw new NebulaError('UNKNOWN_EXECUTION', `There is no execution ${from} of this workflow.`, { hint });
    }
    if (!isFinished(row.status)) {
      throw new NebulaError('NOT_FINISHED', `${from} has not ended.`, {
        hint: 'Wait for its end, or pin the outputs.',
      });
    }
    if (only === undefined) {
      const hint = 'Add `only`, or pin outputs of the run.';
      throw new NebulaError('TEST_INVALID', "'from' goes with 'only'", { hint });
    }
    const plan = await this.#plans.compiledOf(definition);
    const before = await this.#plans.getWithoutActions(row.workflowId, row.version);
    const results = await nodeResults(before, this.frames(from), clock);
    const read = (stored: StoredValue): Promise<Json> => this.#values().read(from, stored);
    return await pinsOf(results, pathsBefore(plan, only), read, MAX_PIN_BYTES);
  }

  readonly results: ExecutionService['results'] = async (executionId, { after, limit, maxChars }) => {
    const { store, clock, blobs } = this.#drivers;
    const row = await store.execution(executionId);
    if (row === undefined) return undefined;
    const plan = await this.#plans.getWithoutActions(row.workflowId, row.version);
    const results = await nodeResults(plan, this.frames(executionId), clock);
    const paths = definitionPaths(plan).filter((path) => results.has(path));
    const items: ResultItem[] = [];
    for (const node of paths.slice(after, after + limit)) {
      const { path, at, result } = results.get(node) as NodeResult;
      const { status } = result;
      const base = { node, path, status, at };
      if (status === 'failed') items.push({ ...base, error: result.error });
      else if (status === 'skipped') items.push(base);
      else
        items.push({
          ...base,
          output: await shownOutput(result.output, maxChars, (blob) => blobs.get(executionId, blob)),
        });
    }
    return { items, next: after + limit < paths.length ? after + limit : null };
  };

  readonly rehearse: ExecutionService['rehearse'] = async (definition, options) => {
    const plan = await this.#plans.compiledOf(definition as unknown as WorkflowDefinition);
    return await rehearse(this.#drivers, plan, options);
  };

  readonly plan: ExecutionService['plan'] = (workflowId, version) => this.#plans.get(workflowId, version);

  readonly requestCancel: ExecutionService['requestCancel'] = async (
    executionId,
    reason,
    { compensate = true, node } = {},
  ) => {
    if (node !== undefined) {
      const state = await this.state(executionId);
      if (state === undefined) return false;
      if (nodeAt(state, node) === undefined) throw unknownNode(state, node);
    } else {
      await this.#checkCancel(executionId, compensate);
    }
    const options = { ...(compensate ? {} : { compensate }), ...(node === undefined ? {} : { node }) };
    return this.#send(executionId, { type: 'cancel', reason, ...options });
  };

  /**
   * Reads the state only if the run may be being undone: any other run can be cancelled even if its plan does not
   * compile.
   */
  async #checkCancel(executionId: ExecutionId, compensate: boolean): Promise<void> {
    const row = await this.#drivers.store.execution(executionId);
    const mayUndo = row?.status === 'compensating' || row?.status === 'paused';
    const state = mayUndo ? await this.state(executionId) : undefined;
    const refusal = state && refuseCancel(state, compensate);
    if (refusal !== undefined) throw refusal;
  }

  readonly fork: ExecutionService['fork'] = async (executionId, node, input, principal) => {
    const loaded = await this.loaded(executionId);
    if (loaded === undefined) {
      throw new NebulaError('UNKNOWN_EXECUTION', `There is no execution ${executionId}.`);
    }
    const { row, state } = loaded;
    if (isTestVersion(row.version)) throw isTestRun(executionId);
    checkReplay(state, node, input);
    const forkId = this.#drivers.random.id('exe');
    const unpin = this.#pins.pin(forkId);
    try {
      await copyRun(this.#drivers, state, { forkId, project: row.project, principal }, replayOf(node, input));
    } finally {
      unpin();
    }
    this.#onSent();
    return forkId;
  };

  readonly requestPause: ExecutionService['requestPause'] = (executionId, reason) =>
    this.#send(executionId, { type: 'pause', ...(reason === undefined ? {} : { reason }) });

  readonly requestResume: ExecutionService['requestResume'] = (executionId) =>
    this.#send(executionId, { type: 'resume' });

  readonly requestRetry: ExecutionService['requestRetry'] = (executionId) => this.#send(executionId, { type: 'retry' });

  readonly requestReplay: ExecutionService['requestReplay'] = async (executionId, node, input) => {
    const state = await this.state(executionId);
    if (state === undefined) return false;
    checkReplay(state, node, input);
    return this.#send(executionId, replayOf(node, input));
  };

  readonly previewReopen: ExecutionService['previewReopen'] = async (executionId, replayed) => {
    const state = await this.state(executionId);
    if (state === undefined) return undefined;
    if (replayed !== undefined) checkReplay(state, replayed.node, replayed.input);
    const preview = reopenPreview(state, replayed);
    if (preview !== undefined) return preview;
    throw new NebulaError('NOTHING_TO_RETRY', `There is nothing to retry in ${executionId}.`, {
      hint: 'Replay it from a node, or relaunch it.',
    });
  };

  readonly checkMigration: ExecutionService['checkMigration'] = async (executionId, request) => {
    const state = await this.state(executionId);
    if (state !== undefined && isTestVersion(state.plan.version)) throw isTestRun(executionId);
    return state && reportOf(await this.#migrations().check(state, request));
  };

  readonly requestMigration: ExecutionService['requestMigration'] = async (executionId, request) => {
    const state = await this.state(executionId);
    if (state === undefined) return undefined;
    if (isTestVersion(state.plan.version)) throw isTestRun(executionId);
    const checked = await this.#migrations().check(state, request);
    const { migration, input } = checked;
    if (migration.refusal !== undefined) throw migration.refusal;
    const { decisions } = request;
    const more = { ...(decisions && { decisions }), ...(input !== undefined && { input }) };
    await this.#send(executionId, { type: 'migrate', version: migration.to, ...more });
    return reportOf(checked);
  };

  readonly requestMigrationBack: ExecutionService['requestMigrationBack'] = async (executionId) => {
    const state = await this.state(executionId);
    if (state === undefined) return undefined;
    if (state.migrated === null) throw await notMigrated(state, this.frames(executionId));
    const version = state.migrated.from;
    // Rejects with `PLAN_INVALID` if that version cannot run here any more.
    await this.#plans.get(state.plan.workflowId, version);
    await this.#send(executionId, { type: 'migrate', version, back: true });
    return version;
  };

  #migrations(): Migrations {
    return new Migrations(this.#plans, this.#values(), this.#drivers.clock);
  }

  readonly secretsBehind: ExecutionService['secretsBehind'] = async (executionId, path, given) => {
    const state = await this.state(executionId);
    const work = state && nodeAt(state, path)?.plan.work;
    const isDirected = work?.kind === 'dynamic' || (work?.kind === 'action' && given === 'input');
    return isDirected ? Object.values(work.credentials) : [];
  };

  readonly requestSignal: ExecutionService['requestSignal'] = async (
    executionId,
    { signal, key = '', payload = null },
  ) => {
    checkGiven(payload, 'the payload');
    return this.#send(executionId, { type: 'signal', signal, key, payload });
  };

  readonly publishSignal: ExecutionService['publishSignal'] = async ({
    signal,
    key = '',
    payload = null,
    ...options
  }) => {
    checkGiven(payload, 'the payload');
    const { store, clock, random } = this.#drivers;
    const { keepMs = KEEP_SIGNALS_MS, messageId = random.id('msg'), project = DEFAULT_PROJECT } = options;
    const at = clock.now();
    const body = encodeMessage({ type: 'signal', signal, key, payload });
    await pauseFor(body.length, clock);
    const shared = { signal: sharedName(project, signal), key, messageId, body, at, expiresAt: at + keepMs };
    const executionId = await store.publish(shared);
    this.#onSent();
    return executionId;
  };

  readonly forgetSignals: ExecutionService['forgetSignals'] = async (project) => {
    if (project !== DEFAULT_PROJECT) await this.#drivers.store.forgetSignals(sharedPrefix(project));
  };

  readonly requestAnswer: ExecutionService['requestAnswer'] = async (executionId, node, answer) => {
    const state = await this.state(executionId);
    if (state === undefined) return false;
    checkGiven(answer.form, 'the form');
    await checkAnswer(state, node, answer, this.#drivers.clock);
    return this.#send(executionId, { type: 'answer', node, ...answer });
  };

  readonly requestCallback: ExecutionService['requestCallback'] = async (executionId, node, payload) => {
    const state = await this.state(executionId);
    if (state === undefined) return false;
    waitOf(state, node, 'callback', 'a call');
    checkGiven(payload, 'the payload');
    return this.#send(executionId, { type: 'callback', node, payload });
  };

  readonly requestCall: ExecutionService['requestCall'] = async (executionId, node, generation, payload) => {
    const state = await this.state(executionId);
    if (state === undefined) return 'unknown';
    if (!isAwaitedCall(state, node, generation)) return 'over';
    const { store, clock } = this.#drivers;
    const body = encodeMessage({ type: 'callback', node, payload, generation });
    await pauseFor(body.length, clock);
    const isThere = await store.send({ messageId: `call:${node}:${generation}`, executionId, body }, clock.now());
    this.#onSent();
    return isThere ? 'taken' : 'unknown';
  };

  readonly requestSettle: ExecutionService['requestSettle'] = async (executionId, node, settlement, attempt) => {
    const loaded = await this.loaded(executionId);
    if (loaded === undefined) return false;
    const { state, inbox } = loaded;
    const refusal = refuseSettle(state, node);
    if (refusal !== undefined) throw refusal;
    const isSettled = inbox
      .map(({ body }) => receivedMessage(body))
      .some((one) => one?.type === 'settle' && one.node === node);
    if (isSettled) {
      throw new NebulaError('ALREADY_SETTLED', `The outcome of '${node}' has already been settled.`, {
        hint: 'A running engine acts on it; otherwise run `nebula resume`.',
      });
    }
    if (settlement.happened === true) {
      checkGiven(settlement.output, 'the output');
      await checkSettledOutput(state, node, settlement.output, this.#drivers.clock);
    }
    const settledAttempt = attempt ?? nodeAt(state, node)?.attempts;
    const more = settledAttempt === undefined ? {} : { attempt: settledAttempt };
    return this.#send(executionId, { type: 'settle', node, settlement, ...more });
  };

  readonly forgetCached: ExecutionService['forgetCached'] = (which) =>
    forgetOutputs(this.#drivers, (limit) => this.#drivers.store.forgetCached(which, limit));

  readonly delete: ExecutionService['delete'] = (executionId) => removeExecution(this.#drivers, executionId);

  async #send(executionId: ExecutionId, message: Message): Promise<boolean> {
    const isKnown = await leave(this.#drivers, executionId, message);
    this.#onSent();
    return isKnown;
  }

  /** Values for one answer: large values are not cached beyond it. */
  #values(): Values {
    return new Values(this.#drivers, RUN_DEFAULTS.inlineLimitBytes);
  }
}

function replayOf(node: NodePath, input: Json | undefined): Message {
  return { type: 'replay', node, ...(input === undefined ? {} : { input }) };
}
