/** Counts which nodes and edges of workflows ran, over any number of runs. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { isImplied, type Plan } from '@nebula/core';

type GraphPlan = Plan['root'];
type NodePlan = GraphPlan['nodes'][number];
type EdgePlan = NodePlan['outgoing'][number];

export interface WorkflowCoverage {
  readonly workflowId: string;
  readonly nodes: { readonly total: number; readonly ran: number; readonly never: readonly string[] };
  readonly edges: { readonly total: number; readonly taken: number; readonly never: readonly string[] };
}

/** Counts by path; nodes and edges that never ran have the count 0. Plain data, so that processes can share it. */
export type CoverageData = Record<string, { nodes: Record<string, number>; edges: Record<string, number> }>;

/** The path of each node of a plan in its definition. */
export type Places = ReadonlyMap<NodePlan, { readonly workflowId: string; readonly path: string }>;

export class Coverage {
  readonly data: CoverageData = {};

  /** Adds entries for everything in the plan, including inlined workflows. */
  survey(plan: Plan): Places {
    const places = new Map<NodePlan, { workflowId: string; path: string }>();
    const visit = (graph: GraphPlan, workflowId: string, prefix: string): void => {
      this.data[workflowId] ??= { nodes: {}, edges: {} };
      const { nodes, edges } = this.data[workflowId];
      for (const node of graph.nodes) {
        const path = `${prefix}${node.id}`;
        places.set(node, { workflowId, path });
        nodes[path] ??= 0;
        for (const edge of node.outgoing) if (!isImplied(edge)) edges[edgeName(prefix, edge)] ??= 0;
        const { work } = node;
        if (work.kind === 'inline') visit(work.workflow.root, work.workflow.workflowId, '');
        else if ('body' in work) visit(work.body, workflowId, `${path}/`);
      }
    };
    visit(plan.root, plan.workflowId, '');
    return places;
  }

  ran(places: Places, node: NodePlan): void {
    const place = places.get(node);
    // A node of a returned graph, or a compensation, is not part of any definition.
    if (place === undefined) return;
    const { nodes } = this.of(place.workflowId);
    nodes[place.path] = (nodes[place.path] ?? 0) + 1;
  }

  taken(places: Places, edge: EdgePlan): void {
    const place = places.get(edge.from);
    if (place === undefined || isImplied(edge)) return;
    const { edges } = this.of(place.workflowId);
    const name = edgeName(place.path.slice(0, place.path.length - edge.from.id.length), edge);
    edges[name] = (edges[name] ?? 0) + 1;
  }

  add(data: CoverageData): void {
    for (const [workflowId, { nodes, edges }] of Object.entries(data)) {
      const own = this.of(workflowId);
      for (const [path, count] of Object.entries(nodes)) own.nodes[path] = (own.nodes[path] ?? 0) + count;
      for (const [name, count] of Object.entries(edges)) own.edges[name] = (own.edges[name] ?? 0) + count;
    }
  }

  summary(): WorkflowCoverage[] {
    return Object.entries(this.data).map(([workflowId, { nodes, edges }]) => {
      const [ran, neverRan] = parted(nodes);
      const [taken, neverTaken] = parted(edges);
      return {
        workflowId,
        nodes: { total: ran + neverRan.length, ran, never: neverRan },
        edges: { total: taken + neverTaken.length, taken, never: neverTaken },
      };
    });
  }

  private of(workflowId: string): CoverageData[string] {
    this.data[workflowId] ??= { nodes: {}, edges: {} };
    return this.data[workflowId];
  }
}

/** Formats an edge as `charge -> apologise (error)`. */
function edgeName(prefix: string, { key, from, to, on }: EdgePlan): string {
  const number = key === to.id ? '' : key.slice(to.id.length);
  return `${prefix}${from.id} -> ${to.id}${number}${on === 'success' ? '' : ` (${on})`}`;
}

function parted(counts: Readonly<Record<string, number>>): [number, string[]] {
  const never = Object.keys(counts).filter((key) => counts[key] === 0);
  return [Object.keys(counts).length - never.length, never];
}

/** Environment variable with the folder to which processes write their coverage. */
export const COVERAGE_DIR = 'NEBULA_TEST_COVERAGE';

let shared: Coverage | undefined;

/** Returns undefined when coverage is not requested. */
export function processCoverage(): Coverage | undefined {
  const dir = process.env[COVERAGE_DIR];
  if (dir === undefined || dir === '') return undefined;
  if (shared === undefined) {
    const coverage = new Coverage();
    shared = coverage;
    process.once('exit', () => writeFileSync(path.join(dir, `${process.pid}.json`), JSON.stringify(coverage.data)));
  }
  return shared;
}
