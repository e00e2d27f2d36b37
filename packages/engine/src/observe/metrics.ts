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

/** Figures that are also counted for each workflow. */
const WORKFLOW_COUNTERS = COUNTERS.filter((name) => name.startsWith('workflow.'));
const WORKFLOW_HISTOGRAMS = HISTOGRAMS.filter((name) => name.startsWith('workflow.'));

/** Each workflow has some 50 series: the figures of those beyond this number are counted together. */
const MAX_WORKFLOWS = 100;
const OTHERS = '(others)';

class Distribution {
  private count = 0;
  private sum = 0;
  private readonly counts = BUCKETS_MS.map(() => 0);

  observe(valueMs: number): void {
    this.count++;
    this.sum += valueMs;
    let bucket = 0;
    while (bucket < BUCKETS_MS.length && valueMs > (BUCKETS_MS[bucket] as number)) bucket++;
    if (bucket < BUCKETS_MS.length) (this.counts[bucket] as number)++;
  }

  include({ count, sum, counts }: Distribution): void {
    this.count += count;
    this.sum += sum;
    for (const [bucket, more] of counts.entries()) (this.counts[bucket] as number) += more;
  }

  read(): Histogram {
    let below = 0;
    const buckets = BUCKETS_MS.map((bound, index) => {
      below += this.counts[index] as number;
      return [bound, below] as const;
    });
    return { count: this.count, sum: this.sum, buckets };
  }
}

/** The figures of one workflow, or those that belong to none. */
class Figures {
  private readonly counters: Map<string, { count: number }>;
  private readonly histograms: Map<string, Distribution>;

  /** All counters exist from the beginning: one that appears with its first event hides that event from rates. */
  constructor(counters: readonly CounterName[], histograms: readonly HistogramName[]) {
    this.counters = new Map(counters.map((name) => [name, { count: 0 }]));
    this.histograms = new Map(histograms.map((name) => [name, new Distribution()]));
  }

  add(name: CounterName, by: number): void {
    const counter = this.counters.get(name);
    if (counter !== undefined) counter.count += by;
  }

  observe(name: HistogramName, valueMs: number): void {
    this.histograms.get(name)?.observe(valueMs);
  }

  include({ counters, histograms }: Figures): void {
    for (const [name, { count }] of counters) this.add(name as CounterName, count);
    for (const [name, one] of histograms) this.histograms.get(name)?.include(one);
  }

  read(): Pick<Metrics, 'counters' | 'histograms'> {
    const counters = Array.from(this.counters, ([name, { count }]) => [name, count] as const);
    const histograms = Array.from(this.histograms, ([name, one]) => [name, one.read()] as const);
    return { counters: Object.fromEntries(counters), histograms: Object.fromEntries(histograms) };
  }
}

export type WorkflowFigures = Figures;

/** An event is counted once: for its workflow, or for the engine. The sums are made when somebody reads them. */
export class Meter {
  private readonly others = new Figures(COUNTERS, HISTOGRAMS);
  private readonly gauges: (() => Gauges | Promise<Gauges>)[] = [];
  private readonly workflows = new Map<
    string,
    { readonly project: string; readonly workflowId: string; readonly figures: Figures }
  >();

  /** The figures of a workflow, for `add` and `observe`. */
  of(project: string, workflowId: string): WorkflowFigures {
    const known = this.workflows.get(`${project} ${workflowId}`);
    if (known !== undefined) return known.figures;
    if (this.workflows.size >= MAX_WORKFLOWS && workflowId !== OTHERS) return this.of('', OTHERS);
    const figures = new Figures(WORKFLOW_COUNTERS, WORKFLOW_HISTOGRAMS);
    this.workflows.set(`${project} ${workflowId}`, { project, workflowId, figures });
    return figures;
  }

  add(name: CounterName, by = 1, of = this.others): void {
    of.add(name, by);
  }

  observe(name: HistogramName, valueMs: number, of = this.others): void {
    of.observe(name, valueMs);
  }

  gauge(name: GaugeName, read: () => number): void {
    this.gauges.push(() => ({ [name]: read() }));
  }

  /** Gauges that are asked for together. When that fails they are left out. */
  gaugeGroup(read: () => Promise<Gauges>): void {
    this.gauges.push(() => read().catch(() => ({})));
  }

  async read(): Promise<Metrics> {
    const gauges: Gauges = Object.assign({}, ...(await Promise.all(this.gauges.map(async (read) => read()))));
    const workflows = Array.from(this.workflows.values(), ({ project, workflowId, figures }) => ({
      project,
      workflowId,
      ...figures.read(),
    }));
    const all = new Figures(COUNTERS, HISTOGRAMS);
    all.include(this.others);
    for (const { figures } of this.workflows.values()) all.include(figures);
    return { ...all.read(), gauges: { ...gauges }, workflows };
  }
}
