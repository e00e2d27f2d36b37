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
export type NodePaths = ReadonlyMap<NodePlan, { readonly workflowId: string; readonly path: string }>;

export class Coverage {
  readonly data: CoverageData = {};

  /** Adds entries for everything in the plan, including inlined workflows. */
  survey(plan: Plan): NodePaths {
    const paths = new Map<NodePlan, { workflowId: string; path: string }>();
    const visit = (graph: GraphPlan, workflowId: string, prefix: string): void => {
      this.data[workflowId] ??= { nodes: {}, edges: {} };
      const { nodes, edges } = this.data[workflowId];
      for (const node of graph.nodes) {
        const path = `${prefix}${node.id}`;
        paths.set(node, { workflowId, path });
        nodes[path] ??= 0;
        for (const edge of node.outgoing) if (!isImplied(edge)) edges[edgeName(prefix, edge)] ??= 0;
        const { work } = node;
        if (work.kind === 'inline') visit(work.workflow.root, work.workflow.workflowId, '');
        else if ('body' in work) visit(work.body, workflowId, `${path}/`);
      }
    };
    visit(plan.root, plan.workflowId, '');
    return paths;
  }

  ran(paths: NodePaths, node: NodePlan): void {
    const address = paths.get(node);
    // A node of a returned graph, or a compensation, is not part of any definition.
    if (address === undefined) return;
    const { nodes } = this.of(address.workflowId);
    nodes[address.path] = (nodes[address.path] ?? 0) + 1;
  }

  taken(paths: NodePaths, edge: EdgePlan): void {
    const address = paths.get(edge.from);
    if (address === undefined || isImplied(edge)) return;
    const { edges } = this.of(address.workflowId);
    const name = edgeName(address.path.slice(0, address.path.length - edge.from.id.length), edge);
    edges[name] = (edges[name] ?? 0) + 1;
  }

  add(data: CoverageData): void {
    for (const [workflowId, { nodes, edges }] of Object.entries(data)) {
      const counts = this.of(workflowId);
      for (const [path, count] of Object.entries(nodes)) counts.nodes[path] = (counts.nodes[path] ?? 0) + count;
      for (const [name, count] of Object.entries(edges)) counts.edges[name] = (counts.edges[name] ?? 0) + count;
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
