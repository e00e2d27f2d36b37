/** The iterations of a loop: a strip for the whole, and a list to pick one. */
import { type ReactElement, useState } from 'react';
import { useList } from '../../data/queries.ts';
import { useFormat, useText } from '../../text/use-text.ts';
import { StatusGlyph } from '../../ui/status.tsx';
import { VirtualRows } from '../../ui/virtual-rows.tsx';
import { runText } from './run-text.ts';
import type { RunData } from './use-run.ts';

interface IterationListProps {
  readonly run: RunData;
  readonly loop: string;
  onSelect(node: string): void;
}

const ROW_HEIGHT = 28;

export function IterationList({ run, loop, onSelect }: IterationListProps): ReactElement {
  const words = useText(runText);
  const format = useFormat();
  const { executionId } = run.document;
  const [isFiltered, setFiltered] = useState(false);
  const list = useList('listIterations', { params: { executionId }, query: { node: loop, limit: 1_000 } });
  const shown = isFiltered ? list.items.filter(({ status }) => status === 'failed') : list.items;
  if (list.items.length === 0) return <p className="muted inspector-note">{words.noIterations}</p>;
  return (
    <div className="iterations">
      <label className="check-row">
        <input type="checkbox" checked={isFiltered} onChange={({ target }) => setFiltered(target.checked)} />
        {words.onlyFailed}
      </label>
      <VirtualRows
        count={shown.length}
        rowHeight={ROW_HEIGHT}
        className="iteration-rows"
        label={words.tabs.iterations}
        onNear={(end) => end === 'end' && list.hasNextPage && !list.isFetchingNextPage && void list.fetchNextPage()}
        row={(index) => {
          const one = shown[index];
          if (one === undefined) return null;
          const { iteration, status, startedAt, endedAt } = one;
          return (
            <button
              key={iteration}
              type="button"
              className="iteration-row"
              onClick={() => onSelect(firstNode(run, loop, iteration))}
            >
              <StatusGlyph status={status} size={14} />
              {words.iteration(iteration)}
              <span className="spring" />
              <span className="muted">
                {endedAt !== null && format.duration(Date.parse(endedAt) - Date.parse(startedAt))}
              </span>
            </button>
          );
        }}
      />
    </div>
  );
}

/** The first node of an iteration, in the order of the graph. */
function firstNode({ graph }: RunData, loop: string, iteration: number): string {
  const group = loop.replaceAll(/\/\d+(?=\/)/g, '');
  for (const { id, parent } of graph.nodes.values()) {
    if (parent === group) return `${loop}/${iteration}/${id.slice(group.length + 1)}`;
  }
  return loop;
}
