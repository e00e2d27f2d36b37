/** Counters, gauges and histograms, with the names that dashboards of this field know. */
import type { Histogram, Metrics } from '../api.ts';

const BUCKETS_MS = [
  1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 3_600_000,
];

const COUNTERS = [
  'workflow.started',
  'workflow.completed',
  'workflow.failed',
  'workflow.cancelled',
  'workflow.timed_out',
  'workflow.node.executed',
  'workflow.node.failed',
  'workflow.node.retried',
  'workflow.dag.level_executed',
  'engine.frames',
  'engine.conflicts',
  'engine.reloads',
  'engine.snapshots',
] as const;

const HISTOGRAMS = [
  'workflow.duration_ms',
  'workflow.node.duration_ms',
  'engine.commit_ms',
  /** How late due runs are woken: once per pass of the waker that finds some, for the run that waited longest. */
  'engine.wake_late_ms',
] as const;

type CounterName = (typeof COUNTERS)[number];
type HistogramName = (typeof HISTOGRAMS)[number];
type GaugeName =
  | 'workflow.parallel_tasks'
  | 'workflow.remote_tasks'
  | 'engine.cached_runs'
  | 'engine.queue_depth'
  | 'engine.ready_nodes'
  | 'engine.ready_oldest_ms';

type Gauges = Readonly<Partial<Record<GaugeName, number>>>;

export class Meter {
  /** All counters exist from the beginning: one that appears with its first event hides that event from rates. */
  private readonly counters = new Map<string, number>(COUNTERS.map((name) => [name, 0]));
  private readonly gauges: (() => Gauges | Promise<Gauges>)[] = [];
  private readonly histograms = new Map<string, { count: number; sum: number; counts: number[] }>(
    HISTOGRAMS.map((name) => [name, { count: 0, sum: 0, counts: BUCKETS_MS.map(() => 0) }]),
  );

  add(name: CounterName, by = 1): void {
    this.counters.set(name, (this.counters.get(name) ?? 0) + by);
  }

  gauge(name: GaugeName, read: () => number): void {
    this.gauges.push(() => ({ [name]: read() }));
  }

  /** Gauges that are asked for together. When that fails they are left out. */
  gaugeGroup(read: () => Promise<Gauges>): void {
    this.gauges.push(() => read().catch(() => ({})));
  }

  observe(name: HistogramName, valueMs: number): void {
    const histogram = this.histograms.get(name) as { count: number; sum: number; counts: number[] };
    histogram.count++;
    histogram.sum += valueMs;
    const bucket = BUCKETS_MS.findIndex((bound) => valueMs <= bound);
    if (bucket >= 0) (histogram.counts[bucket] as number)++;
  }

  async read(): Promise<Metrics> {
    const gauges: Gauges = Object.assign({}, ...(await Promise.all(this.gauges.map(async (read) => read()))));
    const histograms: Record<string, Histogram> = {};
    for (const [name, { count, sum, counts }] of this.histograms) {
      let below = 0;
      const buckets = BUCKETS_MS.map((bound, index) => {
        below += counts[index] as number;
        return [bound, below] as const;
      });
      histograms[name] = { count, sum, buckets };
    }
    return { counters: Object.fromEntries(this.counters), gauges: { ...gauges }, histograms };
  }
}
