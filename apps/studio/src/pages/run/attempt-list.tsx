import type { ReactElement } from 'react';
import { useList } from '../../data/queries.ts';
import { useFormat, useText } from '../../text/use-text.ts';
import { Button } from '../../ui/controls.tsx';
import { Failed, Loading } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { runText } from './run-text.ts';

interface AttemptListProps {
  readonly executionId: string;
  readonly node: string;
  /** Attempts that began later are left out. */
  readonly until: number;
}

export function AttemptList({ executionId, node, until }: AttemptListProps): ReactElement {
  const words = useText(runText);
  const format = useFormat();
  const list = useList('listAttempts', { params: { executionId }, query: { node } });
  if (list.isPending) return <Loading />;
  if (list.isError) return <Failed error={list.error} />;
  const shown = list.items.filter(({ startedAt }) => Date.parse(startedAt) <= until);
  if (shown.length === 0) return <p className="muted inspector-note">{words.none}</p>;
  return (
    <ol className="attempts">
      {shown.map(({ attempt, startedAt, endedAt, end, error, worker, stack }) => (
        <li key={attempt}>
          <header>
            <strong>{words.attempt(attempt)}</strong>
            <Status status={end === null ? 'running' : end === 'returned' ? 'queued' : end} />
            <span className="spring" />
            <span className="muted" title={format.full(Date.parse(startedAt))}>
              {format.exact(Date.parse(startedAt))}
            </span>
            <span>{format.duration((endedAt === null ? until : Date.parse(endedAt)) - Date.parse(startedAt))}</span>
          </header>
          {worker !== null && (
            <p className="muted">
              {words.worker} <span className="mono">{worker}</span>
            </p>
          )}
          {error !== null && (
            <div className="error-box">
              <strong>{error.code}</strong>
              <p>{error.message}</p>
            </div>
          )}
          {stack !== null && <pre className="value-beginning">{stack}</pre>}
        </li>
      ))}
      {list.hasNextPage && <Button onClick={() => void list.fetchNextPage()}>…</Button>}
    </ol>
  );
}
