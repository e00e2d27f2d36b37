/** Measures the delay of the event loop and remembers stalls. Uses real time, whatever clock the engine has. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

const BEAT_MS = 500;
/** Figures describe the last complete window, so that concurrent scrapers see the same ones. */
const WINDOW_MS = 10_000;

export interface EventLoopOptions {
  /** A turn that takes longer is a stall. */
  readonly stallMs?: number;
  /** How long a stall is reported. */
  readonly rememberMs?: number;
}

export interface LoopDelay {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export class EventLoop {
  private readonly stallMs: number;
  private readonly rememberMs: number;
  private readonly histogram = monitorEventLoopDelay({ resolution: 20 });
  private readonly timer: NodeJS.Timeout;
  private beatAt = performance.now();
  private windowAt = performance.now();
  private window: LoopDelay | undefined;
  private stall: { readonly at: number; readonly ms: number } | undefined;

  constructor({ stallMs = 5_000, rememberMs = 15_000 }: EventLoopOptions = {}) {
    this.stallMs = stallMs;
    this.rememberMs = rememberMs;
    this.histogram.enable();
    this.timer = setInterval(() => this.beat(), Math.min(BEAT_MS, stallMs));
    this.timer.unref();
  }

  close(): void {
    clearInterval(this.timer);
    this.histogram.disable();
  }

  /** Length of the stall that is under way or was remembered; 0: none. */
  stalledMs(): number {
    const now = performance.now();
    this.notice(now);
    return this.stall !== undefined && now - this.stall.at <= this.rememberMs ? Math.round(this.stall.ms) : 0;
  }

  delay(): LoopDelay {
    return this.window ?? this.measured();
  }

  private beat(): void {
    const now = performance.now();
    this.notice(now);
    this.beatAt = now;
    if (now - this.windowAt < WINDOW_MS) return;
    this.window = this.measured();
    this.windowAt = now;
    this.histogram.reset();
  }

  private notice(now: number): void {
    const lateMs = now - this.beatAt - Math.min(BEAT_MS, this.stallMs);
    if (lateMs > this.stallMs) this.stall = { at: now, ms: lateMs };
  }

  private measured(): LoopDelay {
    const ms = (nanoseconds: number): number => (Number.isFinite(nanoseconds) ? nanoseconds / 1e6 : 0);
    const { histogram } = this;
    // An empty histogram has no percentiles.
    if (histogram.count === 0) return { p50Ms: 0, p99Ms: 0, maxMs: 0 };
    return { p50Ms: ms(histogram.percentile(50)), p99Ms: ms(histogram.percentile(99)), maxMs: ms(histogram.max) };
  }
}
