/** All runs of the project, newest first, as they happen. */
import type { AnswerOf } from '@nebula/client';
import { type ReactElement, useState } from 'react';
import { Link } from 'wouter';
import { PATHS, queryText, runPath } from '../../app/routes.ts';
import { useMay, useStudio } from '../../app/studio-context.ts';
import { type SetQuery, useQueryState } from '../../app/use-query-state.ts';
import { refresh, useChange, useList, useRead } from '../../data/queries.ts';
import { useLive } from '../../data/use-live.ts';
import { useNow } from '../../data/use-now.ts';
import { useThrottled } from '../../data/use-throttled.ts';
import { useFormat, useText } from '../../text/use-text.ts';
import { Button, SearchInput, Select } from '../../ui/controls.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { notify } from '../../ui/notices.ts';
import { Empty, Failed, Loading, Page } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { FirstRun } from './first-run.tsx';
import { runsText } from './runs-text.ts';
import { StatusFilter } from './status-filter.tsx';
import '../../ui/table.css';
import './runs.css';

type Run = AnswerOf<'listExecutions'>['items'][number];
type FilterName = 'status' | 'workflow' | 'since' | 'search';

const REFRESH_MS = 400;
const HOUR_MS = 3_600_000;
const SINCES: Readonly<Record<string, number>> = { hour: HOUR_MS, day: 24 * HOUR_MS, week: 7 * 24 * HOUR_MS };

export default function RunsPage(): ReactElement {
  const words = useText(runsText);
  const format = useFormat();
  const { project } = useStudio();
  const [filter, setFilter] = useQueryState<FilterName>('status', 'workflow', 'since', 'search');
  const [openedAt] = useState(() => Date.now());
  const sinceMs = SINCES[filter.since ?? ''];
  const common = {
    project,
    ...(filter.workflow !== undefined && { workflowId: filter.workflow }),
    ...(sinceMs !== undefined && { since: new Date(openedAt - sinceMs).toISOString() }),
  };
  // The beginning of an id, or the id of a workflow.
  const wanted = filter.search?.trim();
  const runs = useList('listExecutions', {
    query: {
      ...common,
      ...(filter.status !== undefined && { status: filter.status }),
      ...(wanted && { search: wanted }),
      limit: 50,
    },
  });
  const counts = useRead('countExecutions', { query: common });
  const update = useThrottled(() => refresh('listExecutions', 'countExecutions'), REFRESH_MS);
  useLive(
    { project, after: 'now' },
    { onEvents: (events) => events.some(({ node }) => node === null) && update(), onGap: update },
  );
  const total = Object.values(counts.data?.counts ?? {}).reduce((sum, count) => sum + count, 0);
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  return (
    <Page title={words.title} note={counts.data && words.counted(format.number(total))}>
      <Filters filter={filter} setFilter={setFilter} counts={counts.data?.counts ?? {}} />
      {runs.isPending ? (
        <Loading />
      ) : runs.isError ? (
        <Failed error={runs.error} onRetry={() => void runs.refetch()} />
      ) : runs.items.length === 0 ? (
        <NoRuns
          isFiltered={isFiltered}
          onClear={() => setFilter({ status: undefined, workflow: undefined, since: undefined, search: undefined })}
        />
      ) : (
        <>
          <RunTable runs={runs.items} />
          {runs.hasNextPage && (
            <div className="load-more">
              <Button isBusy={runs.isFetchingNextPage} onClick={() => void runs.fetchNextPage()}>
                {words.more}
              </Button>
            </div>
          )}
        </>
      )}
    </Page>
  );
}

interface FiltersProps {
  readonly filter: Readonly<Record<FilterName, string | undefined>>;
  readonly setFilter: SetQuery<FilterName>;
  readonly counts: Readonly<Record<string, number>>;
}

function Filters({ filter, setFilter, counts }: FiltersProps): ReactElement {
  const words = useText(runsText);
  const { project } = useStudio();
  const workflows = useRead('listWorkflows', { query: { project, limit: 200 } });
  return (
    <div className="filters">
      <StatusFilter counts={counts} value={filter.status} onChange={(status) => setFilter({ status })} />
      <span className="spring" />
      <SearchInput
        label={words.search}
        value={filter.search ?? ''}
        onText={(search) => setFilter({ search: search === '' ? undefined : search }, { replace: true })}
      />
      <Select
        aria-label={words.workflow}
        value={filter.workflow ?? ''}
        onChange={({ target }) => setFilter({ workflow: target.value === '' ? undefined : target.value })}
      >
        <option value="">{words.allWorkflows}</option>
        {(workflows.data?.items ?? []).map(({ workflowId, name }) => (
          <option key={workflowId} value={workflowId}>
            {name ?? workflowId}
          </option>
        ))}
      </Select>
      <Select
        aria-label={words.since}
        value={filter.since ?? 'any'}
        onChange={({ target }) => setFilter({ since: target.value === 'any' ? undefined : target.value })}
      >
        {Object.entries(words.sinces).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </Select>
    </div>
  );
}

function NoRuns({ isFiltered, onClear }: { readonly isFiltered: boolean; onClear(): void }): ReactElement {
  const words = useText(runsText);
  if (isFiltered)
    return <Empty title={words.emptyFiltered} actions={<Button onClick={onClear}>{words.clear}</Button>} />;
  return <FirstRun />;
}

function RunTable({ runs }: { readonly runs: readonly Run[] }): ReactElement {
  const words = useText(runsText);
  const mayOperate = useMay('operator');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const selected = runs.map(({ executionId }) => executionId).filter((id) => chosen.has(id));
  return (
    <>
      <table className="table">
        <thead>
          <tr>
            {mayOperate && <th className="cell-check" aria-label={words.selected(selected.length)} />}
            <th>{words.status}</th>
            <th>{words.workflow}</th>
            <th>{words.run}</th>
            <th className="cell-number">{words.started}</th>
            <th className="cell-number">{words.duration}</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <RunRow
              key={run.executionId}
              run={run}
              {...(mayOperate && {
                isChosen: chosen.has(run.executionId),
                onChoose: (isChosen: boolean) => {
                  const next = new Set(chosen);
                  if (isChosen) next.add(run.executionId);
                  else next.delete(run.executionId);
                  setChosen(next);
                },
              })}
            />
          ))}
        </tbody>
      </table>
      {selected.length > 0 && <BulkBar ids={selected} onDone={() => setChosen(new Set())} />}
    </>
  );
}

interface RunRowProps {
  readonly run: Run;
  readonly isChosen?: boolean;
  onChoose?(isChosen: boolean): void;
}

function RunRow({ run, isChosen, onChoose }: RunRowProps): ReactElement {
  const words = useText(runsText);
  const format = useFormat();
  const { executionId, workflowId, version, status, createdAt, finishedAt } = run;
  const now = useNow(finishedAt === null ? 1_000 : 30_000);
  const began = Date.parse(createdAt);
  const ended = finishedAt === null ? now : Date.parse(finishedAt);
  return (
    <tr className="run-row">
      {onChoose !== undefined && (
        <td className="cell-check">
          <input
            type="checkbox"
            aria-label={words.select(executionId)}
            checked={isChosen === true}
            onChange={({ target }) => onChoose(target.checked)}
          />
        </td>
      )}
      <td>
        <Status status={status} />
      </td>
      <td className="cell-main">
        <Link href={runPath(executionId)} className="row-link">
          {workflowId}
        </Link>
        <span className="muted"> v{version}</span>
      </td>
      <td className="mono muted truncate">{executionId}</td>
      <td className="cell-number" title={format.full(began)}>
        {format.relative(began, now)}
      </td>
      <td className="cell-number">{format.duration(Math.max(0, ended - began))}</td>
    </tr>
  );
}

function BulkBar({ ids, onDone }: { readonly ids: readonly string[]; onDone(): void }): ReactElement {
  const words = useText(runsText);
  const [isRemoving, setRemoving] = useState(false);
  const bulk = useChange('bulkExecutions', {
    refreshes: ['listExecutions', 'countExecutions'],
    onDone: ({ done, failed }) => {
      notify({ kind: 'done', message: words.bulkDone(done, failed.length) });
      onDone();
    },
  });
  const apply = (operation: 'cancel' | 'retry' | 'delete'): void => bulk.mutate({ body: { operation, ids: [...ids] } });
  return (
    <div className="bulk-bar" role="toolbar" aria-label={words.selected(ids.length)}>
      <strong>{words.selected(ids.length)}</strong>
      {ids.length === 2 && (
        <Link className="button" href={`${PATHS.compare}${queryText({ a: ids[1], b: ids[0] })}`}>
          {words.compare}
        </Link>
      )}
      <Button icon="retry" isBusy={bulk.isPending} onClick={() => apply('retry')}>
        {words.retry}
      </Button>
      <Button icon="stop" isBusy={bulk.isPending} onClick={() => apply('cancel')}>
        {words.cancel}
      </Button>
      <Button icon="trash" kind="danger" isBusy={bulk.isPending} onClick={() => setRemoving(true)}>
        {words.remove}
      </Button>
      {isRemoving && (
        <Dialog
          title={words.remove}
          onClose={() => setRemoving(false)}
          actions={
            <>
              <Button onClick={() => setRemoving(false)}>{words.keep}</Button>
              <Button
                kind="danger"
                onClick={() => {
                  setRemoving(false);
                  apply('delete');
                }}
              >
                {words.remove}
              </Button>
            </>
          }
        >
          <p>{words.confirmRemove(ids.length)}</p>
        </Dialog>
      )}
    </div>
  );
}
