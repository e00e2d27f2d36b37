/** Two runs side by side: the first difference between them, both graphs, and where the time went. */
import type { AnswerOf } from '@nebula/client';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { PATHS, workflowPath } from '../../app/routes.ts';
import { type SetQuery, useQueryState } from '../../app/use-query-state.ts';
import { useRead } from '../../data/queries.ts';
import { useNow } from '../../data/use-now.ts';
import { useFormat, useText } from '../../text/use-text.ts';
import { Field, IconButton, Select } from '../../ui/controls.tsx';
import { Empty, Failed, Loading, Page } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { compareText } from './compare-text.ts';
import { Comparison } from './comparison.tsx';
import '../../ui/table.css';
import './compare.css';

type Run = AnswerOf<'listExecutions'>['items'][number];
type QueryName = 'a' | 'b' | 'node';

const SHOWN_RUNS = 30;
const REFRESH_MS = 2_000;

export default function ComparePage(): ReactElement {
  const words = useText(compareText);
  const [{ a, b, node }, setQuery] = useQueryState<QueryName>('a', 'b', 'node');
  const one = useDocument(a);
  const other = useDocument(b);
  const workflowId = one.data?.workflowId ?? other.data?.workflowId;
  const failed = [one, other].find(({ isError }) => isError);
  if (failed !== undefined) return <Failed error={failed.error} onRetry={() => void failed.refetch()} />;
  const isLoading = (a !== undefined && one.data === undefined) || (b !== undefined && other.data === undefined);
  return (
    <Page title={words.title}>
      {a === undefined && b === undefined ? (
        <Empty
          title={words.needBoth}
          actions={
            <Link href={PATHS.runs} className="button button-primary">
              {words.toRuns}
            </Link>
          }
        >
          <p>{words.none}</p>
        </Empty>
      ) : isLoading || workflowId === undefined ? (
        <Loading />
      ) : (
        <>
          <Pickers workflowId={workflowId} a={a} b={b} setQuery={setQuery} />
          {one.data === undefined || other.data === undefined ? (
            <OtherRuns
              workflowId={workflowId}
              known={a ?? b ?? ''}
              onPick={(id) => setQuery(a === undefined ? { a: id } : { b: id })}
            />
          ) : (
            <Comparison
              key={`${a} ${b}`}
              a={one.data}
              b={other.data}
              node={node}
              onNode={(path) => setQuery({ node: path }, { replace: true })}
            />
          )}
        </>
      )}
    </Page>
  );
}

/** The document of a run that is read again until the run has ended. */
function useDocument(executionId: string | undefined): ReturnType<typeof useRead<'getExecution'>> {
  const read = { params: { executionId: executionId ?? '' }, query: { values: 'none' as const } };
  const first = useRead('getExecution', read, { enabled: executionId !== undefined });
  const isOpen = first.data !== undefined && first.data.finishedAt === null;
  return useRead('getExecution', read, {
    enabled: executionId !== undefined,
    refetchMs: isOpen ? REFRESH_MS : undefined,
  });
}

interface PickersProps {
  readonly workflowId: string;
  readonly a: string | undefined;
  readonly b: string | undefined;
  readonly setQuery: SetQuery<QueryName>;
}

function Pickers({ workflowId, a, b, setQuery }: PickersProps): ReactElement {
  const words = useText(compareText);
  const runs = useRead('listExecutions', { query: { workflowId, limit: SHOWN_RUNS } });
  const items = runs.data?.items ?? [];
  return (
    <div className="compare-pickers">
      <RunPicker label={words.runA} runs={items} value={a} onPick={(id) => setQuery({ a: id })} />
      <IconButton
        icon="retry"
        label={words.swap}
        kind="plain"
        disabled={a === undefined || b === undefined}
        onClick={() => setQuery({ a: b, b: a })}
      />
      <RunPicker label={words.runB} runs={items} value={b} onPick={(id) => setQuery({ b: id })} />
    </div>
  );
}

interface RunPickerProps {
  readonly label: string;
  readonly runs: readonly Run[];
  readonly value: string | undefined;
  onPick(executionId: string): void;
}

function RunPicker({ label, runs, value, onPick }: RunPickerProps): ReactElement {
  const words = useText(compareText);
  const format = useFormat();
  const now = useNow(60_000);
  const isListed = runs.some(({ executionId }) => executionId === value);
  return (
    <Field label={label}>
      {(ids) => (
        <Select {...ids} value={value ?? ''} onChange={({ target }) => target.value !== '' && onPick(target.value)}>
          {value === undefined && <option value="">{words.pick}</option>}
          {value !== undefined && !isListed && <option value={value}>{value}</option>}
          {runs.map(({ executionId, status, createdAt, version }) => (
            <option key={executionId} value={executionId}>
              {`${executionId.slice(-8)} · ${status} · v${version} · ${format.moment(Date.parse(createdAt), now)}`}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

interface OtherRunsProps {
  readonly workflowId: string;
  readonly known: string;
  onPick(executionId: string): void;
}

function OtherRuns({ workflowId, known, onPick }: OtherRunsProps): ReactElement {
  const words = useText(compareText);
  const format = useFormat();
  const now = useNow(10_000);
  const runs = useRead('listExecutions', { query: { workflowId, limit: SHOWN_RUNS } });
  const others = (runs.data?.items ?? []).filter(({ executionId }) => executionId !== known);
  if (runs.data !== undefined && others.length === 0) {
    return (
      <Empty
        title={words.noOthers}
        actions={
          <Link href={workflowPath(workflowId)} className="button button-primary">
            {words.startAnother}
          </Link>
        }
      />
    );
  }
  return (
    <section>
      <h2>{words.needBoth}</h2>
      <p className="muted">{words.needBothWhat}</p>
      <ul className="compare-others">
        {others.map(({ executionId, status, createdAt, durationMs }) => (
          <li key={executionId}>
            <button type="button" onClick={() => onPick(executionId)}>
              <Status status={status} />
              <span className="mono truncate">{executionId}</span>
              <span className="spring" />
              <span className="muted">{format.relative(Date.parse(createdAt), now)}</span>
              {durationMs !== null && <span>{format.duration(durationMs)}</span>}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
