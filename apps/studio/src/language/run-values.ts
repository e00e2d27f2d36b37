/** The values of a run, as expressions read them: the newest run of the workflow gives examples while one types. */
import { createBudget, type Json, type JsonObject, type Scope } from '@nebula/core';

export interface NodeValues {
  readonly status: string;
  readonly output: Json;
  readonly input: Json;
  readonly error: JsonObject | null;
  readonly attempts: number;
}

export interface RunValues {
  readonly executionId: string;
  readonly workflowId: string;
  readonly version: number;
  readonly startedAt: string;
  readonly input: Json;
  readonly trigger: Json;
  readonly variables: JsonObject;
  /** By path: `fetch`, `items/0/pack`. */
  readonly nodes: Readonly<Record<string, NodeValues>>;
}

/** The item of a loop around an expression. */
export interface LoopValues {
  readonly item: Json;
  readonly index: number;
  readonly items: Json;
}

/**
 * What an expression in this graph reads. `graph` is the path of the node with the body: `items` for a node
 * `items/pack`; its first iteration stands for all.
 */
export function scopeOf(run: RunValues, graph: string, loop?: LoopValues): Scope {
  const prefixes = prefixesOf(graph);
  const find = (id: string): NodeValues | undefined => {
    for (const prefix of prefixes) {
      const found = run.nodes[prefix + id];
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return {
    input: run.input,
    trigger: run.trigger,
    vars: run.variables,
    execution: { id: run.executionId, startedAt: run.startedAt, attempt: 1 },
    workflow: { id: run.workflowId, version: run.version },
    node: (id) => {
      const values = find(id);
      return values === undefined
        ? undefined
        : {
            output: values.output,
            input: values.input,
            status: values.status,
            success: values.status === 'completed',
            error: values.error as never,
            attempts: values.attempts,
          };
    },
    nodeIds: () => Object.keys(run.nodes).filter((path) => !path.includes('/')),
    ...(loop !== undefined && { loop }),
  };
}

/** Where the nodes of a graph and of those around it are, the innermost first: `outer/0/inner/0/`, `outer/0/`, ``. */
function prefixesOf(graph: string): string[] {
  const prefixes = [''];
  if (graph === '') return prefixes;
  for (const id of graph.split('/')) {
    const around = prefixes[0] as string;
    // A group has no iterations.
    prefixes.unshift(`${around}${id}/0/`, `${around}${id}/`);
  }
  return prefixes;
}

export type Evaluation = { readonly value: Json } | { readonly error: string };

/** `evaluate` is that of a compiled value. */
export function evaluated(
  evaluate: (scope: Scope, budget: ReturnType<typeof createBudget>) => Json,
  scope: Scope,
): Evaluation {
  try {
    return { value: evaluate(scope, createBudget()) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
