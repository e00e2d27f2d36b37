/** The graph of the run: the whole plan from the start, with the state of every node. */

import { type NodeRunState, pathInRun } from '@nebula/canvas/model';
import { NebulaGraph } from '@nebula/canvas/react';
import { type ReactElement, useMemo, useRef } from 'react';
import { useStudio } from '../../app/studio-context.ts';
import { useText } from '../../text/use-text.ts';
import { stripsOf } from './iteration-strips.ts';
import { runText } from './run-text.ts';
import type { RunView } from './run-view.ts';
import type { RunData } from './use-run.ts';

interface RunGraphProps {
  readonly run: RunData;
  readonly states: ReadonlyMap<string, NodeRunState>;
  readonly view: RunView;
  /** The selected node of the graph. */
  readonly selected: string | undefined;
  onSelect(node: string | undefined): void;
}

export function RunGraph({ run, states, view, selected, onSelect }: RunGraphProps): ReactElement {
  const words = useText(runText);
  const { theme } = useStudio();
  const { graph, record, revision } = run;
  const { scopes, seq, time } = view;
  const until = seq === undefined ? Number.POSITIVE_INFINITY : time;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the record grows, and its revision tells when.
  const iterations = useMemo(
    () => stripsOf(graph, record.history, scopes, until),
    [graph, record, revision, scopes, until],
  );
  // The element reports a selection that it is given, too: before React has given it the new handler.
  const latest = useRef({ selected, scopes });
  latest.current = { selected, scopes };
  const selection = useMemo(() => (selected === undefined ? [] : [selected]), [selected]);
  return (
    <NebulaGraph
      graph={graph}
      states={states}
      scopes={scopes}
      iterations={iterations}
      selection={selection}
      past={seq !== undefined}
      theme={theme}
      label={words.graph}
      onSelect={({ detail }) => {
        const node = detail.nodes.at(-1);
        const { selected: before, scopes: shown } = latest.current;
        if (node !== before) onSelect(node === undefined ? undefined : pathInRun(graph, node, shown));
      }}
      onIteration={({ detail: { group, iteration } }) => {
        const inside = [...graph.nodes.values()].find(({ parent }) => parent === group)?.id ?? group;
        onSelect(pathInRun(graph, inside, { ...latest.current.scopes, [group]: iteration }));
      }}
    />
  );
}
