/**
 * A reference interpreter of the language, written from LANGUAGE.md and the readings in SPEC.md. It knows no journal,
 * queue, clock or slot: the caller says which of the ready nodes begin, and how each attempt ended. Naive on purpose:
 * after each event it visits every node of every open scope until nothing changes.
 *
 *  1 A scope is `live`, then `stopping` while running nodes are cut off, then in its `finally`, then `ended`. A scope
 *    without a failure goes from `live` to `ended`.
 *  2 A node changes only in the turn of its scope; edges are functions of the nodes, and are not stored.
 *  3 `isUnspecified`: the language leaves open what happens, such as which of two events comes first.
 */
import type { Json } from '@nebula/core';
import { type BodyKeys, Graph } from './graph.ts';
import {
  type Cause,
  type ErrorFact,
  type Evaluate,
  evaluatorOf,
  type Fact,
  type Join,
  joinOf,
  takenBy,
} from './meaning.ts';
import {
  blankNode,
  bodyOutput,
  type Ending,
  factOfNode,
  hasDoubtfulSource,
  IDLE,
  isAction,
  isCleanup,
  isLoop,
  isUntouched,
  type Node,
  nodeOf,
  noteCleanupError,
  OPEN,
  roundsOf,
  type Scope,
  type Status,
  undoPath,
} from './state.ts';
import { View } from './view.ts';

type Policy = 'fail-fast' | 'finish-running' | 'ignore';

const EXPRESSION: ErrorFact = { code: 'EXPRESSION_FAILED', kind: 'USER', message: 'an expression failed' };
const TOO_FEW: ErrorFact = { code: 'TOO_FEW_SUCCEEDED', kind: 'USER', message: 'too few iterations succeeded' };

export interface WorkflowKeys extends BodyKeys {
  readonly config?: { readonly onFailure?: Policy; readonly failureNode?: string; readonly maxParallelism?: number };
}

export class Interpreter {
  readonly root: Scope;
  isUnspecified = false;
  private readonly definition: WorkflowKeys;
  private readonly input: Json;
  /** Completed nodes that can be undone, in the order of completion. */
  private done: Node[] = [];
  /** Nodes that are being undone, last first; undefined before. */
  private undoing: Node[] | undefined;
  private failureNode: 'none' | 'pending' | 'running' | 'ended';
  private cancels = 0;
  /** A change that needs no attempt happened since the last event: it could have come later. */
  private isHasty = false;

  constructor(definition: WorkflowKeys, input: Json = {}) {
    this.definition = definition;
    this.input = input;
    const { failureNode } = definition.config ?? {};
    this.failureNode = failureNode === undefined ? 'none' : 'pending';
    this.root = this.open(definition, undefined, 0, failureNode);
    this.advanceAll();
  }

  get status(): 'running' | 'compensating' | Ending['status'] {
    if (this.root.phase !== 'ended') return 'running';
    if ((this.undoing?.length ?? 0) > 0 || this.failureNode === 'running') return 'compensating';
    return (this.root.ending as Ending).status;
  }

  get error(): ErrorFact | undefined {
    return this.root.ending?.error;
  }

  /** The statuses of the root nodes, by id. */
  statuses(): Record<string, Status> {
    return Object.fromEntries(Array.from(this.root.nodes, ([id, { status }]) => [id, status]));
  }

  /** Returns whether a root node never started and cannot, or only in a finally. */
  isUnrun(id: string): boolean {
    const { status, started } = nodeOf(this.root, id);
    return this.root.isEarly && !started && ['pending', 'skipped', 'cancelled'].includes(status);
  }

  /** Paths of attempts under way, including those that are being cut off. */
  running(): string[] {
    const paths = this.nodes()
      .filter((node) => node.status === 'running' && isAction(node))
      .map(({ path }) => path);
    const [undo] = this.undoing ?? [];
    if (undo !== undefined) paths.push(undoPath('', undo));
    for (const { path, undoing } of this.nodes())
      if (undoing[0] !== undefined) paths.push(undoPath(`${path}/`, undoing[0]));
    if (this.failureNode === 'running') paths.push(this.definition.config?.failureNode as string);
    return paths.sort();
  }

  /** Running attempts that were told to stop. */
  stopping(): string[] {
    return this.nodes()
      .filter((node) => node.status === 'running' && isAction(node) && node.isStopping)
      .map(({ path }) => path);
  }

  /** Nodes that could run and have no slot yet. */
  queued(): string[] {
    return this.nodes()
      .filter(({ status }) => status === 'queued')
      .map(({ path }) => path);
  }

  /** Begins an attempt, after every change that needs none. */
  start(path: string): void {
    const node = this.find(path);
    if (node?.status !== 'queued') return;
    node.isFollower = this.isFollowing(node);
    node.status = 'running';
    node.started = true;
  }

  complete(path: string, output: Json = null): void {
    const node = this.find(path);
    if (node === undefined) this.aside(path);
    else this.completed(node, output);
    this.advanceAll();
  }

  fail(path: string, error: ErrorFact): void {
    const node = this.find(path);
    if (node === undefined) this.aside(path, true);
    else if (!node.isStopping && node.retries.afterError(error, node.path)) node.status = 'waiting';
    else if (node.isStopping) node.status = 'cancelled';
    else this.failed(node, error);
    this.advanceAll();
  }

  /** The attempt ended because it was told to stop. */
  breakOff(path: string): void {
    const node = this.find(path);
    if (node !== undefined) node.status = 'cancelled';
    this.advanceAll();
  }

  /** The worker of all attempts is gone; attempts that may be repeated are. */
  lose(error: ErrorFact): void {
    for (const node of this.nodes()) {
      if (node.status !== 'running' || !isAction(node)) continue;
      if (node.isStopping) node.status = 'cancelled';
      else if (node.retries.afterLoss()) node.status = 'waiting';
      else this.failed(node, error);
    }
    this.advanceAll();
  }

  /** Every delay is over, and so is the grace time of attempts that were told to stop. */
  tick(): void {
    for (const node of this.nodes()) {
      if (node.status === 'waiting' && isAction(node)) node.status = 'queued';
      else if (node.status === 'waiting') this.enter(node);
      if (node.status === 'running' && node.isStopping && isAction(node)) node.status = 'cancelled';
    }
    this.advanceAll();
  }

  cancel(): void {
    if (this.root.phase === 'ended') return;
    this.cancels++;
    if (this.cancels === 1) this.end(this.root, { status: 'cancelled', error: { code: 'CANCELLED' } });
    else this.skipCleanup(this.root);
    this.advanceAll();
  }

  private open(body: BodyKeys, owner: Node | undefined, index: number, aside?: string): Scope {
    const path = owner === undefined ? '' : isLoop(owner.keys) ? `${owner.path}/${index}` : owner.path;
    const graph = new Graph(body, aside);
    const nodes = new Map<string, Node>();
    const scope: Scope = {
      ...{ path, graph, owner, index, nodes, phase: 'live' },
      ...{ ending: undefined, deferred: undefined, tolerated: undefined, cleanupError: undefined },
      ...{ isEarly: false, isCut: false },
    };
    for (const [id, keys] of Object.entries(graph.nodes)) {
      nodes.set(id, blankNode(id, path === '' ? id : `${path}/${id}`, keys, scope));
    }
    owner?.iterations.push(scope);
    return scope;
  }

  private advanceAll(): void {
    while (this.scopes().some((scope) => this.advance(scope)));
    this.isHasty = false;
    if (this.root.phase === 'ended') this.endRun();
  }

  /** Compensation, then the failure node. */
  private endRun(): void {
    const { status } = this.root.ending as Ending;
    if (status === 'completed') return;
    this.undoing ??= this.done.reverse();
    if (this.undoing.length === 0 && this.failureNode === 'pending' && status !== 'cancelled')
      this.failureNode = 'running';
  }

  /** A compensation, or the failure node, has ended; in any case the next one follows. */
  private aside(path: string, isFailed = false): void {
    if (path === this.definition.config?.failureNode) this.failureNode = 'ended';
    const around = path.slice(0, Math.max(0, path.indexOf('/~undo/')));
    const composite = around === '' ? undefined : this.find(around);
    if (composite === undefined) {
      this.undoing?.shift();
      return;
    }
    const undone = composite.undoing.shift();
    // A node that could not be undone is tried again when the run is undone.
    if (!isFailed) this.done = this.done.filter((other) => other !== undone);
    composite.isStained ||= isFailed;
    if (composite.undoing.length > 0) return;
    if (composite.isStained) this.failed(composite, composite.error as ErrorFact);
    else composite.status = 'waiting';
  }

  /** Makes one change in a scope. Returns false if there is none. */
  private advance(scope: Scope): boolean {
    const nodes = [...scope.nodes.values()];
    if (scope.phase === 'ended') return false;
    if (scope.phase !== 'live' && this.view(scope).hasBrokenEdge) this.isUnspecified = true;
    if (scope.phase === 'stopping') {
      if (nodes.some(({ status, isCleanup }) => OPEN.includes(status) && (scope.isCut || !isCleanup))) return false;
      scope.phase = 'finally';
      this.revive(scope);
      return true;
    }
    const changed = nodes.some((node) => this.judge(node)) || nodes.some((node) => this.decide(node));
    if (changed) return true;
    // Independent nodes have finished: now the finally of a deferred failure begins.
    const isBusy = nodes.some(({ status }) => OPEN.includes(status) || status === 'unknown');
    if (scope.phase === 'live' && !isBusy && nodes.some(({ status }) => status === 'pending')) {
      this.end(scope, { status: 'failed', error: scope.deferred });
      return true;
    }
    const blocking: readonly Status[] = scope.phase === 'live' ? [...OPEN, 'pending', 'unknown'] : OPEN;
    if (nodes.some(({ status }) => blocking.includes(status))) return false;
    for (const node of nodes) if (node.status === 'pending') node.status = 'cancelled';
    this.close(scope);
    return true;
  }

  /** The targets of taken `always` edges, and the nodes that may follow them, get their chance. */
  private revive(scope: Scope): void {
    if (scope.isCut) return;
    const cleanup = this.view(scope).mayClean();
    if (hasDoubtfulSource(scope, cleanup)) this.isUnspecified = true;
    for (const id of cleanup) {
      const node = nodeOf(scope, id);
      if (!isUntouched(node)) continue;
      if (node.wasQueued) this.isUnspecified = true;
      node.status = 'pending';
      node.isCleanup = true;
    }
  }

  private decide(node: Node): boolean {
    if (node.status !== 'pending') return false;
    const join = this.joinOf(node);
    if (join === 'open') return false;
    if (join === 'satisfied' && node.scope.phase === 'finally' && !this.isFollowing(node)) return false;
    const isFollower = this.isFollowing(node);
    if (join === 'satisfied' && isFollower && this.isOversupplied(node)) this.isUnspecified = true;
    if (join === 'satisfied') this.begin(node);
    else if (join === 'broken') this.failed(node, EXPRESSION);
    else this.skip(node, join);
    // Until an attempt begins, an edge may make a queued node part of a cleanup.
    if (!OPEN.includes(node.status) || node.started) node.isFollower = isFollower;
    return true;
  }

  /** More edges were taken at once than the join needs: the first of them decides how the node begins. */
  private isOversupplied({ id, keys: { join }, scope }: Node): boolean {
    const count = this.view(scope)
      .sources(id)
      .filter((one) => one === 'taken').length;
    return join !== undefined && join !== 'all' && count > (join === 'any' ? 1 : (join as number));
  }

  private begin(node: Node): void {
    const { keys } = node;
    const evaluate = this.evaluator(node.scope);
    if (keys.enabled === false) {
      node.isDisabled = true;
      return this.skip(node, 'choice');
    }
    const when = keys.when === undefined ? true : evaluate(keys.when as string);
    if (when === 'broken') return this.failed(node, EXPRESSION);
    if (when !== true) return this.skip(node, 'choice');
    if (isAction(node)) {
      node.status = 'queued';
      return;
    }
    node.started = true;
    if (keys.terminate !== undefined) return this.terminate(node);
    if (keys.set !== undefined) this.completed(node, keys.set as Json);
    else if (keys.branch !== undefined) this.branch(node, evaluate);
    else this.enter(node);
    this.isHasty = true;
  }

  private skip(node: Node, cause: Cause): void {
    node.status = 'skipped';
    node.cause = cause;
  }

  private branch(node: Node, evaluate: Evaluate): void {
    const taken = takenBy(node.keys, evaluate);
    if (taken === 'broken') return this.failed(node, EXPRESSION);
    node.taken = taken;
    this.completed(node, { taken: [...taken] });
  }

  private terminate(node: Node): void {
    this.noteRace(node);
    if (node.scope.phase !== 'live') this.isUnspecified = true;
    this.completed(node, null);
    const status = node.keys.terminate as 'completed' | 'failed';
    this.end(this.root, { status, error: status === 'failed' ? { code: 'TERMINATED' } : undefined });
  }

  private completed(node: Node, output: Json): void {
    const { owner } = node.scope;
    const isBreak = node.keys.break === true && owner !== undefined && node.scope.phase === 'live';
    if (isBreak) this.noteRace(node);
    node.status = 'completed';
    node.output = output;
    if (node.keys.compensate !== undefined && !isCleanup(node)) this.done.push(node);
    if (node.keys.break === true && owner !== undefined) owner.isBroken = true;
    if (!isBreak) return;
    this.end(node.scope, { status: 'completed' });
  }

  private failed(node: Node, error: ErrorFact): void {
    node.status = 'failed';
    node.error = error;
    node.wasHandled = this.isHandled(node);
  }

  /** A target of a matching error edge is not skipped; a disabled one counts. */
  private isHandled({ id, scope }: Node): boolean {
    const targets = this.view(scope)
      .handlers(id)
      .map((target) => nodeOf(scope, target));
    return targets.some(({ status, isDisabled }) => status !== 'skipped' || isDisabled);
  }

  /** Returns whether a failure is handled; an unhandled one has its consequences once. */
  private judge(node: Node): boolean {
    if (node.status !== 'failed' || node.isJudged) return false;
    const { scope, keys, error } = node;
    if (this.isHandled(node)) return false;
    node.isJudged = true;
    if (keys.onError === 'ignore') {
      // Edges that were decided while the failure seemed handled stay as they are.
      node.isIgnored = !node.wasHandled;
      return true;
    }
    const policy = this.definition.config?.onFailure ?? 'fail-fast';
    if (scope.phase !== 'live') {
      if (keys.onError === 'halt') this.end(this.root, { status: 'failed', error });
      if (policy !== 'ignore' || keys.onError === 'halt') noteCleanupError(scope, error);
      else scope.tolerated ??= error;
      return true;
    }
    if (keys.onError === 'halt' || policy === 'fail-fast') this.noteRace(node);
    if (keys.onError === 'halt') this.end(this.root, { status: 'failed', error });
    else if (policy === 'fail-fast') this.end(scope, { status: 'failed', error });
    else if (policy === 'finish-running') this.defer(node);
    else scope.tolerated ??= error;
    // A body that is a cleanup does not end with the run.
    if (keys.onError === 'halt' && scope.phase === 'live') this.isUnspecified = true;
    return true;
  }

  /** The finally of the failure waits for independent nodes, also where an `always` edge had made a node ready. */
  private defer(node: Node): void {
    const { id, scope, error, wasHandled } = node;
    scope.deferred ??= error;
    node.isDeferred = true;
    if (!wasHandled) return;
    for (const { to } of scope.graph.outgoing(id)) {
      const target = nodeOf(scope, to);
      // Such a target may have begun, or have been skipped, before the failure was judged, or not.
      if (!isAction(target) || target.keys.enabled === false || target.keys.when !== undefined)
        this.isUnspecified = true;
      if (target.status === 'queued' && !target.started && this.joinOf(target) === 'open') target.status = 'pending';
    }
  }

  /** Another event could have come first, and not as a consequence of this one. */
  private noteRace(node: Node): void {
    const others = this.scopes().flatMap((scope) => (scope.phase === 'live' ? [...scope.nodes.values()] : []));
    // A failure that seemed handled at first has had consequences by the time it is judged.
    const cause = node.wasHandled ? undefined : node.id;
    const isReady = (other: Node): boolean =>
      (other.status === 'pending' && this.joinOf(other, other.scope === node.scope ? cause : undefined) !== 'open') ||
      (other.status === 'failed' && !other.isJudged && other.keys.onError !== 'ignore');
    if (this.isHasty || others.some((other) => other !== node && isReady(other))) this.isUnspecified = true;
  }

  /** Begins to end the scope early. A cleanup that runs already is left alone. */
  private end(scope: Scope, ending: Ending): void {
    if (scope.phase !== 'live') return;
    scope.phase = 'stopping';
    scope.isEarly = true;
    scope.ending = ending;
    const cleanup = this.view(scope).cleanup();
    for (const node of scope.nodes.values()) {
      node.isCleanup = cleanup.has(node.id) && node.started && OPEN.includes(node.status);
      if (node.isCleanup) continue;
      node.wasQueued = node.status === 'queued';
      if (IDLE.includes(node.status)) node.status = 'cancelled';
      if (node.status !== 'running') continue;
      node.isStopping = true;
      if (node.undoing.length > 0) this.isUnspecified = true;
      for (const iteration of node.iterations) this.end(iteration, { status: 'cancelled' });
    }
  }

  /** Skips all cleanups of the scope. */
  private skipCleanup(scope: Scope): void {
    scope.phase = 'stopping';
    scope.isCut = true;
    for (const node of scope.nodes.values()) {
      if (IDLE.includes(node.status)) node.status = 'cancelled';
      if (node.status !== 'running') continue;
      node.isStopping = true;
      for (const iteration of node.iterations) if (iteration.phase !== 'ended') this.skipCleanup(iteration);
    }
  }

  private close(scope: Scope): void {
    const { deferred, cleanupError, tolerated, owner } = scope;
    const { ending = { status: 'completed' } } = scope;
    const { minSuccess } = (owner?.keys.forEach ?? {}) as { minSuccess?: number };
    const error = deferred ?? cleanupError ?? (minSuccess === undefined ? undefined : tolerated);
    scope.ending = ending.status === 'completed' && error !== undefined ? { status: 'failed', error } : ending;
    scope.phase = 'ended';
    if (owner === undefined) return;
    if (scope.ending.status === 'failed') owner.error ??= scope.ending.error;
    this.round(owner);
  }

  private enter(node: Node): void {
    node.status = 'running';
    node.iterations = [];
    node.error = undefined;
    node.isBroken = false;
    this.round(node);
  }

  /** A composite node begins, or one of its iterations has ended. */
  private round(node: Node): void {
    const { iterations, keys } = node;
    const failures = iterations.filter(({ ending, phase }) => phase === 'ended' && ending?.status === 'failed');
    const total = roundsOf(keys);
    const { minSuccess } = (keys.forEach ?? {}) as { minSuccess?: number };
    // After a break there are no more iterations to succeed in.
    const left = node.isBroken ? iterations.length : total;
    const isLost = failures.length > (minSuccess === undefined ? 0 : left - minSuccess);
    if (isLost && !node.isStopping && (this.definition.config?.onFailure ?? 'fail-fast') === 'fail-fast')
      for (const one of iterations) this.end(one, { status: 'cancelled' });
    if (!isLost && !node.isStopping && !node.isBroken) this.openIterations(node, total);
    if (iterations.some(({ phase }) => phase !== 'ended')) return;
    if (node.isStopping) node.status = 'cancelled';
    else if (isLost) this.compositeFailed(node, minSuccess === undefined ? (node.error as ErrorFact) : TOO_FEW);
    else this.completed(node, keys.forEach === undefined ? bodyOutput(iterations.at(-1)) : iterations.map(bodyOutput));
  }

  /** The node may be tried again, after completed nodes inside are undone. */
  private compositeFailed(node: Node, error: ErrorFact): void {
    if (!node.retries.afterError(error, node.path)) return this.failed(node, error);
    const isInside = ({ path }: Node): boolean => path.startsWith(`${node.path}/`);
    node.error = error;
    node.isStained = false;
    node.undoing = this.done.filter(isInside).reverse();
    if (node.undoing.length === 0) node.status = 'waiting';
  }

  private openIterations(node: Node, total: number): void {
    const { iterations, keys } = node;
    const { parallel = false } = (keys.forEach ?? {}) as { parallel?: boolean };
    while (iterations.length < total && (parallel || iterations.every(({ phase }) => phase === 'ended')))
      this.open((keys.do ?? keys.group) as BodyKeys, node, iterations.length);
  }

  /** `without`: as if nothing were known about this source. */
  private joinOf({ id, keys, scope }: Node, without?: string): Join {
    const view = this.view(scope);
    const sources = view.sources(id, without);
    // The first edge decides, and the order of edges is not recorded.
    const rival = keys.join === undefined ? 'failure' : 'taken';
    if (sources.includes('broken') && sources.includes(rival)) this.isUnspecified = true;
    return joinOf(keys.join, sources);
  }

  private isFollowing({ id, scope }: Node): boolean {
    return this.view(scope).cleanup().has(id);
  }

  private view(scope: Scope): View {
    const factOf = (id: string): Fact => factOfNode(nodeOf(scope, id), scope.phase !== 'live');
    return new View(scope.graph, factOf, this.evaluator(scope));
  }

  private evaluator(scope: Scope): Evaluate {
    const status = (id: string): string => nodeOf(scope, id).status;
    return evaluatorOf({ input: this.input, index: scope.index, status });
  }

  /** Scopes, the innermost first. */
  private scopes(scope: Scope = this.root): Scope[] {
    const inside = [...scope.nodes.values()]
      .flatMap(({ iterations }) => iterations)
      .filter(({ phase }) => phase !== 'ended');
    return [...inside.flatMap((one) => this.scopes(one)), scope];
  }

  private nodes(): Node[] {
    return this.scopes().flatMap((scope) => [...scope.nodes.values()]);
  }

  private find(path: string): Node | undefined {
    return this.nodes().find((node) => node.path === path);
  }
}
