/** Builds the edges of a graph from `needs`, the cases of branches and `edges`, without duplicates. */
import type { EdgeDefinition } from '../definition/model.ts';
import { idsInOrder } from '../node-order.ts';
import { type DocumentPath, didYouMean, type Problem } from '../problem.ts';
import { canonicalJson, isJsonObject } from '../value.ts';
import { FROM_CASE, type Graph, packAdjacency } from './graph.ts';

/** The part of a definition or body that determines its graph. */
export interface GraphDefinition {
  readonly nodes?: Readonly<Record<string, { readonly needs?: readonly string[]; readonly branch?: unknown }>>;
  readonly edges?: readonly EdgeDefinition[];
  readonly order?: readonly string[];
}

export interface GraphBuild {
  readonly graph: Graph;
  /** Unknown nodes, self-loops and duplicates; the source map adds the ranges. */
  readonly problems: readonly Problem[];
}

const GRAPH_LIMITS = {
  /** Limit of name comparisons for suggestions; with 100,000 nodes, each suggestion costs 100,000. */
  maxComparisons: 2_000_000,
} as const;

export function buildGraph(definition: GraphDefinition): GraphBuild {
  return new GraphBuilder(definition).build();
}

class GraphBuilder {
  readonly #definition: GraphDefinition;
  readonly #ids: string[];
  readonly #indexOf: Map<string, number>;
  readonly #from: number[] = [];
  readonly #to: number[] = [];
  readonly #origin: number[] = [];
  readonly #casePaths = new Map<number, DocumentPath>();
  readonly #problems: Problem[] = [];
  /** Plain edges by their pair of nodes; created when there are edges besides `needs`. */
  #plain: Set<number> | undefined;
  #comparisons = 0;

  constructor(definition: GraphDefinition) {
    this.#definition = definition;
    this.#ids = idsInOrder(definition);
    this.#indexOf = new Map(this.#ids.map((id, index) => [id, index]));
  }

  build(): GraphBuild {
    this.#addNeeds();
    this.#addCases();
    this.#addEdges();
    const edgeFrom = Int32Array.from(this.#from);
    const edgeTo = Int32Array.from(this.#to);
    const count = this.#ids.length;
    return {
      graph: {
        ids: this.#ids,
        indexOf: this.#indexOf,
        edgeFrom,
        edgeTo,
        edgeOrigin: Int32Array.from(this.#origin),
        casePaths: this.#casePaths,
        outgoing: packAdjacency(count, edgeFrom),
        incoming: packAdjacency(count, edgeTo),
      },
      problems: this.#problems,
    };
  }

  #addNeeds(): void {
    // seenBy[from] === to + 1: the edge from → to already exists. One array serves all targets, without hashing.
    const seenBy = new Int32Array(this.#ids.length);
    this.#ids.forEach((id, to) => {
      const needs = this.#definition.nodes?.[id]?.needs ?? [];
      needs.forEach((need, position) => {
        const path = ['nodes', id, 'needs', position];
        const from = this.#resolve(need, path);
        if (from === undefined) return;
        if (from === to) this.#reportSelfLoop(id, path);
        else if (seenBy[from] === to + 1) this.#reportDuplicate(`'${need}' is in the needs of '${id}' twice`, path);
        else {
          seenBy[from] = to + 1;
          this.#add(from, to, -1 - position);
        }
      });
    });
  }

  /** Runs before `edges`, so that the edge of a case is the first between its nodes. */
  #addCases(): void {
    this.#ids.forEach((id, from) => {
      const branch = this.#definition.nodes?.[id]?.branch;
      if (branch === undefined) return;
      for (const target of branchTargets(branch)) {
        const path = ['nodes', id, 'branch', ...target.path];
        const to = this.#resolve(target.id, path);
        if (to === undefined) continue;
        const plain = this.#plainEdges();
        if (from === to) this.#reportSelfLoop(id, path);
        else if (!plain.has(this.#pair(from, to))) {
          plain.add(this.#pair(from, to));
          this.#casePaths.set(this.#from.length, path);
          this.#add(from, to, FROM_CASE);
        }
      }
    });
  }

  #plainEdges(): Set<number> {
    this.#plain ??= new Set(this.#from.map((from, edge) => this.#pair(from, this.#to[edge] ?? 0)));
    return this.#plain;
  }

  #addEdges(): void {
    const { edges = [] } = this.#definition;
    if (edges.length === 0) return;
    const known = this.#plainEdges();
    const seen = new Set<number | string>();
    edges.forEach((edge, index) => {
      const from = this.#resolve(edge.from, ['edges', index, 'from']);
      const to = this.#resolve(edge.to, ['edges', index, 'to']);
      if (from === undefined || to === undefined) return;
      const path = ['edges', index];
      const pair = this.#pair(from, to);
      const plain = (edge.on ?? 'success') === 'success' && edge.when === undefined && edge.match === undefined;
      const identity = plain ? pair : `${pair} ${conditionOf(edge)}`;
      if (from === to) this.#reportSelfLoop(edge.from, path);
      else if (seen.has(identity))
        this.#reportDuplicate(`the edge from '${edge.from}' to '${edge.to}' is given twice`, path);
      else if (!plain || !known.has(pair)) this.#add(from, to, index);
      seen.add(identity);
    });
  }

  /** Encodes an ordered pair as one number, below 2^53 for any number of nodes that the language allows. */
  #pair(from: number, to: number): number {
    return from * this.#ids.length + to;
  }

  #add(from: number, to: number, origin: number): void {
    this.#from.push(from);
    this.#to.push(to);
    this.#origin.push(origin);
  }

  #resolve(id: string, path: DocumentPath): number | undefined {
    const index = this.#indexOf.get(id);
    if (index !== undefined) return index;
    let near: string | undefined;
    if (this.#comparisons < GRAPH_LIMITS.maxComparisons) {
      this.#comparisons += this.#ids.length;
      near = didYouMean(id, this.#ids);
    }
    const hint = near === undefined ? knownNodes(this.#ids) : `did you mean '${near}'?`;
    this.#problems.push({ severity: 'error', code: 'UNKNOWN_NODE', message: `there is no node '${id}'`, hint, path });
    return undefined;
  }

  #reportSelfLoop(id: string, path: DocumentPath): void {
    const hint = 'a node cannot wait for itself; to repeat it, use retry';
    this.#problems.push({ severity: 'error', code: 'SELF_LOOP', message: `the node '${id}' needs itself`, hint, path });
  }

  #reportDuplicate(message: string, path: DocumentPath): void {
    this.#problems.push({
      severity: 'warning',
      code: 'DUPLICATE_EDGE',
      message,
      hint: 'the duplicate has no effect; remove one',
      path,
    });
  }
}

function conditionOf({ on = 'success', when, match }: EdgeDefinition): string {
  return canonicalJson([on, when ?? null, match ?? null]);
}

function knownNodes(ids: readonly string[]): string {
  if (ids.length === 0) return 'the workflow has no nodes';
  const shown = ids.slice(0, 8).join(', ');
  return `the nodes are ${shown}${ids.length > 8 ? `, and ${ids.length - 8} more` : ''}`;
}

/** The target nodes of a branch. Accepts drafts, in which any value may have any type. */
interface BranchTarget {
  readonly id: string;
  readonly path: DocumentPath;
}

function branchTargets(branch: unknown): BranchTarget[] {
  if (!isJsonObject(branch)) return [];
  const found: BranchTarget[] = [];
  const add = (targets: unknown, path: DocumentPath): void => {
    if (typeof targets === 'string') found.push({ id: targets, path });
    else if (Array.isArray(targets)) {
      for (const [index, id] of targets.entries())
        if (typeof id === 'string') found.push({ id, path: [...path, index] });
    }
  };
  const { cases } = branch;
  if (Array.isArray(cases)) {
    for (const [index, one] of cases.entries()) if (isJsonObject(one)) add(one.to, ['cases', index, 'to']);
  } else if (isJsonObject(cases)) {
    for (const key of Object.keys(cases)) add(cases[key], ['cases', key]);
  }
  add(branch.default, ['default']);
  return found;
}
