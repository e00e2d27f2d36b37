/**
 * Checks that a journal does what the language says. The check reads entries and the definition, never the core's state
 * or plan, and asks the model of edges and joins (`model/`) at each moment:
 *
 *  1 A node begins when its join is satisfied, its condition holds and it is enabled. It is skipped when its join has
 *    failed, its condition does not hold or it is disabled, and for that reason.
 *  2 Once a frame is written, every node of a live scope has begun, was skipped, or waits for something.
 *  3 While a scope ends early, only targets of taken `always` edges and the nodes that follow them begin.
 *  4 A failure is handled as its edges, its `onError` and the policy say; an attempt is repeated as often as `retry`
 *    says.
 *  5 A run ends as its nodes did, with their outputs.
 *  6 A wait ends by an event that it waits for. Loops and grants have files of their own.
 */
import type { Entry, Json } from '@nebula/core';
import type { StoredValue } from '@nebula/core/run';
import { mayAnswer, type SentSignal, signalMisfit } from './answered.ts';
import { Grants } from './grants.ts';
import { Loops } from './loops.ts';
import { type BodyKeys, Graph, type Keys } from './model/graph.ts';
import { type ErrorFact, type Evaluate, evaluatorOf, type Fact, type Join, takenBy } from './model/meaning.ts';
import { Retries } from './model/retries.ts';
import { splitBodies } from './model/split.ts';
import { View } from './model/view.ts';

export interface Definition extends BodyKeys {
  readonly config?: {
    readonly mode?: string;
    readonly onFailure?: string;
    readonly failureNode?: string;
    readonly retry?: unknown;
    readonly maxTotalRetries?: number;
  };
}

export interface ConformanceParts {
  readonly complain: (complaint: string) => void;
  readonly definitionOf: (workflowId: string, version?: number) => Definition;
  readonly valueOf: (stored: StoredValue | undefined) => Json;
  /** The signal that was sent with this payload. */
  readonly signalOf?: (payload: Json) => SentSignal | undefined;
}

/** The outcome of a node; a disabled one counts as skipped, as in the journal. */
interface NodeFact extends Fact {
  status: Fact['status'];
  started: boolean;
  isFollower?: boolean;
  cause?: Fact['cause'];
  error?: ErrorFact | undefined;
  isIgnored: boolean;
  output?: Json;
  taken?: readonly string[];
  retries: Retries;
  isUnknown: boolean;
  /** A person or `verify` settled the outcome. */
  isSettled: boolean;
  /** The node runs in a finally. */
  isCleanup: boolean;
  /** The failure is unhandled with `finish-running`. */
  isDeferred: boolean;
}

interface Scope {
  readonly path: string;
  /** The composite node of the scope; empty for the root. */
  readonly owner: string;
  readonly graph: Graph;
  readonly index: number;
  /** The failure policy of its workflow. */
  readonly policy: string;
  readonly retry: unknown;
  readonly nodes: Map<string, NodeFact>;
  /** The scope ends early: nodes that have not begun are cancelled, until the finally revives some of them. */
  isEnding: boolean;
  /** The finally has begun; undefined: a second cancel skipped it. */
  isRevived: boolean | undefined;
  isOver: boolean;
}

type NodeEntry = Extract<Entry, { node: string }>;

const BEGINS: readonly string[] = [
  'node.scheduled',
  'node.started',
  'node.opened',
  'node.waiting',
  'child.requested',
  'node.gated',
];
const STARTS: readonly string[] = ['node.started', 'node.opened', 'node.waiting', 'child.requested'];

export class Conformance {
  private readonly parts: ConformanceParts;
  private readonly scopes = new Map<string, Scope>();
  private definition: Definition = {};
  private input: Json = null;
  private isPaused = false;
  private isDelayed = false;
  private isFinished = false;
  /** A failure with `halt`, or a `terminate`, ends the run from any depth. */
  private isHalted = false;
  /** The end of the run is decided: from then on `halt` ends no more than a body. */
  private isEnding = false;
  private isTerminated = false;
  /** A replay starts at some node and leaves the rest unchanged, so the rest need not be consistent. */
  private isReplayed = false;
  private touched = new Set<Scope>();
  private readonly loops: Loops;
  private readonly grants: Grants;

  constructor(parts: ConformanceParts) {
    this.parts = parts;
    const { complain } = parts;
    this.grants = new Grants({ complain, keysOf: (path) => this.find(path)?.fact.keys });
    this.loops = new Loops({
      complain,
      find: (path) => {
        const found = this.find(path);
        return found && { keys: found.fact.keys, beside: found.scope.graph.nodes };
      },
    });
  }

  frame(entries: readonly Entry[]): void {
    for (const entry of entries) {
      this.grants.entry(entry);
      this.loops.entry(entry);
      this.entry(entry);
    }
    this.loops.end();
    if (!this.isPaused && !this.isDelayed && !this.isFinished)
      for (const scope of this.touched) this.nothingLeft(scope);
    if (!this.isPaused && !this.isDelayed) this.touched.clear();
  }

  private entry(entry: Entry): void {
    switch (entry.type) {
      case 'run.started':
        this.definition = this.parts.definitionOf(entry.workflowId, entry.version);
        this.input = this.parts.valueOf(entry.input);
        this.open('', '', this.definition, 0, this.definition);
        return;
      case 'run.held':
        this.isDelayed = true;
        if (entry.input !== undefined) this.input = this.parts.valueOf(entry.input);
        return;
      case 'run.begun':
        this.isDelayed = false;
        return;
      case 'run.paused':
        this.isPaused = true;
        return;
      case 'run.resumed':
        this.isPaused = false;
        return;
      case 'run.stopping':
        this.isPaused = entry.paused === true;
        this.isEnding = true;
        return this.ends('', entry.finally);
      case 'scope.compensating':
        this.isEnding ||= entry.scope === '';
        return;
      case 'scope.stopping':
        return this.ends(entry.scope, entry.finally);
      case 'node.stopping':
        return this.ends(entry.node, entry.finally);
      case 'scopes.opened':
        return this.openIterations(entry.node, entry.from, entry.to);
      case 'scope.closed':
        return this.over(entry.scope);
      case 'run.finished':
        return this.finishes(entry);
      case 'run.reopened':
        return this.reopen(entry);
      case 'node.scheduled':
        for (const path of entry.nodes) {
          this.isInGraph(path);
          this.begins(path, entry.type);
        }
        return;
      case 'node.skipped':
        for (const path of entry.nodes) {
          this.isInGraph(path);
          this.skips(path, entry.why);
        }
        return;
      default:
        if ('node' in entry) this.node(entry);
    }
  }

  private node(entry: NodeEntry): void {
    const { type, node: path } = entry;
    this.isInGraph(path);
    if (BEGINS.includes(type)) this.begins(path, type);
    const { fact, scope } = this.find(path) ?? {};
    if (fact === undefined || scope === undefined) return;
    this.touched.add(scope);
    switch (entry.type) {
      case 'node.opened':
        return this.openBody(path, scope, fact, entry);
      case 'node.completed':
        if (fact.status === 'pending') this.begins(path, type);
        fact.status = 'completed';
        if (fact.keys.terminate !== undefined) this.isTerminated = true;
        fact.output = this.parts.valueOf(entry.output);
        if (fact.keys.branch !== undefined) this.branches(path, scope, fact);
        if (fact.keys.wait !== undefined) this.hears(path, fact);
        return this.over(path);
      case 'node.retrying':
        return this.retries(path, fact, entry.error);
      case 'node.failed':
        return this.fails(path, scope, fact, entry);
      case 'node.unhandled':
        this.demand(!this.isHandled(scope, path), `${path} is unhandled, and something handles it`);
        return this.handles(path, scope, fact, entry.handling);
      case 'node.cancelled':
        this.cancels(path, scope, fact);
        return this.over(path);
      case 'node.granted':
        this.demand(fact.status === 'active', `node.granted of ${path}, which is ${fact.status}`);
        return;
      case 'node.answered':
        this.demand(mayAnswer(fact.keys, entry.by), `${path} is answered by ${entry.by}, who may not`);
        return;
      case 'node.unknown':
        fact.isUnknown = true;
        return;
      case 'node.settled':
        fact.isUnknown = entry.outcome === 'unknown';
        fact.isSettled = true;
        return;
      default:
    }
  }

  private open(path: string, owner: string, body: BodyKeys, index: number, workflow: Definition): void {
    const graph = new Graph(splitBodies(body), path === '' ? workflow.config?.failureNode : undefined);
    const nodes = new Map<string, NodeFact>();
    const { retry, onFailure = 'fail-fast' } = workflow.config ?? {};
    const scope = {
      path,
      owner,
      graph,
      index,
      policy: onFailure,
      retry,
      nodes,
      isEnding: false,
      isRevived: false,
      isOver: false,
    };
    for (const [id, keys] of Object.entries(graph.nodes)) nodes.set(id, blankFact(keys, retry));
    this.scopes.set(path, scope);
    this.touched.add(scope);
  }

  private openBody(
    path: string,
    scope: Scope,
    { keys }: NodeFact,
    entry: Extract<Entry, { type: 'node.opened' }>,
  ): void {
    const { workflow, group } = keys as { workflow?: { id: string; version?: number }; group?: BodyKeys };
    if (entry.graph !== undefined)
      this.open(path, path, this.parts.valueOf(entry.graph) as BodyKeys, 0, this.around(scope));
    if (workflow !== undefined) {
      const inner = this.parts.definitionOf(workflow.id, workflow.version);
      this.open(path, path, inner, 0, inner);
    }
    if (group !== undefined) this.open(path, path, group, 0, this.around(scope));
  }

  private openIterations(node: string, from: number, to: number): void {
    const { fact, scope } = this.find(node) ?? {};
    if (fact === undefined || scope === undefined) return;
    for (let iteration = from; iteration < to; iteration++)
      this.open(`${node}/${iteration}`, node, fact.keys.do as BodyKeys, iteration, this.around(scope));
  }

  private around({ policy, retry }: Scope): Definition {
    return { config: { onFailure: policy, retry } };
  }

  private begins(path: string, type: string): void {
    const { fact, scope, id } = this.find(path) ?? {};
    if (fact === undefined || scope === undefined || id === undefined) return;
    this.touched.add(scope);
    this.revive(scope);
    if (fact.status === 'cancelled' && !fact.started) this.demand(false, `${type} of ${path}, which is cancelled`);
    if (fact.status === 'pending') {
      const join = this.joinOf(scope, id);
      this.demand(join === 'satisfied', `${type} of ${path}, whose join is ${join}`);
      this.demand(fact.keys.enabled !== false, `${type} of ${path}, which is disabled`);
      const when = this.whenOf(scope, fact.keys);
      this.demand(when === true, `${type} of ${path}, whose condition is ${when}`);
      fact.status = 'active';
    }
    if (STARTS.includes(type) || type === 'node.completed') {
      if (!fact.started) fact.isFollower = this.isFollowing(scope, id);
      fact.started = true;
    }
    if (type === 'node.started') fact.isSettled = false;
  }

  private skips(path: string, why: string): void {
    const { fact, scope, id } = this.find(path) ?? {};
    if (fact === undefined || scope === undefined || id === undefined) return;
    this.touched.add(scope);
    this.revive(scope);
    const join = this.joinOf(scope, id);
    fact.isFollower = this.isFollowing(scope, id);
    const isDisabled = fact.keys.enabled === false;
    if (join === 'satisfied') {
      const expected = isDisabled ? 'disabled' : this.whenOf(scope, fact.keys) === false ? 'when' : 'nothing';
      this.demand(why === expected, `${path} is skipped by ${why}, and its join is satisfied`);
      fact.status = isDisabled ? 'disabled' : 'skipped';
      fact.cause = 'choice';
      return;
    }
    const isDead = join === 'choice' || join === 'failure';
    this.demand(isDead, `${path} is skipped by ${why}, and its join is ${join}`);
    if (isDead)
      this.demand(why === (join === 'failure' ? 'failure' : 'dead'), `${path} is skipped by ${why}, not by ${join}`);
    fact.status = 'skipped';
    fact.cause = join === 'failure' ? 'failure' : 'choice';
  }

  private retries(path: string, fact: NodeFact, error: ErrorFact): void {
    const isLost = error.code === 'WORKER_LOST' && this.runsAttempt(path, fact);
    const isAllowed = isLost ? fact.retries.afterLoss() : fact.retries.afterError(error, path);
    this.demand(isAllowed, `${path} is tried again after ${error.code}, more often than it says`);
    for (const { path: scope } of this.within(path)) this.scopes.delete(scope);
  }

  /** False for a node whose body, or whose other execution, has failed: its own attempt was not lost. */
  private runsAttempt(path: string, { keys }: NodeFact): boolean {
    return keys.action !== undefined || (keys.dynamic !== undefined && this.within(path).length === 0);
  }

  private fails(
    path: string,
    scope: Scope,
    fact: NodeFact,
    { error, handling }: Extract<Entry, { type: 'node.failed' }>,
  ): void {
    const { id, status } = { id: idOf(path), status: fact.status };
    this.revive(scope);
    if (status === 'pending') {
      const join = this.joinOf(scope, id);
      this.demand(join === 'satisfied' || join === 'broken', `${path} fails, and its join is ${join}`);
      // Its condition failed: it never begins, and what is behind it follows no finally because of it.
      fact.isFollower = this.isFollowing(scope, id);
    }
    if (status === 'active' && fact.started && !fact.isSettled && !scope.isEnding) this.exhausted(path, fact, error);
    fact.status = 'failed';
    fact.error = error;
    const isHandled = this.isHandled(scope, path);
    // A failure that becomes unhandled later does not change edges that were decided before.
    fact.isIgnored = handling === 'ignored';
    // A node that is cut off may fail in any way, because its scope ends anyway; a retry of the run finds its edges
    // decided. The same holds for a node whose outcome is settled after its scope is over.
    if (scope.isOver || (scope.isEnding && !fact.isCleanup)) {
      const isIgnored = !isHandled && fact.keys.onError === 'ignore';
      this.demand(isIgnored === fact.isIgnored, `${path} is cut off, and is ${handling}`);
      this.isHalted ||= !isHandled && !this.isEnding && fact.keys.onError === 'halt';
      return this.over(path);
    }
    if (handling === 'handled' || isHandled) this.demand(isHandled && handling === 'handled', `${path} is ${handling}`);
    else this.handles(path, scope, fact, handling);
    this.over(path);
  }

  private cancels(path: string, scope: Scope, fact: NodeFact): void {
    // The finally begins first: otherwise it would revive this node, which it does not reach.
    this.revive(scope);
    const isDue = scope.isEnding && fact.status === 'pending' && this.isFollowing(scope, idOf(path));
    const join = isDue ? this.joinOf(scope, idOf(path)) : 'open';
    this.demand(join !== 'satisfied', `${path} is cancelled, and is a cleanup whose join is satisfied`);
    fact.status = 'cancelled';
  }

  /** An attempt fails its node only if no other attempt may follow. */
  private exhausted(path: string, { keys, retries }: NodeFact, error: ErrorFact): void {
    const isLimited = this.definition.config?.maxTotalRetries !== undefined;
    if (keys.action === undefined || isLimited) return;
    const isLeft = error.code === 'WORKER_LOST' ? retries.afterLoss() : retries.afterError(error, path);
    this.demand(!isLeft, `${path} fails by ${error.code}, and may be tried again`);
  }

  /** A target of a matching error edge is not skipped; a disabled one counts. */
  private isHandled(scope: Scope, path: string): boolean {
    return this.view(scope)
      .handlers(idOf(path))
      .some((id) => scope.nodes.get(id)?.status !== 'skipped');
  }

  /**
   * Nothing handles the failure: `onError` decides, then the policy. In a finally the failure fails the scope at its
   * end, unless `halt` ends the run, from any depth.
   */
  private handles(path: string, scope: Scope, fact: NodeFact, handling: string): void {
    const { onError } = fact.keys;
    const policy = scope.policy === 'ignore' ? 'tolerated' : scope.policy === 'fail-fast' ? 'fatal' : 'deferred';
    const atOnce = scope.isEnding ? 'deferred' : 'fatal';
    const halt = this.isEnding ? atOnce : 'fatal';
    const expected =
      onError === 'ignore' ? 'ignored' : onError === 'halt' ? halt : policy === 'fatal' ? atOnce : policy;
    this.demand(handling === expected, `${path} is ${handling}, and should be ${expected}`);
    if (expected === 'fatal' && onError === 'halt') this.isHalted = true;
    if (expected !== 'deferred' || scope.isEnding) return;
    fact.isDeferred = true;
    // Nodes that its `always` edges made ready wait for the finally now.
    for (const [id, other] of scope.nodes)
      if (other.status === 'active' && !other.started && this.joinOf(scope, id) === 'open') other.status = 'pending';
  }

  private branches(path: string, scope: Scope, fact: NodeFact): void {
    const { taken } = fact.output as { taken: string[] };
    const expected = takenBy(fact.keys, this.evaluator(scope));
    this.demand(
      JSON.stringify([...taken].sort()) === JSON.stringify([...expected].sort()),
      `${path} takes ${taken}, not ${expected}`,
    );
    fact.taken = taken;
  }

  private hears(path: string, { keys, output }: NodeFact): void {
    const { payload = null } = (output ?? {}) as { readonly payload?: Json };
    const sent = this.parts.signalOf?.(payload);
    const misfit = sent && signalMisfit(keys, sent, payload);
    this.demand(misfit === undefined, `${path} ends by ${misfit}`);
  }

  private nothingLeft(scope: Scope): void {
    if (scope.isOver) return;
    this.revive(scope);
    for (const [id, fact] of scope.nodes) {
      if (fact.status !== 'pending') continue;
      const join = this.joinOf(scope, id);
      const isDue = !scope.isEnding || (join === 'satisfied' && this.isFollowing(scope, id));
      this.demand(join === 'open' || !isDue, `${pathOf(scope, id)} is left, and its join is ${join}`);
    }
    this.demand(scope.isEnding || !this.isFinallyDue(scope), `the finally of '${scope.path}' is left`);
  }

  /** Independent nodes have finished, and others wait for the finally of a failure with `finish-running`. */
  private isFinallyDue(scope: Scope): boolean {
    const nodes = [...scope.nodes];
    const pending = nodes.filter(([, { status }]) => status === 'pending');
    const isBusy = nodes.some(([, { status }]) => status === 'active');
    return !isBusy && pending.length > 0 && pending.every(([id]) => this.joinOf(scope, id) === 'open');
  }

  /** Cancels nodes that have not begun, in the scope and in all below it; a cleanup that runs already continues. */
  private ends(path: string, isCleaning: boolean | undefined): void {
    for (const scope of this.within(path)) {
      // A scope that is ending already, and a cleanup that runs, end only if every finally is skipped.
      if (isCleaning !== false && (scope.isEnding || this.isSpared(scope, path))) continue;
      const cleanup = this.view(scope).cleanup();
      scope.isEnding = true;
      if (isCleaning === false) scope.isRevived = undefined;
      for (const [id, fact] of scope.nodes) {
        if (fact.status === 'pending' || (fact.status === 'active' && !fact.started)) fact.status = 'cancelled';
        if (fact.status === 'active' && cleanup.has(id)) fact.isCleanup = true;
      }
      this.touched.add(scope);
    }
  }

  /** The scope belongs to a cleanup that continues when the scope or node at the path ends. */
  private isSpared({ path, owner }: Scope, top: string): boolean {
    if (owner === '' || path === top || owner === top) return false;
    const around = this.find(owner);
    return around !== undefined && (around.fact.isCleanup || this.isSpared(around.scope, top));
  }

  /** Once nothing else runs, the targets of taken `always` edges and the nodes that follow them may run. */
  private revive(scope: Scope): void {
    if (!scope.isEnding) return;
    if (scope.isRevived === false) this.beginFinally(scope);
    // Nodes that cannot be reached any more need no entry of their own.
    for (const [id, fact] of scope.nodes) {
      const join = fact.status === 'pending' ? this.joinOf(scope, id) : 'open';
      if (join !== 'choice' && join !== 'failure') continue;
      Object.assign(fact, { status: 'skipped', cause: join });
      return this.revive(scope);
    }
  }

  private beginFinally(scope: Scope): void {
    const facts = [...scope.nodes.values()];
    if (facts.some(({ status, isUnknown, isCleanup }) => status === 'active' && !isUnknown && !isCleanup)) return;
    scope.isRevived = true;
    for (const id of this.view(scope).mayClean()) {
      const fact = scope.nodes.get(id) as NodeFact;
      if (fact.status !== 'cancelled' || fact.started) continue;
      fact.status = 'pending';
      fact.isCleanup = true;
    }
  }

  private over(path: string): void {
    for (const scope of this.within(path)) if (path !== '') scope.isOver = true;
  }

  private within(path: string): Scope[] {
    return [...this.scopes.values()].filter(
      (scope) => path === '' || scope.path === path || scope.path.startsWith(`${path}/`),
    );
  }

  private finishes({ status }: Extract<Entry, { type: 'run.finished' }>): void {
    this.isFinished = true;
    const root = this.scopes.get('');
    if (root === undefined) return;
    this.nothingLeft(root);
    const nodes = [...root.nodes];
    const failed = nodes.filter(
      ([id, fact]) => fact.status === 'failed' && fact.keys.onError !== 'ignore' && !this.isHandled(root, id),
    );
    const counts = root.policy === 'ignore' ? [] : failed;
    const ends = nodes.filter(([, { status: of, keys }]) => of === 'completed' && keys.terminate !== undefined);
    const isTerminated = ends.length > 0 || this.isTerminated;
    if (this.isReplayed) return;
    if (status === 'completed')
      this.demand(counts.length === 0, `it completes although ${counts.map(([id]) => id)} failed`);
    if (status === 'failed')
      this.demand(counts.length > 0 || isTerminated || this.isHalted, 'it fails, and nothing that counts has failed');
    for (const [id, fact] of status === 'completed' && !isTerminated ? nodes : []) {
      const isDone = ['completed', 'failed', 'skipped', 'disabled'].includes(fact.status);
      this.demand(isDone, `it completes while ${id} is ${fact.status}`);
    }
  }

  private reopen({ nodes, open = [], renewed = [] }: Extract<Entry, { type: 'run.reopened' }>): void {
    this.isReplayed ||= renewed.length > 0;
    this.isFinished = false;
    this.isHalted = false;
    this.isEnding = false;
    for (const scope of this.scopes.values()) {
      Object.assign(scope, { isEnding: false, isRevived: false });
      for (const fact of scope.nodes.values()) fact.isDeferred = false;
    }
    for (const path of nodes) {
      for (const scope of [...this.scopes.keys()])
        if (scope === path || scope.startsWith(`${path}/`)) this.scopes.delete(scope);
      const { scope, id, fact } = this.find(path) ?? {};
      if (scope !== undefined && id !== undefined && fact !== undefined) {
        scope.nodes.set(id, blankFact(fact.keys, scope.retry));
        this.touched.add(scope);
      }
    }
    for (const path of open) {
      const { fact } = this.find(path) ?? {};
      if (fact !== undefined) Object.assign(fact, { status: 'active', isCleanup: false });
      for (const scope of this.scopes.values())
        if (scope.path === path || scope.path.startsWith(`${path}/`)) scope.isOver = false;
    }
  }

  private whenOf(scope: Scope, { when }: Keys): Json {
    return when === undefined ? true : this.evaluator(scope)(when as string);
  }

  private joinOf(scope: Scope, id: string): Join {
    return this.view(scope).join(id);
  }

  private isFollowing(scope: Scope, id: string): boolean {
    return this.view(scope).cleanup().has(id);
  }

  private view(scope: Scope): View {
    const factOf = (id: string): Fact => {
      const fact = scope.nodes.get(id) as NodeFact;
      if (!scope.isEnding) return fact;
      // While a scope ends, an unknown outcome counts as cancelled.
      const status = fact.isUnknown && fact.status === 'active' ? 'cancelled' : fact.status;
      return { ...fact, status, isDeferred: false };
    };
    return new View(scope.graph, factOf, this.evaluator(scope));
  }

  private evaluator({ index }: Scope): Evaluate {
    return evaluatorOf({ input: this.input, index });
  }

  /** A node of an open scope is one of its definition; the failure node is in no graph. */
  private isInGraph(path: string): void {
    const cut = path.lastIndexOf('/');
    const scope = this.scopes.get(path.slice(0, Math.max(0, cut)));
    const id = path.slice(cut + 1);
    if (scope === undefined || scope.nodes.has(id) || path === this.definition.config?.failureNode) return;
    this.demand(false, `${path} is not in the definition`);
  }

  private find(path: string): { scope: Scope; id: string; fact: NodeFact } | undefined {
    const cut = path.lastIndexOf('/');
    const scope = this.scopes.get(path.slice(0, Math.max(0, cut)));
    const id = path.slice(cut + 1);
    const fact = scope?.nodes.get(id);
    return scope === undefined || fact === undefined ? undefined : { scope, id, fact };
  }

  private demand(holds: boolean, complaint: string): void {
    if (!holds) this.parts.complain(complaint);
  }
}

function blankFact(keys: Keys, retry: unknown): NodeFact {
  const own = keys.retry ?? (keys.action === undefined ? undefined : retry);
  return {
    keys,
    status: 'pending',
    started: false,
    isIgnored: false,
    isUnknown: false,
    isSettled: false,
    isCleanup: false,
    isDeferred: false,
    retries: new Retries(own),
  };
}

function idOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function pathOf({ path }: Scope, id: string): string {
  return path === '' ? id : `${path}/${id}`;
}
