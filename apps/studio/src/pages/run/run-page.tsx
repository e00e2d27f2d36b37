/** One run: the graph, the timeline whose axis is the time machine, and the details of a node with their reason. */
import { type DrawnRun, locate, type Scopes, statesOf } from '@nebula/canvas/model';
import { type ReactElement, useEffect, useEffectEvent, useMemo } from 'react';
import { isTyping } from '../../app/global-keys.ts';
import { useQueryState } from '../../app/use-query-state.ts';
import { useNow } from '../../data/use-now.ts';
import { useFormat, useText } from '../../text/use-text.ts';
import { Button } from '../../ui/controls.tsx';
import { Failed, Loading, useTitle } from '../../ui/page.tsx';
import { Inspector } from './inspector.tsx';
import { RunGraph } from './run-graph.tsx';
import { RunHeader } from './run-header.tsx';
import { runText } from './run-text.ts';
import type { RunView } from './run-view.ts';
import { Timeline } from './timeline.tsx';
import { type RunData, useRun } from './use-run.ts';
import './run.css';

export default function RunPage({ executionId }: { readonly executionId: string }): ReactElement {
  const { data, error } = useRun(executionId);
  if (data !== undefined) return <LoadedRun run={data} />;
  return error === null || error === undefined ? <Loading /> : <Failed error={error} />;
}

function LoadedRun({ run }: { readonly run: RunData }): ReactElement {
  const { document, record, revision, graph, isSummary } = run;
  const [query, setQuery] = useQueryState('node', 'at', 'tab');
  const isOpen = document.finishedAt === null;
  useTitle(`${document.workflowId} · ${document.executionId.slice(-6)}`);
  const seq = query.at === undefined ? undefined : Number(query.at);
  const index = seq === undefined ? undefined : record.indexOfFrame(seq);
  const now = useNow(isOpen && seq === undefined ? 250 : null);
  const pastEvent = index === undefined || index < 0 ? undefined : record.events[index];
  const time = pastEvent?.at ?? (isOpen ? now : Date.parse(document.finishedAt ?? document.updatedAt ?? ''));
  // biome-ignore lint/correctness/useExhaustiveDependencies: the record grows, and its revision tells when.
  const states = useMemo(
    () =>
      isSummary
        ? statesOf(document as DrawnRun)
        : record.statesAt(index === undefined || index < 0 ? undefined : index),
    [record, revision, index, isSummary, document],
  );
  const located = useMemo(
    () => (query.node === undefined ? undefined : locate(graph, query.node)),
    [graph, query.node],
  );
  const scopes = useMemo((): Scopes => Object.fromEntries(located?.iterations ?? []), [located]);
  const status =
    (pastEvent !== undefined && index !== undefined ? record.runStatusAt(index) : undefined) ?? document.status;
  const view: RunView = { node: query.node, seq, time, status, tab: query.tab, scopes };
  const goTo = (at: number | undefined): void => {
    if (isSummary) return;
    const event = at === undefined ? undefined : record.events[at];
    const isNow = event === undefined || at === record.events.length - 1;
    setQuery({ at: isNow ? undefined : String(event.seq) }, { replace: true });
  };
  const step = (by: -1 | 1): void => {
    const from = index ?? record.events.length - 1;
    const next = record.neighbour(from, by);
    if (next !== undefined) goTo(next);
  };
  useRunKeys({ step, toNow: () => setQuery({ at: undefined }, { replace: true }) });
  const select = (node: string | undefined): void => setQuery({ node, tab: undefined }, { replace: true });
  return (
    <main className={seq === undefined ? 'run' : 'run run-past'}>
      <RunHeader run={run} view={view} onSelect={select} />
      <div className="run-body">
        <div className="run-graph">
          <RunGraph run={run} states={states} view={view} selected={located?.node} onSelect={select} />
          {seq !== undefined && <PastBar time={time} onBack={() => setQuery({ at: undefined }, { replace: true })} />}
        </div>
        <Inspector run={run} view={view} onSelect={select} onTab={(tab) => setQuery({ tab }, { replace: true })} />
        <Timeline
          run={run}
          view={view}
          selected={located?.node}
          onSelect={select}
          onMoment={(at) => goTo(at === undefined ? undefined : record.indexAt(at))}
        />
      </div>
    </main>
  );
}

function PastBar({ time, onBack }: { readonly time: number; onBack(): void }): ReactElement {
  const words = useText(runText);
  const format = useFormat();
  return (
    <div className="past-bar" role="status">
      {words.asItWas(format.exact(time))}
      <Button kind="quiet" onClick={onBack}>
        {words.back}
      </Button>
    </div>
  );
}

function useRunKeys({ step, toNow }: { step(by: -1 | 1): void; toNow(): void }): void {
  const act = useEffectEvent((key: string): boolean => {
    if (key === '[') step(-1);
    else if (key === ']') step(1);
    else if (key === 'l') toNow();
    else return false;
    return true;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event)) return;
      if (act(event.key)) event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}
