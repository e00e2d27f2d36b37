/**
 * Which nodes of a graph can run at all, and which edges can ever be taken. Nodes are looked at in topological order.
 *
 *  1 What is said to be impossible is impossible; what is said to be possible need not be.
 *  2 A node ends onward (completed, passed over, or failed and ignored) or handled (failed, and an error edge takes it);
 *    a branch that ends onward has taken one of its cases. These choices exclude each other.
 *  3 `requires` has, for nodes whose edges exclude each other, the choices without which a node does not run. It may
 *    know less than is true, never more.
 */
import { type EdgePlan, isPlain, type NodePlan } from '../plan/plan.ts';
import type { Chances } from './cases.ts';
import { constantTruth } from './constant.ts';

/** Choices of a node as bits: handled, then onward, or one bit for each case of a branch and one for its default. */
type Choices = bigint;

type Requirements = ReadonlyMap<number, Choices>;

const HANDLED: Choices = 1n;
const ONWARD: Choices = 2n;
const NONE: Requirements = new Map();

/** Requirements of one node; the oldest are forgotten first. */
const MAX_REQUIREMENTS = 24;

/** More edges that must be taken together than anybody writes down; they count as possible. */
const MAX_JOIN = 64;

/** Steps in search of edges that can be taken together; beyond, they count as possible. */
const MAX_SEARCH_STEPS = 10_000;

/** What is known of single edges and cases. */
export interface Knowledge {
  /** Why an edge is never taken, whatever its source comes to. */
  faultOf(edge: EdgePlan): string | undefined;
  /** Of a branch. */
  chancesOf(node: NodePlan): Chances | undefined;
}

export interface NodeWays {
  readonly node: NodePlan;
  /** Its join can be satisfied. */
  readonly isJoined: boolean;
  readonly canRun: boolean;
  readonly onward: boolean;
  readonly handled: boolean;
  readonly requires: Requirements;
}

export class Ways {
  private readonly knowledge: Knowledge;
  private readonly ways: NodeWays[] = [];
  private readonly masks = new Map<EdgePlan, Choices>();
  private readonly deciders = new Set<number>();

  constructor(nodes: readonly NodePlan[], knowledge: Knowledge) {
    this.knowledge = knowledge;
    for (const node of nodes.toSorted((a, b) => a.level - b.level)) {
      this.ways[node.index] = this.waysOf(node);
      this.decide(node);
    }
  }

  of(node: NodePlan): NodeWays {
    return this.ways[node.index] as NodeWays;
  }

  /** Whether the one runs only where the other has failed. */
  needsFailure(one: NodePlan, other: NodePlan): boolean {
    return this.of(one).requires.get(other.index) === HANDLED;
  }

  /** Whether the edge can ever be taken. */
  isOpen(edge: EdgePlan): boolean {
    if (this.knowledge.faultOf(edge) !== undefined) return false;
    const { onward, handled } = this.of(edge.from);
    const mask = this.masks.get(edge) as Choices;
    return (handled && (mask & HANDLED) !== 0n) || (onward && (mask & ~HANDLED) !== 0n);
  }

  private waysOf(node: NodePlan): NodeWays {
    const open = node.incoming.filter((edge) => this.isOpen(edge));
    const isJoined = node.incoming.length === 0 || this.canJoin(node, open);
    const canRun = isJoined && constantTruth(node.when) !== false;
    // A condition of an edge that cannot be evaluated fails the node before it runs.
    const canFail = canRun || open.some((edge) => !isPlain(edge));
    const canComplete = canRun && node.work.kind !== 'terminate';
    return {
      node,
      isJoined,
      canRun,
      onward: canComplete || (!node.enabled && isJoined) || (node.onError === 'ignore' && canFail),
      handled: canFail,
      requires: this.requirementsOf(open),
    };
  }

  private canJoin({ join }: NodePlan, open: readonly EdgePlan[]): boolean {
    const needed = join === 'all' ? 1 : join;
    if (new Set(open.map(({ from }) => from)).size < needed) return false;
    return (
      needed === 1 ||
      needed > MAX_JOIN ||
      canBeTogether(
        open.map((edge) => this.requirements(edge)),
        needed,
      )
    );
  }

  /** At least one of the edges is taken, so what all of them require is required. */
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
    const masks = node.outgoing.map((edge) => maskOf(edge, chances));
    for (const [at, edge] of node.outgoing.entries()) this.masks.set(edge, masks[at] as Choices);
    const distinct = [...new Set(masks)];
    const isDecider =
      distinct.includes(HANDLED) || distinct.some((one) => distinct.some((other) => (one & other) === 0n));
    if (isDecider) this.deciders.add(node.index);
  }
}

function maskOf(edge: EdgePlan, chances: Chances | undefined): Choices {
  if (edge.on === 'error') return HANDLED;
  const failed = edge.on === 'always' ? HANDLED : 0n;
  return failed | (chances === undefined ? ONWARD : onwardOf(edge, chances));
}

function onwardOf({ key, from }: EdgePlan, { cases, otherwise }: Chances): Choices {
  const choices = [...cases, otherwise];
  const isCase = choices.some(({ to }) => to.includes(key));
  if (!isCase) return (ONWARD << BigInt(choices.length)) - ONWARD;
  const isMany = from.work.kind === 'branch' && from.work.many;
  let mask = 0n;
  choices.forEach(({ to, never }, at) => {
    if (never === undefined && to.includes(key)) mask |= ONWARD << BigInt(at);
  });
  return isMany && mask !== 0n ? (ONWARD << BigInt(choices.length)) - ONWARD : mask;
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

/** Undefined when they exclude each other. */
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
