/** The graph of the run: the whole plan from the start, with the state of every node. */

import type { NodeRunState } from '@nebula/canvas/model';
import { NebulaGraph } from '@nebula/canvas/react';
import { type ReactElement, useMemo, useRef } from 'react';
import { useStudio } from '../../app/studio-context.ts';
import { useText } from '../../text/use-text.ts';
import { graphNodeOf, runPathOf } from './lanes.ts';
import type { NodeStates } from './run-record.ts';
import { runText } from './run-text.ts';
import type { RunView } from './run-view.ts';
import type { RunData } from './use-run.ts';

interface RunGraphProps {
  readonly run: RunData;
  readonly states: NodeStates;
  readonly view: RunView;
  onSelect(node: string | undefined): void;
}

export function RunGraph({ run, states, view, onSelect }: RunGraphProps): ReactElement {
  const words = useText(runText);
  const { theme } = useStudio();
  const { graph } = run;
  // The drawing knows nodes of the graph; the iteration that is looked at gives them their state.
  const drawn = useMemo(() => {
    const found = new Map<string, NodeRunState>();
    for (const id of graph.nodes.keys()) {
      const state = states.get(runPathOf(graph, id, view.iterations));
      if (state !== undefined) found.set(id, state);
    }
    return found;
  }, [graph, states, view.iterations]);
  const selected = view.node === undefined ? undefined : graphNodeOf(graph, view.node);
  // The element reports a selection that it is given, too: before React has given it the new handler.
  const latest = useRef({ selected, iterations: view.iterations });
  latest.current = { selected, iterations: view.iterations };
  const selection = useMemo(() => (selected === undefined ? [] : [selected]), [selected]);
  return (
    <NebulaGraph
      graph={graph}
      states={drawn}
      selection={selection}
      theme={theme}
      label={words.graph}
      onSelect={({ detail }) => {
        const node = detail.nodes.at(-1);
        const path = node === undefined ? undefined : runPathOf(graph, node, latest.current.iterations);
        if (node !== latest.current.selected) onSelect(path);
      }}
    />
  );
}
