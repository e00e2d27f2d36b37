/** The iterations of every loop of a run, as the drawing takes them: one code for each. */
import { type Graph, type Iterations, pathInRun, type Scopes, statusCode } from '@nebula/canvas/model';
import type { IterationHistory, RunHistory } from '@nebula/core/view';

/** By the path of the loop in the run. `until`: the moment that is looked at. */
export function stripsOf(graph: Graph, history: RunHistory, scopes: Scopes, until: number): Map<string, Iterations> {
  const strips = new Map<string, Iterations>();
  for (const { id, kind } of graph.nodes.values()) {
    if (kind !== 'loop') continue;
    const path = pathInRun(graph, id, scopes);
    const iterations = history.iterations(path);
    if (iterations.length > 0)
      strips.set(
        path,
        Uint8Array.from(iterations, (one) => statusCode(statusAt(one, until))),
      );
  }
  return strips;
}

function statusAt(iteration: IterationHistory | undefined, until: number): Parameters<typeof statusCode>[0] {
  if (iteration === undefined || iteration.startedAt > until) return 'pending';
  if (iteration.endedAt === null || iteration.endedAt > until || iteration.status === 'open') return 'running';
  return iteration.status;
}
