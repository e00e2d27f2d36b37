/**
 * Looks at runs and leaves durable requests. Needs no engine: works beside one of another process.
 * The methods of `Desk` are fields, so that `createEngine` can compose an engine of a desk with `Object.assign`.
 */
import {
  bareDocumentOf,
  createCatalog,
  documentOf,
  isAwaitedCall,
  type Json,
  NebulaError,
  nodeAt,
  RUN_DEFAULTS,
  type RunDocument,
  type RunState,
  refuseCancel,
  refuseSettle,
  spilledInDocument,
  spilledInUndoPlan,
  timelineOf,
  undoPlanOf,
  type WorkflowDefinition,
} from '@nebula/core';
import {
  type Blobs,
  type Clock,
  DEFAULT_PROJECT,
  type Digest,
  type Logs,
  type Random,
  type Store,
} from '@nebula/ports';
import type { Desk, EngineOptions } from './api.ts';
import { Authority } from './authority.ts';
import { decodeFrame } from './codec.ts';
import { explanationOf } from './explanations.ts';
import { copyRun } from './forks.ts';
import { Holds } from './holds.ts';
import { encodeMessage, leave, type Message, sharedName, stimulusOf } from './messages.ts';
import { Plans } from './plans.ts';
import { checkAnswer, checkReplay, checkSettledOutput, unknownNode, waitOf } from './request-checks.ts';
import { readState } from './runs.ts';
import { forgetOutputs, removeExecution } from './sweeper.ts';
import { Values } from './values.ts';

/** How long a published signal is kept for a run that waits for it. */
const KEEP_SIGNALS_MS = 24 * 3_600_000;

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
  readonly #drivers: DeskDrivers;
  readonly #plans: Plans;
  readonly #holds: Holds;
  readonly #onSent: () => void;

  /** `onSent`: a run has a message. */
  constructor(drivers: DeskDrivers, plans: Plans, holds: Holds = new Holds(), onSent: () => void = () => {}) {
    this.#drivers = drivers;
    this.#plans = plans;
    this.#holds = holds;
    this.#onSent = onSent;
  }

  /** After frame `at`, or now. Undefined when there is no such run. */
  async state(executionId: string, at?: number): Promise<RunState | undefined> {
    const row = await this.#drivers.store.execution(executionId);
    if (row === undefined) return undefined;
    const plan = await this.#plans.get(row.workflowId, row.version);
    return (await readState(this.#drivers.store, plan, executionId, at)).state;
  }

  /** With its large values. */
  async documentIn(state: RunState): Promise<RunDocument> {
    const values = this.#values();
    await values.fetch(state.executionId, spilledInDocument(state));
    return documentOf(state, values.lookup);
  }

  readonly document: Desk['document'] = async (executionId, at) => {
    const state = await this.state(executionId, at);
    return state && this.documentIn(state);
  };

  readonly bareDocument: Desk['bareDocument'] = async (executionId, at) => {
    const state = await this.state(executionId, at);
    return state && bareDocumentOf(state);
  };

  readonly journal: Desk['journal'] = async (executionId, after = 0) => {
    const rows = await this.#drivers.store.frames(executionId, after);
    return rows.map((row) => {
      const { seq, at, entries } = decodeFrame(row);
      return { seq, at, entries: entries as unknown as Json[], position: row.position };
    });
  };

  readonly timeline: Desk['timeline'] = async (executionId) => {
    const rows = await this.#drivers.store.frames(executionId, 0);
    return rows.map(decodeFrame).flatMap((frame) => frame.entries.flatMap((entry) => timelineOf(entry, frame.at)));
  };

  readonly input: Desk['input'] = async (executionId) => {
    const state = await this.state(executionId);
    return state && this.#values().read(executionId, state.root.realm.input);
  };

  readonly undoPlan: Desk['undoPlan'] = async (executionId) => {
    const state = await this.state(executionId);
    if (state === undefined) return undefined;
    const values = this.#values();
    await values.fetch(executionId, spilledInUndoPlan(state));
    return undoPlanOf(state, values.lookup);
  };

  readonly places: Desk['places'] = async (executionId, key) => {
    const { store } = this.#drivers;
    const row = await store.execution(executionId);
    return row === undefined ? [] : store.permits(sharedName(row.project, key));
  };

  readonly explain: Desk['explain'] = async (executionId, node) => {
    const { store, clock } = this.#drivers;
    const state = await this.state(executionId);
    const parts = { store, state: (other: string) => this.state(other), places: this.places };
    return state && explanationOf(parts, state, node, clock.now());
  };

  readonly list: Desk['list'] = (filter) => this.#drivers.store.list(filter);

  readonly register: Desk['register'] = (definition) =>
    this.#plans.register(definition as unknown as WorkflowDefinition);

  readonly plan: Desk['plan'] = (workflowId, version) => this.#plans.get(workflowId, version);

  readonly requestCancel: Desk['requestCancel'] = async (executionId, reason, { compensate = true, node } = {}) => {
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

  /** Reads only a run that is being undone: others can be cancelled even where their plan does not compile. */
  async #checkCancel(executionId: string, compensate: boolean): Promise<void> {
    const row = await this.#drivers.store.execution(executionId);
    const mayUndo = row?.status === 'compensating' || row?.status === 'paused';
    const state = mayUndo ? await this.state(executionId) : undefined;
    const refusal = state && refuseCancel(state, compensate);
    if (refusal !== undefined) throw refusal;
  }

  readonly fork: Desk['fork'] = async (executionId, node, input) => {
    const row = await this.#drivers.store.execution(executionId);
    const state = await this.state(executionId);
    if (row === undefined || state === undefined) {
      throw new NebulaError('UNKNOWN_EXECUTION', `There is no execution ${executionId}.`);
    }
    checkReplay(state, node, input);
    const forkId = this.#drivers.random.id('exe');
    const letGo = this.#holds.hold(forkId);
    try {
      await copyRun(this.#drivers, state, forkId, row.project, replayOf(node, input));
    } finally {
      letGo();
    }
    this.#onSent();
    return forkId;
  };

  readonly requestPause: Desk['requestPause'] = (executionId, reason) =>
    this.#send(executionId, { type: 'pause', ...(reason === undefined ? {} : { reason }) });

  readonly requestResume: Desk['requestResume'] = (executionId) => this.#send(executionId, { type: 'resume' });

  readonly requestRetry: Desk['requestRetry'] = (executionId) => this.#send(executionId, { type: 'retry' });

  readonly requestReplay: Desk['requestReplay'] = async (executionId, node, input) => {
    const state = await this.state(executionId);
    if (state === undefined) return false;
    checkReplay(state, node, input);
    return this.#send(executionId, replayOf(node, input));
  };

  readonly requestSignal: Desk['requestSignal'] = (executionId, { signal, key = '', payload = null }) =>
    this.#send(executionId, { type: 'signal', signal, key, payload });

  readonly publishSignal: Desk['publishSignal'] = async ({ signal, key = '', payload = null, ...options }) => {
    const { store, clock, random } = this.#drivers;
    const { keepMs = KEEP_SIGNALS_MS, messageId = random.id('msg'), project = DEFAULT_PROJECT } = options;
    const at = clock.now();
    const body = encodeMessage({ type: 'signal', signal, key, payload });
    const shared = { signal: sharedName(project, signal), key, messageId, body, at, expiresAt: at + keepMs };
    const executionId = await store.publish(shared);
    this.#onSent();
    return executionId;
  };

  readonly requestAnswer: Desk['requestAnswer'] = async (executionId, node, answer) => {
    const state = await this.state(executionId);
    if (state === undefined) return false;
    checkAnswer(state, node, answer);
    return this.#send(executionId, { type: 'answer', node, ...answer });
  };

  readonly requestCallback: Desk['requestCallback'] = async (executionId, node, payload) => {
    const state = await this.state(executionId);
    if (state === undefined) return false;
    waitOf(state, node, 'callback', 'a call');
    return this.#send(executionId, { type: 'callback', node, payload });
  };

  readonly requestCall: Desk['requestCall'] = async (executionId, node, generation, payload) => {
    const state = await this.state(executionId);
    if (state === undefined) return 'unknown';
    if (!isAwaitedCall(state, node, generation)) return 'over';
    const { store, clock } = this.#drivers;
    const body = encodeMessage({ type: 'callback', node, payload, generation });
    const isThere = await store.send({ messageId: `call:${node}:${generation}`, executionId, body }, clock.now());
    this.#onSent();
    return isThere ? 'taken' : 'unknown';
  };

  readonly requestSettle: Desk['requestSettle'] = async (executionId, node, settlement, attempt) => {
    const state = await this.state(executionId);
    if (state === undefined) return false;
    const refusal = refuseSettle(state, node);
    if (refusal !== undefined) throw refusal;
    const inbox = await this.#drivers.store.inbox(executionId);
    const isSettled = inbox
      .map(({ body }) => stimulusOf(body))
      .some((one) => one?.type === 'settle' && one.node === node);
    if (isSettled) {
      throw new NebulaError('ALREADY_SETTLED', `What became of '${node}' has been said already.`, {
        hint: 'It is acted on when an engine runs: `nebula resume`.',
      });
    }
    if (settlement.happened === true) checkSettledOutput(state, node, settlement.output);
    const lookedAt = attempt ?? nodeAt(state, node)?.attempts;
    const more = lookedAt === undefined ? {} : { attempt: lookedAt };
    return this.#send(executionId, { type: 'settle', node, settlement, ...more });
  };

  readonly forgetCached: Desk['forgetCached'] = (which) =>
    forgetOutputs(this.#drivers, (limit) => this.#drivers.store.forgetCached(which, limit));

  readonly delete: Desk['delete'] = (executionId) => removeExecution(this.#drivers, executionId);

  async #send(executionId: string, message: Message): Promise<boolean> {
    const isKnown = await leave(this.#drivers, executionId, message);
    this.#onSent();
    return isKnown;
  }

  /** For one answer: large values are not cached over it. */
  #values(): Values {
    return new Values(this.#drivers, RUN_DEFAULTS.inlineLimitBytes);
  }
}

function replayOf(node: string, input: Json | undefined): Message {
  return { type: 'replay', node, ...(input === undefined ? {} : { input }) };
}
