/** Everything that waits for a person: approvals, unknown outcomes, signals and calls. */
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { PATHS } from '../../app/routes.ts';
import { useStudio } from '../../app/studio-context.ts';
import { useQueryState } from '../../app/use-query-state.ts';
import { useList, useRead } from '../../data/queries.ts';
import { useFormat, useText } from '../../text/use-text.ts';
import { Button, Select } from '../../ui/controls.tsx';
import { Listed } from '../../ui/listed.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import { SegmentedFilter } from '../../ui/segmented-filter.tsx';
import { inboxText } from './inbox-text.ts';
import { TaskCard } from './task-card.tsx';
import './inbox.css';

const KINDS = ['approval', 'unknown', 'signal', 'callback'] as const;
/** Tasks that somebody else has answered leave the list after this time. */
const REFRESH_MS = 5_000;
const ORDERS = ['newest', 'deadline'] as const;

export default function InboxPage(): ReactElement {
  const words = useText(inboxText);
  const format = useFormat();
  const { project } = useStudio();
  const [query, setQuery] = useQueryState('kind', 'order');
  const kind = KINDS.find((known) => known === query.kind);
  const order = ORDERS.find((known) => known === query.order) ?? 'newest';
  const list = useList(
    'listHumanTasks',
    { query: { project, order, ...(kind !== undefined && { kind }), limit: 50 } },
    { refetchMs: REFRESH_MS },
  );
  const counts = useRead('countHumanTasks', { query: { project } });
  const total = counts.data?.total ?? 0;
  return (
    <Page title={words.title} note={total > 0 && words.note(format.number(total))}>
      {(total > 0 || kind !== undefined) && (
        <div className="filters inbox-filters">
          <SegmentedFilter
            label={words.title}
            value={kind ?? ''}
            onChoose={(value) => setQuery({ kind: value === '' ? undefined : value })}
            choices={[
              { value: '', label: words.all, count: total },
              ...KINDS.map((value) => ({ value, label: words.kinds[value], count: counts.data?.counts[value] ?? 0 })),
            ]}
          />
          <span className="spring" />
          <Select aria-label={words.order} value={order} onChange={({ target }) => setQuery({ order: target.value })}>
            {ORDERS.map((value) => (
              <option key={value} value={value}>
                {words.orders[value]}
              </option>
            ))}
          </Select>
        </div>
      )}
      <Listed
        list={list}
        empty={<NoTasks isFiltered={kind !== undefined} onAll={() => setQuery({ kind: undefined })} />}
      >
        {(tasks) => (
          <ul className="task-list">
            {tasks.map((task) => (
              <TaskCard key={`${task.executionId} ${task.node} ${task.event}`} task={task} />
            ))}
          </ul>
        )}
      </Listed>
    </Page>
  );
}

function NoTasks({ isFiltered, onAll }: { readonly isFiltered: boolean; onAll(): void }): ReactElement {
  const words = useText(inboxText);
  if (isFiltered) return <Empty title={words.emptyKind} actions={<Button onClick={onAll}>{words.showAll}</Button>} />;
  return (
    <Empty
      title={words.emptyTitle}
      actions={
        <Link href={PATHS.runs} className="button">
          {words.toRuns}
        </Link>
      }
    >
      <p>{words.empty}</p>
    </Empty>
  );
}
