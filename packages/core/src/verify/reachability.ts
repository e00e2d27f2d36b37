/**
 * Computes which nodes of a graph can run at all, and which edges can ever be taken. Nodes are visited in topological
 * order.
 *
 *  1. A result of "impossible" is certain; a result of "possible" is not.
 *  2. A node ends onward (completed, skipped as disabled, or failed and ignored) or failed (permanently, or cut off); a
 *     branch that ends onward has taken one of its cases. These choices exclude each other.
 *  3. `requires` contains, for nodes whose edges exclude each other, the choices without which a node does not run.
 *     `vetoes` contains the nodes whose failure causes the node to be skipped. Both may be incomplete, but never wrong.
 */
import { type EdgePlan, isPlain, type NodePlan } from '../plan/plan.ts';
import type { Steps } from '../steps.ts';
import type { Chances } from './cases.ts';
import { constantTruth } from './constant.ts';

/** Choices of a node as bits: failed, then onward; or one bit per case of a branch and one for its default. */
type Choices = bigint;

type Requirements = ReadonlyMap<number, Choices>;

const FAILED: Choices = 1n;
const ONWARD: Choices = 2n;
const NONE: Requirements = new Map();
const NO_VETOES: ReadonlySet<number> = new Set();

/** Maximum number of requirements per node; the oldest are dropped first. */
const MAX_REQUIREMENTS = 24;

/** Larger joins are not analysed; they count as possible. */
const MAX_JOIN = 64;

/** Search budget for edges that can be taken together; beyond it, they count as possible. */
const MAX_SEARCH_STEPS = 10_000;

/** Facts about single edges and cases. */
export interface Knowledge {
  /** The reason why an edge is never taken, regardless of its source. */
  faultOf(edge: EdgePlan): string | undefined;
  /** The chances of the cases of a branch. */
  chancesOf(node: NodePlan): Chances | undefined;
}

export interface NodeReachability {
  readonly node: NodePlan;
  /** Whether the join can be satisfied. */
  readonly isJoined: boolean;
  readonly canRun: boolean;
  readonly onward: boolean;
  readonly failed: boolean;
  readonly requires: Requirements;
  readonly vetoes: ReadonlySet<number>;
}

/** An edge that is not taken in any run in which its target runs. */
export interface Vetoed {
  readonly edge: EdgePlan;
  /** The edge is taken only after a failure of this node or, for `always`, also after its success. */
  readonly failing: NodePlan;
  /** The edge that is dead by failure in that case. */
  readonly by: EdgePlan;
}

export class Reachability {
  private readonly knowledge: Knowledge;
  private readonly nodeReachability: NodeReachability[] = [];
  private readonly masks = new Map<EdgePlan, Choices>();
  private readonly deciders = new Set<number>();
  /** Nodes that may run as a finally: targets of always edges and their successors. */
  private readonly cleaning = new Set<number>();
  private readonly nodes: readonly NodePlan[];

  constructor(nodes: readonly NodePlan[], knowledge: Knowledge) {
    this.nodes = nodes;
    this.knowledge = knowledge;
  }

  /** Must run before any query. */
  *find(): Steps<void> {
    for (const node of this.nodes.toSorted((a, b) => a.level - b.level)) {
      yield;
      this.nodeReachability[node.index] = this.reachabilityOf(node);
      this.decide(node);
    }
  }

  of(node: NodePlan): NodeReachability {
    return this.nodeReachability[node.index] as NodeReachability;
  }

  /** Whether `one` runs only if `other` has failed. */
  needsFailure(one: NodePlan, other: NodePlan): boolean {
    return this.of(one).requires.get(other.index) === FAILED;
  }

  /** Whether the edge can ever be taken. */
  isOpen(edge: EdgePlan): boolean {
    if (this.knowledge.faultOf(edge) !== undefined) return false;
    const { onward, failed } = this.of(edge.from);
    const mask = this.masks.get(edge) as Choices;
    // Nothing runs after the end of a run or an iteration, except its cleanup nodes.
    if (this.isLast(edge) && this.cleaning.has(edge.to.index)) return true;
    return (failed && (mask & FAILED) !== 0n) || (onward && (mask & ~FAILED) !== 0n);
  }

  /** The edges into a node with `join: all` that need a failure which makes another edge dead by failure. */
  vetoed(node: NodePlan): Vetoed[] {
    const { join, incoming } = node;
    const { vetoes } = this.of(node);
    if (join !== 'all' || vetoes.size === 0) return [];
    const found: Vetoed[] = [];
    for (const edge of incoming) {
      if (!this.isOpen(edge)) continue;
      for (const [decider, choices] of this.requirements(edge)) {
        const isOwn = edge.on === 'always' && edge.from.index === decider;
        if (!vetoes.has(decider) || !(choices === FAILED || isOwn)) continue;
        const by = incoming.find((one) => this.vetoesOf(one).has(decider)) as EdgePlan;
        found.push({ edge, failing: this.nodes[decider] as NodePlan, by });
        break;
      }
    }
    return found;
  }

  private reachabilityOf(node: NodePlan): NodeReachability {
    if (node.incoming.some(({ on, from }) => on === 'always' || this.cleaning.has(from.index))) {
      this.cleaning.add(node.index);
    }
    const open = node.incoming.filter((edge) => this.isOpen(edge));
    const vetoes = this.vetoesAt(node);
    const required = node.join === 'ended' ? NONE : this.requirementsOf(open);
    const requires = this.withoutFailures(required, node.join === 'all' ? vetoes : NO_VETOES);
    const isJoined = node.incoming.length === 0 || this.canJoin(node, open, vetoes);
    const canRun = isJoined && constantTruth(node.when) !== false;
    // An edge condition that cannot be evaluated fails the node before it runs.
    const canFail = canRun || node.incoming.some((edge) => !isPlain(edge) && (this.isOpen(edge) || this.isLast(edge)));
    const canComplete = canRun && !endsScope(node);
    return {
      node,
      isJoined,
      canRun,
      onward: canComplete || (!node.enabled && isJoined) || (node.onError === 'ignore' && canFail),
      failed: canFail,
      requires: requires ?? NONE,
      vetoes,
    };
  }

  private isLast({ from }: EdgePlan): boolean {
    return endsScope(from) && this.of(from).canRun;
  }

  private canJoin({ join }: NodePlan, open: readonly EdgePlan[], vetoes: ReadonlySet<number>): boolean {
    if (join === 'ended') return true;
    if (join === 'all') return open.some((edge) => this.withoutFailures(this.requirements(edge), vetoes) !== undefined);
    const sources = sourcesOf(open);
    if (sources.length < join) return false;
    return (
      join === 1 ||
      join > MAX_JOIN ||
      canBeTogether(
        sources.map((edges) => this.requirementsOf(edges)),
        join,
      )
    );
  }

  /** Nodes whose failure makes the join impossible. A source that also has an edge for failures is not one of them. */
  private vetoesAt({ join, incoming }: NodePlan): ReadonlySet<number> {
    if (join === 'ended') return NO_VETOES;
    const sources = sourcesOf(incoming);
    const counts = new Map<number, number>();
    for (const edges of sources) {
      const [first] = edges;
      if (first === undefined || edges.some(takesFailures)) continue;
      for (const veto of this.vetoesOf(first)) counts.set(veto, (counts.get(veto) ?? 0) + 1);
    }
    if (counts.size === 0) return NO_VETOES;
    const needed = join === 'all' ? 1 : sources.length - join + 1;
    const vetoes = [...counts].filter(([, count]) => count >= needed).map(([veto]) => veto);
    return new Set(vetoes.slice(-MAX_REQUIREMENTS));
  }

  /** Nodes whose failure makes the edge dead by failure. */
  private vetoesOf(edge: EdgePlan): ReadonlySet<number> {
    if (takesFailures(edge)) return NO_VETOES;
    const { from } = edge;
    const { vetoes } = this.of(from);
    return this.deciders.has(from.index) ? new Set([...vetoes, from.index]) : vetoes;
  }

  /** The requirements, given that none of these nodes fails; undefined when that is impossible. */
  private withoutFailures(requirements: Requirements, vetoes: ReadonlySet<number>): Requirements | undefined {
    if (vetoes.size === 0) return requirements;
    const without = new Map(requirements);
    for (const veto of vetoes) {
      const choices = (without.get(veto) ?? this.allOf(veto)) & ~FAILED;
      if (choices === 0n) return undefined;
      without.set(veto, choices);
    }
    return without;
  }

  private allOf(decider: number): Choices {
    const { outgoing } = this.nodes[decider] as NodePlan;
    return outgoing.reduce((all, edge) => all | (this.masks.get(edge) as Choices), ONWARD | FAILED);
  }

  /** At least one of the edges is taken, so requirements common to all of them apply. */
  private requirementsOf(open: readonly EdgePlan[]): Requirements {
    const [first, ...others] = open.map((edge) => this.requirements(edge));
    if (first === undefined || first.size === 0) return NONE;
    const shared = new Map<number, Choices>();
    for (const [decider, choices] of first) {
      let all: Choices | undefined = choices;
      for (const other of others) {
        const more = other.get(decider);
        all = all === undefined || more === undefined ? undefined : all | more;
      }
      if (all !== undefined) shared.set(decider, all);
    }
    return shared;
  }

  private requirements(edge: EdgePlan): Requirements {
    const { requires } = this.of(edge.from);
    if (!this.deciders.has(edge.from.index)) return requires;
    const own = new Map(requires);
    own.set(edge.from.index, this.masks.get(edge) as Choices);
    for (const [oldest] of own) {
      if (own.size <= MAX_REQUIREMENTS) break;
      own.delete(oldest);
    }
    return own;
  }

  private decide(node: NodePlan): void {
    const chances = this.knowledge.chancesOf(node);
    const onward = chances && onwardMasks(chances, node.work.kind === 'branch' && node.work.many);
    const masks = node.outgoing.map((edge) => maskOf(edge, onward));
    for (const [at, edge] of node.outgoing.entries()) this.masks.set(edge, masks[at] as Choices);
    const distinct = [...new Set(masks)];
    const mayExclude = distinct.length > 1 && distinct.some((one) => (one & FAILED) !== 0n);
    const isDecider =
      mayExclude || distinct.includes(FAILED) || distinct.some((one) => distinct.some((two) => (one & two) === 0n));
    if (isDecider) this.deciders.add(node.index);
  }
}

/** The run, or the iteration, ends when the node has completed. */
export function endsScope({ work, breaks }: NodePlan): boolean {
  return work.kind === 'terminate' || breaks;
}

function maskOf({ on, key }: EdgePlan, onward: ((key: string) => Choices) | undefined): Choices {
  if (on === 'error') return FAILED;
  return (on === 'always' ? FAILED : 0n) | (onward === undefined ? ONWARD : onward(key));
}

/** By the key of an edge, the choices of a branch with which the edge is taken. */
function onwardMasks({ cases, otherwise }: Chances, isMany: boolean): (key: string) => Choices {
  const choices = [...cases, otherwise];
  const all = (ONWARD << BigInt(choices.length)) - ONWARD;
  const masks = new Map<string, Choices>();
  for (const [at, { to, never }] of choices.entries()) {
    const own = never === undefined ? ONWARD << BigInt(at) : 0n;
    for (const key of to) masks.set(key, (masks.get(key) ?? 0n) | own);
  }
  return (key) => {
    const mask = masks.get(key);
    return mask === undefined || (isMany && mask !== 0n) ? all : mask;
  };
}

function takesFailures({ on }: EdgePlan): boolean {
  return on === 'error' || on === 'always';
}

/** Groups edges by source, because joins count several edges from one node once. */
function sourcesOf(edges: readonly EdgePlan[]): readonly (readonly EdgePlan[])[] {
  const sources = new Map<NodePlan, EdgePlan[]>();
  for (const edge of edges) {
    const known = sources.get(edge.from);
    if (known === undefined) sources.set(edge.from, [edge]);
    else known.push(edge);
  }
  return [...sources.values()];
}

function canBeTogether(edges: readonly Requirements[], needed: number): boolean {
  let steps = 0;
  const search = (from: number, chosen: number, so: Requirements): boolean => {
    if (chosen === needed || ++steps > MAX_SEARCH_STEPS) return true;
    for (let at = from; edges.length - at >= needed - chosen; at++) {
      const both = together(so, edges[at] as Requirements);
      if (both !== undefined && search(at + 1, chosen + 1, both)) return true;
    }
    return false;
  };
  return search(0, 0, NONE);
}

/** Returns undefined when the requirements exclude each other. */
function together(a: Requirements, b: Requirements): Requirements | undefined {
  if (a.size === 0 || b.size === 0) return a.size === 0 ? b : a;
  const both = new Map(a);
  for (const [decider, choices] of b) {
    const left = choices & (a.get(decider) ?? choices);
    if (left === 0n) return undefined;
    both.set(decider, left);
  }
  return both;
}
