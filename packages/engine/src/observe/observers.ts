/** Counters, live events and traces of an engine. No decision depends on them. */
import { type NodePath, timelineOf } from '@nebula/core';
import { nodeAt } from '@nebula/core/run';
import type { LiveEvent } from '../api.ts';
import type { Draft, LiveRun } from '../turn/live-run.ts';
import type { Meter } from './metrics.ts';
import type { Tracing } from './tracing.ts';

export class Observers {
  private readonly meter: Meter;
  private readonly tracing: Tracing;
  private readonly listeners = new Set<(event: LiveEvent) => void>();

  constructor(meter: Meter, tracing: Tracing) {
    this.meter = meter;
    this.tracing = tracing;
  }

  get hasListeners(): boolean {
    return this.listeners.size > 0;
  }

  on(listener: (event: LiveEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** An error of a listener does not reach the engine. */
  publish(event: LiveEvent): void {
    for (const listener of this.listeners) {
      try {
        listener(event);
      } catch {}
    }
  }

  /** A frame is durable. */
  frame(run: LiveRun, draft: Draft): void {
    this.count(run, draft);
    if (this.hasListeners) this.publishFrame(run, draft);
    if (this.tracing.isOn) this.traceFrame(run, draft);
  }

  private count(run: LiveRun, { turn }: Draft): void {
    const { meter } = this;
    const { level } = run.state.root;
    const figures = run.figuresIn(meter);
    if (level > run.levelsDone) meter.add('workflow.dag.level_executed', level - run.levelsDone, figures);
    run.levelsDone = level;
    for (const entry of turn.entries) {
      if (entry.type === 'run.started') meter.add('workflow.started', 1, figures);
      else if (entry.type === 'node.failed') meter.add('workflow.node.failed', 1, figures);
      else if (entry.type === 'node.retrying') meter.add('workflow.node.retried', 1, figures);
      else if (entry.type === 'run.finished') {
        meter.add(entry.status === 'timed-out' ? 'workflow.timed_out' : `workflow.${entry.status}`, 1, figures);
        meter.observe('workflow.duration_ms', turn.now - run.state.startedAt, figures);
      }
    }
  }

  private publishFrame({ executionId }: LiveRun, { turn }: Draft): void {
    for (const entry of turn.entries) {
      for (const event of timelineOf(entry, turn.now)) this.publish({ type: 'timeline', executionId, event });
    }
    this.publish({ type: 'changed', executionId });
  }

  private traceFrame({ executionId, plan, state }: LiveRun, { turn: { entries, now: at } }: Draft): void {
    if (entries.length === 0) return;
    const { workflowId, version } = plan;
    const { seq, traceparent } = state;
    const actionOf = (path: NodePath): string | undefined => {
      const work = nodeAt(state, path)?.plan.work;
      if (work === undefined || !('action' in work)) return undefined;
      return `${work.action.id}@${work.action.version}`;
    };
    this.tracing.tell({ executionId, workflowId, version, traceparent, seq, at, entries, actionOf });
  }
}
