/** The graph of a definition or body, as LANGUAGE.md describes it: nodes, and for each node its incoming edges by source. */
import type { Json } from '@nebula/core';

export type Keys = Readonly<Record<string, unknown>>;

export interface Edge {
  readonly from: string;
  readonly to: string;
  /** `case`: an edge of a branch. */
  readonly on: 'success' | 'error' | 'always' | 'result' | 'case';
  readonly when?: string;
  readonly match?: Json;
}

export interface BodyKeys {
  readonly nodes?: Readonly<Record<string, Keys>>;
  readonly edges?: readonly (Keys | string)[];
  readonly output?: Json;
}

type Incoming = ReadonlyMap<string, readonly Edge[]>;

export class Graph {
  readonly nodes: Readonly<Record<string, Keys>>;
  readonly edges: readonly Edge[];
  private readonly into = new Map<string, Map<string, Edge[]>>();
  private readonly outOf = new Map<string, Edge[]>();

  /** `aside`: the failure node, which is not part of the graph. */
  constructor(body: BodyKeys, aside?: string) {
    const { [aside ?? '']: _, ...nodes } = body.nodes ?? {};
    this.nodes = nodes;
    this.edges = edgesOf(nodes, body.edges ?? []);
    for (const edge of this.edges) {
      const sources = this.into.get(edge.to) ?? new Map<string, Edge[]>();
      this.into.set(edge.to, sources.set(edge.from, [...(sources.get(edge.from) ?? []), edge]));
      this.outOf.set(edge.from, [...(this.outOf.get(edge.from) ?? []), edge]);
    }
  }

  /** Joins count sources: several edges from one source are one. */
  incoming(id: string): Incoming {
    return this.into.get(id) ?? new Map();
  }

  outgoing(id: string): readonly Edge[] {
    return this.outOf.get(id) ?? [];
  }

  /** The nodes and everything downstream. */
  closure(ids: Iterable<string>): Set<string> {
    const found = new Set(ids);
    for (const id of found) for (const { to } of this.outgoing(id)) found.add(to);
    return found;
  }
}

function edgesOf(nodes: Readonly<Record<string, Keys>>, listed: readonly (Keys | string)[]): Edge[] {
  const cases = Object.entries(nodes).flatMap(([from, node]) =>
    targetsOf(node.branch as Keys | undefined).map((to): Edge => ({ from, to, on: 'case' })),
  );
  const isCase = (from: string, to: string): boolean => cases.some((edge) => edge.from === from && edge.to === to);
  const needs = Object.entries(nodes).flatMap(([to, node]) =>
    ((node.needs ?? []) as readonly string[]).map((from): Edge => ({ from, to, on: 'success' })),
  );
  const others = listed.map((edge): Edge => {
    if (typeof edge === 'string') return shortEdge(edge);
    return { on: 'success', ...edge } as unknown as Edge;
  });
  // `needs: [branch]` on a named target is the case's own edge.
  const isSecond = (edge: Edge): boolean =>
    edge.on === 'success' && edge.when === undefined && isCase(edge.from, edge.to);
  return [...cases, ...[...needs, ...others].filter((edge) => !isSecond(edge))];
}

function shortEdge(text: string): Edge {
  const [from = '', to = ''] = text.split('->').map((part) => part.trim());
  return { from, to, on: 'success' };
}

/** All targets of a branch, each once. */
function targetsOf(branch: Keys | undefined): string[] {
  if (branch === undefined) return [];
  const cases = Array.isArray(branch.cases)
    ? (branch.cases as Keys[]).map(({ to }) => to)
    : Object.values(branch.cases as Keys);
  return [...new Set([...cases, branch.default ?? []].flatMap(listOf))];
}

export function listOf(targets: unknown): string[] {
  return typeof targets === 'string' ? [targets] : [...(targets as readonly string[])];
}
