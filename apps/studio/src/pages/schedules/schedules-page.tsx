/** What starts runs by itself: schedules with their next times, and the other triggers of active workflows. */
import { lazy, type ReactElement, Suspense, useState } from 'react';
import { useMay, useStudio } from '../../app/studio-context.ts';
import { useQueryState } from '../../app/use-query-state.ts';
import { useList } from '../../data/queries.ts';
import { useText } from '../../text/use-text.ts';
import { Button } from '../../ui/controls.tsx';
import { Listed } from '../../ui/listed.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import type { Schedule } from './schedule.ts';
import { ScheduleRow } from './schedule-row.tsx';
import { schedulesText } from './schedules-text.ts';
import { TriggerList } from './trigger-list.tsx';
import '../../ui/table.css';
import './schedules.css';

/** The dialog finds the next times itself, with the core's reader of cron expressions: it is loaded when it is needed. */
const ScheduleDialog = lazy(async () => ({ default: (await import('./schedule-dialog.tsx')).ScheduleDialog }));

const REFRESH_MS = 30_000;
const FIRES = 5;

export default function SchedulesPage(): ReactElement {
  const words = useText(schedulesText);
  const { project } = useStudio();
  const mayEdit = useMay('editor');
  // The link of a workflow: `/schedules?new=1&workflow=order` opens the dialog.
  const [query, setQuery] = useQueryState('workflow', 'new');
  const [chosen, setChosen] = useState<Schedule | 'new'>();
  const edited = chosen ?? (query.new === undefined || !mayEdit ? undefined : 'new');
  const close = (): void => {
    setChosen(undefined);
    if (query.new !== undefined) setQuery({ workflow: undefined, new: undefined }, { replace: true });
  };
  const list = useList('listSchedules', { query: { project, fires: FIRES, limit: 50 } }, { refetchMs: REFRESH_MS });
  const create = mayEdit && (
    <Button kind="primary" icon="plus" onClick={() => setChosen('new')}>
      {words.create}
    </Button>
  );
  return (
    <Page title={words.title} actions={list.items.length > 0 && create}>
      <Listed
        list={list}
        empty={
          <Empty title={words.emptyTitle} actions={create}>
            <p>{words.empty}</p>
          </Empty>
        }
      >
        {(schedules) => (
          <table className="table schedule-table">
            <thead>
              <tr>
                <th>{words.schedule}</th>
                <th>{words.starts}</th>
                <th>{words.when}</th>
                <th>{words.next}</th>
                <th>{words.last}</th>
                <th aria-label={words.more} />
              </tr>
            </thead>
            <tbody>
              {schedules.map((schedule) => (
                <ScheduleRow key={schedule.scheduleId} schedule={schedule} onEdit={() => setChosen(schedule)} />
              ))}
            </tbody>
          </table>
        )}
      </Listed>
      <TriggerList />
      {edited !== undefined && (
        <Suspense>
          <ScheduleDialog
            schedule={edited === 'new' ? undefined : edited}
            workflowId={query.workflow}
            onClose={close}
          />
        </Suspense>
      )}
    </Page>
  );
}
