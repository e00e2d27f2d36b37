/** The metrics of `/metrics`: those of the engine, of the server and of its process. */
import type { Metrics, WorkflowMetrics } from '@nebula/engine';
import { type Clock, inSlices, type SpanFigures } from '@nebula/ports';
import type { EventLoop } from './event-loop.ts';
import { expositionSteps, type Family, type HistogramSeries, type Labels } from './exposition.ts';

const BUCKETS_MS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000];
/** Up to a day: schedules are late by hours after a server was off. */
const LATENESS_MS = [10, 100, 500, 1_000, 5_000, 15_000, 60_000, 300_000, 3_600_000, 86_400_000];

const HELP: Readonly<Record<string, string>> = {
  'workflow.started': 'Runs that were started.',
  'workflow.completed': 'Runs that completed.',
  'workflow.failed': 'Runs that failed.',
  'workflow.cancelled': 'Runs that were cancelled.',
  'workflow.timed_out': 'Runs that exceeded their time limit.',
  'workflow.duration_ms': 'Milliseconds from the start of a run to its end.',
  'workflow.node.executed': 'Attempts of nodes that ended in this process.',
  'workflow.node.failed': 'Nodes that failed for good.',
  'workflow.node.retried': 'Attempts that failed and were followed by another one.',
  'workflow.node.duration_ms': 'Milliseconds that attempts took.',
  'workflow.dag.level_executed': 'Levels of graphs that were finished.',
  'workflow.parallel_tasks': 'Attempts that run in this process now.',
  'workflow.remote_tasks': 'Attempts that remote workers have.',
  'engine.frames': 'Frames that were written to journals.',
  'engine.conflicts': 'Frames that the store refused because another engine had written first.',
  'engine.reloads': 'Runs that were read from the store again.',
  'engine.snapshots': 'Snapshots of runs that were taken.',
  'engine.cached_runs': 'Runs in memory.',
  'engine.queue_depth': 'Tasks that the queue holds: those that wait and those that run.',
  'engine.ready_nodes': 'Nodes that would run if there were a slot for them.',
  'engine.ready_oldest_ms': 'Milliseconds for which the oldest of these has waited.',
  'engine.commit_ms': 'Milliseconds that the commit of one turn of the engine took.',
  'engine.wake_late_ms': 'Milliseconds by which due runs were woken late; of each batch, the latest.',
};

class Histogram {
  private readonly bounds: readonly number[];
  private readonly counts: number[];
  private count = 0;
  private sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    this.count++;
    this.sum += value;
    const bucket = this.bounds.findIndex((bound) => value <= bound);
    if (bucket >= 0) (this.counts[bucket] as number)++;
  }

  read(): Omit<HistogramSeries, 'labels'> {
    let below = 0;
    const buckets = this.bounds.map((bound, index) => {
      below += this.counts[index] as number;
      return [bound, below] as const;
    });
    return { count: this.count, sum: this.sum, buckets };
  }
}

/** The messages of notifications of one project through one channel. */
export interface NotificationFigures {
  readonly project: string;
  readonly channel: string;
  readonly sent: number;
  /** Attempts that the receiver did not accept. */
  readonly failed: number;
  /** Messages that wait for the next attempt. */
  readonly pending: number;
}

export interface MetricsParts {
  readonly version: string;
  readonly preset: string;
  readonly clock: Clock;
  engine(): Promise<Metrics>;
  subscribers(): number;
  isLeader(): boolean;
  notifications(): readonly NotificationFigures[];
  readonly loop: EventLoop;
  /** Undefined: there are no traces. */
  spans(): SpanFigures | undefined;
}

export class ServerMetrics {
  private readonly parts: MetricsParts;
  private readonly requests = new Map<string, { readonly labels: Record<string, string>; readonly took: Histogram }>();
  private readonly lateness = new Histogram(LATENESS_MS);
  private fires = 0;
  private troubles = 0;

  constructor(parts: MetricsParts) {
    this.parts = parts;
  }

  /** `operation` is from a fixed set, so callers cannot create series. */
  request(operation: string, status: number, milliseconds: number): void {
    const labels = { operation, status: `${Math.floor(status / 100)}xx` };
    const key = `${operation} ${labels.status}`;
    let series = this.requests.get(key);
    if (series === undefined) {
      series = { labels, took: new Histogram(BUCKETS_MS) };
      this.requests.set(key, series);
    }
    series.took.observe(milliseconds);
  }

  fired(lateMs: number): void {
    this.fires++;
    this.lateness.observe(Math.max(0, lateMs));
  }

  trouble(): void {
    this.troubles++;
  }

  async text(detail: 'by workflow' | 'totals'): Promise<string> {
    const figures = await this.parts.engine();
    const engine = engineFamilies(detail === 'totals' ? { ...figures, workflows: [] } : figures);
    const families = [
      ...engine,
      ...this.serverFamilies(),
      ...notificationFamilies(this.parts.notifications(), detail),
      ...this.processFamilies(),
    ];
    return inSlices(expositionSteps(families), this.parts.clock);
  }

  private serverFamilies(): Family[] {
    const { version, preset, subscribers, isLeader, spans } = this.parts;
    const figures = spans();
    return [
      {
        name: 'nebula_info',
        type: 'gauge',
        help: 'Always 1; what this server is.',
        samples: [{ labels: { version, preset }, value: 1 }],
      },
      {
        name: 'http_request_duration_ms',
        type: 'histogram',
        help: 'Milliseconds until a request was answered, by operation and class of status; of streams, until they began.',
        series: Array.from(this.requests.values(), ({ labels, took }) => ({ labels, ...took.read() })),
      },
      gauge('live_subscribers', 'Clients that follow runs now.', subscribers()),
      counter('schedule_fired_total', 'Runs that schedules started.', this.fires),
      {
        name: 'schedule_lateness_ms',
        type: 'histogram',
        help: 'Milliseconds from the moment of a schedule to the start of its run.',
        series: [this.lateness.read()],
      },
      gauge('scheduler_leader', '1 in the one process that fires schedules.', isLeader() ? 1 : 0),
      counter('server_troubles_total', 'Failures that were retried or logged.', this.troubles),
      counter('trace_spans_exported_total', 'Spans that the collector accepted.', figures?.exported ?? 0),
      counter('trace_spans_dropped_total', 'Spans that were dropped.', figures?.dropped ?? 0),
      gauge('trace_spans_queued', 'Spans that wait to be sent.', figures?.queued ?? 0),
    ];
  }

  private processFamilies(): Family[] {
    const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    const { p50Ms, p99Ms, maxMs } = this.parts.loop.delay();
    const quantile = (name: string, value: number) => ({ labels: { quantile: name }, value });
    return [
      gauge('process_resident_memory_bytes', 'Memory of this process.', rss),
      gauge(
        'process_start_time_seconds',
        'Start time of this process, since the epoch.',
        Date.now() / 1_000 - process.uptime(),
      ),
      counter('process_cpu_seconds_total', 'CPU time.', (user + system) / 1e6),
      gauge('nodejs_heap_size_used_bytes', 'Heap in use.', heapUsed),
      gauge('nodejs_heap_size_total_bytes', 'Heap.', heapTotal),
      gauge('nodejs_external_memory_bytes', 'Memory outside of the heap.', external),
      {
        name: 'nodejs_eventloop_delay_ms',
        type: 'gauge',
        help: 'How late the event loop was, in the last ten seconds.',
        samples: [quantile('0.5', p50Ms), quantile('0.99', p99Ms), quantile('1', maxMs)],
      },
    ];
  }
}

const NOTIFICATION_FAMILIES = [
  ['nebula_notifications_sent_total', 'counter', 'Messages of notifications that were accepted.', 'sent'],
  ['nebula_notifications_failed_total', 'counter', 'Attempts to send a message that failed.', 'failed'],
  ['nebula_notifications_pending', 'gauge', 'Messages that wait for their next attempt.', 'pending'],
] as const;

/** Names of projects are for those who may see them. */
function notificationFamilies(figures: readonly NotificationFigures[], detail: 'by workflow' | 'totals'): Family[] {
  return NOTIFICATION_FAMILIES.map(([name, type, help, member]) => {
    const total = figures.reduce((sum, one) => sum + one[member], 0);
    const isByProject = detail === 'by workflow' && figures.length > 0;
    const samples = isByProject
      ? figures.map(({ project, channel, [member]: value }) => ({ labels: { project, channel }, value }))
      : [{ value: total }];
    return { name, type, help, samples };
  });
}

/** Dots become underscores; counters end in `_total`. */
function engineFamilies({ counters, gauges, histograms, workflows }: Metrics): Family[] {
  const nameOf = (name: string): string => name.replaceAll('.', '_');
  const help = (name: string): string => HELP[name] ?? name;
  return [
    ...Object.entries(counters).map(
      ([name, value]): Family => ({
        name: `${nameOf(name)}_total`,
        type: 'counter',
        help: help(name),
        samples: byWorkflow(workflows, ({ counters: own }) => own[name], value).map(([labels, one]) => ({
          ...labels,
          value: one,
        })),
      }),
    ),
    ...Object.entries(gauges).map(([name, value]) => gauge(nameOf(name), help(name), value)),
    ...Object.entries(histograms).map(
      ([name, series]): Family => ({
        name: nameOf(name),
        type: 'histogram',
        help: help(name),
        series: byWorkflow(workflows, ({ histograms: own }) => own[name], series).map(([labels, one]) => ({
          ...labels,
          ...one,
        })),
      }),
    ),
  ];
}

/** The figures of each workflow, with its labels; one figure without labels where no workflow has any. */
function byWorkflow<T>(
  workflows: Metrics['workflows'],
  figureOf: (one: WorkflowMetrics) => T | undefined,
  total: T,
): (readonly [{ readonly labels?: Labels }, T])[] {
  const own = workflows.flatMap((one) => {
    const figure = figureOf(one);
    return figure === undefined
      ? []
      : [[{ labels: { project: one.project, workflow: one.workflowId } }, figure] as const];
  });
  return own.length > 0 ? own : [[{}, total]];
}

function counter(name: string, help: string, value: number): Family {
  return { name, type: 'counter', help, samples: [{ value }] };
}

function gauge(name: string, help: string, value: number): Family {
  return { name, type: 'gauge', help, samples: [{ value }] };
}
