/** A run as its expressions see it. */
import type { RunError } from '../../error.ts';
import { ExpressionError, type LoopView, type NodeView, type Scope } from '../../expression/index.ts';
import type { TestPart } from '../../plan/pin.ts';
import { digest, utf8 } from '../../sha.ts';
import { isJsonList, type Json, type JsonObject } from '../../value.ts';
import type { Turn } from '../decide/turn.ts';
import { type BlobLookup, resolveValue } from '../journal/stored-value.ts';
import { batchOf, bodyOf, endingOf, generationOf, pathOf, runError, stateIn, statusOf } from './selectors.ts';
import type { Batch, BodyState, NodeState, RunState, ScopeState } from './state.ts';
import { testPartOf } from './test-parts.ts';

export class RunScope implements Scope {
  private readonly state: RunState;
  private readonly scope: ScopeState;
  private readonly lookup: BlobLookup;
  private readonly ending: NodeEnding | undefined;
  private readonly iteration: EndedIteration | undefined;
  readonly self?: NodeView;
  /** The node (null: the run) and the key of the expression that is evaluated; they seed `draw`. */
  private drawer: NodeState | null | undefined;
  private where = '';
  private drawn = 0;

  /** `ending`: a node whose end is being decided; its edges see it in its final status. */
  constructor(
    state: RunState,
    scope: ScopeState,
    lookup: BlobLookup,
    ending?: NodeEnding,
    more: { readonly iteration?: EndedIteration; readonly self?: NodeView } = {},
  ) {
    this.state = state;
    this.scope = scope;
    this.lookup = lookup;
    this.ending = ending;
    this.iteration = more.iteration;
    if (more.self !== undefined) this.self = more.self;
  }

  /**
   * The scope of a composite node's expressions after an iteration: they see its output as `$self.output`, and its
   * number.
   */
  static afterIteration(state: RunState, node: NodeState, lookup: BlobLookup, iteration: EndedIteration): RunScope {
    const ending: NodeEnding = { node, status: 'completed', output: iteration.output, error: null };
    const self = new EndingView(ending, lookup, state);
    return new RunScope(state, node.scope, lookup, undefined, { iteration, self });
  }

  /** The scope of a node's own expressions once its output is known. */
  static ofNode(state: RunState, node: NodeState, lookup: BlobLookup, output: Json): RunScope {
    const ending: NodeEnding = { node, status: 'completed', output, error: null };
    return new RunScope(state, node.scope, lookup, ending, { self: new EndingView(ending, lookup, state) });
  }

  /**
   * Names the expression that is evaluated next: each expression draws its own values, the same in every evaluation.
   */
  at(node: NodeState | null, where: string): this {
    this.drawer = node;
    this.where = where;
    this.drawn = 0;
    return this;
  }

  draw(): Uint8Array {
    const { drawer, state, where, iteration } = this;
    if (drawer === undefined)
      throw new ExpressionError('EXPRESSION_VALUE', 'uuid() and random() cannot be used in this expression');
    const [path, generation] = drawer === null ? ['', state.reopened] : [pathOf(drawer), generationOf(drawer)];
    const seedParts = [state.seed, state.executionId, path, generation, where, iteration?.index ?? null, this.drawn++];
    return digest('sha256', utf8(JSON.stringify(seedParts)));
  }

  get input(): Json {
    return resolveValue(this.scope.realm.input, this.lookup);
  }

  get trigger(): Json {
    return this.state.trigger;
  }

  get vars(): JsonObject {
    const vars: Record<string, Json> = Object.create(null);
    for (const [name, stored] of this.scope.realm.vars) vars[name] = resolveValue(stored, this.lookup);
    return vars;
  }

  get execution(): JsonObject {
    return {
      id: this.state.executionId,
      startedAt: new Date(this.state.startedAt).toISOString(),
      attempt: this.state.reopened + 1,
      error: this.failure as Json,
    };
  }

  /** The error of the innermost failing scope in a finally, else that of the run. */
  private get failure(): RunError | null {
    const { root } = this.state;
    const ending = endingOf(this.state);
    const error = runError(this.state);
    let at = this.scope;
    for (; at.parent !== null; at = at.parent.scope) {
      const failure = at.stopping?.error ?? at.deferredError;
      if (failure !== null) return failure;
    }
    return ending?.error ?? root.stopping?.error ?? root.deferredError ?? error;
  }

  get workflow(): JsonObject {
    const { workflowId, version } = this.scope.realm;
    return { id: workflowId, version };
  }

  /** Finds the node in this scope or in the nearest one around it. An inline workflow sees only its own nodes. */
  node(id: string): NodeView | undefined {
    let inner: ScopeState | undefined;
    for (let scope: ScopeState | undefined = this.scope; scope !== undefined; scope = scopeAround(scope)) {
      const node = scope.nodes[scope.graph.indexOf.get(id) ?? -1];
      if (node === undefined) {
        inner = scope;
        continue;
      }
      if (inner?.parent === node && isSplit(node)) return new ItemView(node, this.lookup, this.state, inner);
      return this.ending?.node === node
        ? new EndingView(this.ending, this.lookup, this.state)
        : new StateView(node, this.lookup, this.state);
    }
    return undefined;
  }

  *nodeIds(): Iterable<string> {
    for (let scope: ScopeState | undefined = this.scope; scope !== undefined; scope = scopeAround(scope)) {
      yield* scope.graph.indexOf.keys();
    }
  }

  get loop(): LoopView | undefined {
    if (this.iteration === undefined) return loopAround(this.scope, this.lookup);
    const outer = loopAround(this.scope, this.lookup);
    return { item: null, index: this.iteration.index, items: null, ...(outer === undefined ? {} : { parent: outer }) };
  }
}

/** An iteration that has ended: its number and its output. */
export interface EndedIteration {
  readonly index: number;
  readonly output: Json;
}

/** The scope whose nodes a scope sees besides its own. */
function scopeAround(scope: ScopeState): ScopeState | undefined {
  return scope.parent?.plan.work.kind === 'inline' ? undefined : scope.parent?.scope;
}

function loopAround(scope: ScopeState, lookup: BlobLookup): LoopView | undefined {
  for (let at: ScopeState | undefined = scope; at?.parent != null; at = scopeAround(at)) {
    const { kind } = at.parent.plan.work;
    if (kind === 'forEach' || kind === 'while' || kind === 'retryUntil') return new StateLoop(at, lookup);
  }
  return undefined;
}

class StateLoop implements LoopView {
  private readonly scope: ScopeState;
  private readonly lookup: BlobLookup;

  constructor(scope: ScopeState, lookup: BlobLookup) {
    this.scope = scope;
    this.lookup = lookup;
  }

  get index(): number {
    return this.scope.iteration;
  }

  get item(): Json {
    const { body } = this;
    const batch = body && batchOf(body, this.index);
    if (batch === undefined) return null;
    return itemsOf(batch, this.lookup)[this.index - batch.from] ?? null;
  }

  /** The result of the iteration before, for iterations that run one after the other. */
  get previous(): Json | undefined {
    const { parent, iteration } = this.scope;
    const { work } = parent?.plan ?? {};
    if (work?.kind === 'forEach' && work.maxConcurrency > 1) return undefined;
    const before = work?.kind === 'forEach' ? iteration - 1 : 0;
    return iteration === 0 ? null : resolveValue(this.body?.results[before], this.lookup);
  }

  get items(): Json {
    const lists = this.batches.map((batch) => itemsOf(batch, this.lookup));
    return lists.length === 1 ? (lists[0] ?? []) : lists.flat(1);
  }

  private get batches(): BodyState['items'] {
    return this.body?.items ?? [];
  }

  private get body(): BodyState | undefined {
    const { parent } = this.scope;
    return parent === null ? undefined : bodyOf(parent);
  }

  get parent(): LoopView | undefined {
    const around = scopeAround(this.scope);
    return around === undefined ? undefined : loopAround(around, this.lookup);
  }
}

/** The items of a batch; a forEach is opened with lists only. */
function itemsOf({ items }: Batch, lookup: BlobLookup): readonly Json[] {
  const list = resolveValue(items, lookup);
  return isJsonList(list) ? list : [];
}

/**
 * The output of a workflow is its `output`, else the outputs of the completed end nodes. The output of a body without
 * `output` is that of its only end node, if it has just one.
 */
export function scopeOutput(turn: Turn, scope: ScopeState): Json {
  const { test } = turn.state.plan;
  const part = test && testPartOf(test, scope);
  if (part !== undefined) return targetOutput(turn, scope, part);
  if (scope.graph.output !== undefined) return ownOutput(turn, scope);
  const [only, ...others] = scope.graph.ends;
  if (isWorkflow(scope) || others.length > 0) return outputsOfEnds(turn, scope);
  if (only === undefined) return null;
  return new StateView(stateIn(scope, only), turn.lookup, turn.state).output;
}

/** The output of a graph in which a test has its target is that of the target; null if it has none. */
function targetOutput({ lookup }: Turn, scope: ScopeState, { target }: TestPart): Json {
  const node = scope.nodes[scope.graph.indexOf.get(target) ?? -1];
  return node?.phase.status === 'completed' ? resolveValue(node.output, lookup) : null;
}

function isWorkflow({ parent }: ScopeState): boolean {
  return parent === null || parent.plan.work.kind === 'inline';
}

function ownOutput({ state, lookup, budgets }: Turn, scope: ScopeState): Json {
  // The number distinguishes iterations; `reopened` distinguishes the outputs of the run.
  const view = new RunScope(state, scope, lookup).at(scope.parent, `output ${scope.iteration}`);
  return scope.graph.output?.evaluate(view, budgets.next()) ?? null;
}

function outputsOfEnds({ lookup }: Turn, scope: ScopeState): Json {
  const outputs: Record<string, Json> = Object.create(null);
  for (const end of scope.graph.ends) {
    const node = stateIn(scope, end);
    if (node.phase.status === 'completed') outputs[end.id] = resolveValue(node.output, lookup);
  }
  return outputs;
}

/** How a node is about to end. */
export interface NodeEnding {
  readonly node: NodeState;
  readonly status: 'completed' | 'failed' | 'skipped' | 'cancelled';
  readonly output: Json;
  readonly error: RunError | null;
}

class StateView implements NodeView {
  private readonly state: NodeState;
  private readonly lookup: BlobLookup;
  private readonly run: RunState;

  constructor(state: NodeState, lookup: BlobLookup, run: RunState) {
    this.state = state;
    this.lookup = lookup;
    this.run = run;
  }

  get callbackUrl(): string | undefined {
    return callbackUrlOf(this.run, this.state);
  }

  get output(): Json {
    return this.state.phase.status === 'completed' ? resolveValue(this.state.output, this.lookup) : null;
  }

  get status(): string {
    return statusOf(this.state.phase);
  }

  get success(): boolean {
    return this.state.phase.status === 'completed';
  }

  get error(): RunError | null {
    const { phase } = this.state;
    return phase.status === 'failed' || phase.status === 'unknown' || phase.status === 'waiting' ? phase.error : null;
  }

  get attempts(): number {
    return attemptsOf(this.state);
  }

  get input(): Json {
    return resolveValue(this.state.input, this.lookup);
  }
}

function isSplit({ plan: { work } }: NodeState): boolean {
  return work.kind === 'forEach' && work.isSplit;
}

/** A split as its iterations see it: its output is the item. */
class ItemView extends StateView {
  private readonly loop: StateLoop;

  constructor(state: NodeState, lookup: BlobLookup, run: RunState, iteration: ScopeState) {
    super(state, lookup, run);
    this.loop = new StateLoop(iteration, lookup);
  }

  override get output(): Json {
    return this.loop.item;
  }
}

class EndingView implements NodeView {
  readonly output: Json;
  readonly status: string;
  readonly success: boolean;
  readonly error: RunError | null;
  readonly attempts: number;
  readonly input: Json;
  private readonly node: NodeState;
  private readonly run: RunState;

  constructor({ node, status, output, error }: NodeEnding, lookup: BlobLookup, run: RunState) {
    this.node = node;
    this.run = run;
    this.output = output;
    this.status = status;
    this.success = status === 'completed';
    this.error = error;
    this.attempts = attemptsOf(node);
    this.input = resolveValue(node.input, lookup);
  }
  get callbackUrl(): string | undefined {
    return callbackUrlOf(this.run, this.node);
  }
}

/**
 * The number of attempts in this iteration. Attempt numbers continue over the iterations of a composite node that is
 * repeated.
 */
function attemptsOf({ attempts, scope }: NodeState): number {
  return attempts - (scope.parent?.attemptsBefore ?? 0);
}

/** The address depends only on the node's path and generation, so it is the same each time. */
function callbackUrlOf({ plan, executionId }: RunState, node: NodeState): string | undefined {
  const { work } = node.plan;
  if (work.kind !== 'wait' || !work.waits.some(({ kind }) => kind === 'callback')) return undefined;
  if (plan.callbackUrl !== undefined) return plan.callbackUrl(executionId, pathOf(node), generationOf(node));
  throw new ExpressionError('EXPRESSION_VALUE', `'${node.plan.id}' can be called only where a server runs`, {
    hint: 'start the workflow with a server: nebula serve',
  });
}
