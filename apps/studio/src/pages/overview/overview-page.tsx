/** How the project is doing: throughput, failures, durations and backlog over time. */
import { type ReactElement, useMemo } from 'react';
import { Link } from 'wouter';
import { PATHS } from '../../app/routes.ts';
import { useStudio } from '../../app/studio-context.ts';
import { useQueryState } from '../../app/use-query-state.ts';
import { useRead } from '../../data/queries.ts';
import { useNow } from '../../data/use-now.ts';
import { useFormat, useText } from '../../text/use-text.ts';
import { durationTicksOf, ticksOf } from '../../ui/chart/scale.ts';
import { TimeChart } from '../../ui/chart/time-chart.tsx';
import { Button } from '../../ui/controls.tsx';
import { Figure, Figures } from '../../ui/figures.tsx';
import { Empty, Failed, Loading, Page } from '../../ui/page.tsx';
import { SegmentedFilter } from '../../ui/segmented-filter.tsx';
import { endsOf, rangeStart, type Statistics, totalsOf } from './figures.ts';
import { overviewText } from './overview-text.ts';
import { failedRuns, RANGES, type RangeName } from './ranges.ts';
import { WorstWorkflows } from './worst-workflows.tsx';
import '../../ui/table.css';
import './overview.css';

const NAMES = Object.keys(RANGES) as RangeName[];
const REFRESH_MS = 10_000;

export default function OverviewPage(): ReactElement {
  const words = useText(overviewText);
  const { project } = useStudio();
  const [query, setQuery] = useQueryState('range');
  const range = NAMES.find((name) => name === query.range) ?? 'day';
  const { rangeMs, bucketMs, bucket } = RANGES[range];
  const now = useNow(REFRESH_MS);
  const since = new Date(rangeStart(now, rangeMs, bucketMs)).toISOString();
  const statistics = useRead(
    'getStatistics',
    { query: { project, since, bucket } },
    { refetchMs: REFRESH_MS, keepsPrevious: true },
  );
  const totals = statistics.data && totalsOf(statistics.data.buckets);
  const isEmpty = totals?.starts === 0 && totals.ends === 0;
  return (
    <Page
      title={words.title}
      actions={
        <SegmentedFilter
          label={words.range}
          value={range}
          onChoose={(value) => setQuery({ range: value === 'day' ? undefined : value })}
          choices={NAMES.map((value) => ({ value, label: words.ranges[value] }))}
        />
      }
    >
      {statistics.data === undefined ? (
        statistics.isError ? (
          <Failed error={statistics.error} onRetry={() => void statistics.refetch()} />
        ) : (
          <Loading />
        )
      ) : isEmpty ? (
        <NoRuns range={range} onLonger={() => setQuery({ range: 'week' })} />
      ) : (
        <>
          {!statistics.data.complete && <p className="overview-note">{words.incomplete}</p>}
          <Totals statistics={statistics.data} since={since} range={range} />
          <Charts statistics={statistics.data} range={range} />
          <WorstWorkflows since={since} range={range} />
        </>
      )}
    </Page>
  );
}

function NoRuns({ range, onLonger }: { readonly range: RangeName; onLonger(): void }): ReactElement {
  const words = useText(overviewText);
  return (
    <Empty
      title={words.emptyTitle}
      actions={
        <>
          {range !== 'week' && <Button onClick={onLonger}>{words.longer}</Button>}
          <Link href={PATHS.workflows} className="button button-primary">
            {words.toWorkflows}
          </Link>
        </>
      }
    >
      <p>{words.empty}</p>
    </Empty>
  );
}

interface PartProps {
  readonly statistics: Statistics;
  readonly range: RangeName;
}

function Totals({ statistics, since, range }: PartProps & { readonly since: string }): ReactElement {
  const words = useText(overviewText);
  const format = useFormat();
  const { project } = useStudio();
  // Percentiles of parts do not add up: those of the whole range are of one bucket.
  const whole = useRead(
    'getStatistics',
    { query: { project, since, bucket: RANGES[range].whole } },
    { refetchMs: REFRESH_MS, keepsPrevious: true },
  );
  const { starts, completed, failures, failureRate } = totalsOf(statistics.buckets);
  const duration = whole.data?.buckets[0]?.duration;
  return (
    <Figures>
      <Figure label={words.started} value={format.number(starts)} />
      <Figure label={words.completed} value={format.number(completed)} />
      <Figure
        label={words.failed}
        kind={failures > 0 ? 'bad' : 'plain'}
        value={failures === 0 ? '0' : <Link href={failedRuns(range)}>{format.number(failures)}</Link>}
        note={failureRate === null ? undefined : words.failureRate(format.percent(failureRate))}
      />
      <Figure label={words.median} value={duration == null ? '–' : format.duration(duration.p50)} />
      <Figure label={words.slow} value={duration == null ? '–' : format.duration(duration.p95)} />
      <Figure label={words.backlog} value={format.number(statistics.buckets.at(-1)?.backlog ?? 0)} />
    </Figures>
  );
}

function Charts({ statistics, range }: PartProps): ReactElement {
  const words = useText(overviewText);
  const format = useFormat();
  const { buckets } = statistics;
  const times = useMemo(() => buckets.map(({ since }) => Date.parse(since)), [buckets]);
  const timeText = (time: number): string => (range === 'week' ? format.short(time) : format.minutes(time));
  const common = { times, timeText };
  const most = (values: readonly (number | null)[]): number => Math.max(0, ...values.map((value) => value ?? 0));
  const failed = buckets.map(({ failures }) => failures);
  const cancelled = buckets.map(({ ends }) => ends['cancelled'] ?? 0);
  const completed = buckets.map((bucket, index) => endsOf(bucket) - (failed[index] ?? 0) - (cancelled[index] ?? 0));
  const p50 = buckets.map(({ duration }) => duration?.p50 ?? null);
  const p95 = buckets.map(({ duration }) => duration?.p95 ?? null);
  const backlog = buckets.map((bucket) => bucket.backlog);
  const starts = buckets.map((bucket) => bucket.starts);
  return (
    <div className="charts">
      <TimeChart
        {...common}
        title={words.throughput}
        valueText={format.number}
        ticks={ticksOf(most(buckets.map(endsOf)), 3)}
        series={[
          { name: words.completed, colour: '--status-completed', kind: 'bar', values: completed },
          { name: words.cancelled, colour: '--status-cancelled', kind: 'bar', values: cancelled },
          { name: words.failed, colour: '--status-failed', kind: 'bar', values: failed },
        ]}
      />
      <TimeChart
        {...common}
        title={words.durations}
        valueText={format.duration}
        ticks={durationTicksOf(most(p95), 3)}
        series={[
          { name: words.p50, colour: '--status-running', kind: 'line', values: p50 },
          { name: words.p95, colour: '--status-waiting', kind: 'line', isDashed: true, values: p95 },
        ]}
      />
      <TimeChart
        {...common}
        title={words.starts}
        valueText={format.number}
        ticks={ticksOf(most(starts), 3)}
        series={[{ name: words.started, colour: '--status-running', kind: 'bar', values: starts }]}
      />
      <TimeChart
        {...common}
        title={words.backlogTitle}
        valueText={format.number}
        ticks={ticksOf(most(backlog), 3)}
        series={[{ name: words.backlogTitle, colour: '--status-waiting', kind: 'area', values: backlog }]}
      />
    </div>
  );
}
