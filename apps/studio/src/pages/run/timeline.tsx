/** When everything happened. Queue, waits and attempts are told apart; dragging the axis shows any earlier moment. */
import { type ReactElement, useEffect, useMemo, useRef, useState } from 'react';
import { useFormat, useText } from '../../text/use-text.ts';
import { Badge } from '../../ui/controls.tsx';
import { StatusGlyph } from '../../ui/status.tsx';
import { VirtualRows } from '../../ui/virtual-rows.tsx';
import { criticalPath } from './critical-path.ts';
import { type EndedSpan, lanesOf, spansUntil, type TimelineLane } from './lanes.ts';
import { runText } from './run-text.ts';
import type { RunView } from './run-view.ts';
import { type TimeAxis, ticksOf, timeAxis } from './time-axis.ts';
import { incomingOf } from './upstream.ts';
import type { RunData } from './use-run.ts';
import './timeline.css';

const LANE_HEIGHT = 22;
const LABEL_WIDTH = 190;
const NARROW_LABEL_WIDTH = 110;
const MIN_SPAN_PX = 3;

interface TimelineProps {
  readonly run: RunData;
  readonly view: RunView;
  /** The selected node of the graph. */
  readonly selected: string | undefined;
  onSelect(node: string): void;
  /** Shows the state at a time; undefined: now. */
  onMoment(time: number | undefined): void;
}

export function Timeline({ run, view, selected, onSelect, onMoment }: TimelineProps): ReactElement {
  const words = useText(runText);
  const { graph, record, revision, document } = run;
  const [host, width] = useWidth();
  const labelWidth = width < 600 ? NARROW_LABEL_WIDTH : LABEL_WIDTH;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the record grows, and its revision tells when.
  const lanes = useMemo(() => lanesOf(graph, record.history, view.scopes), [graph, record, revision, view.scopes]);
  const from = document.startedAt === null ? view.time : Date.parse(document.startedAt);
  const isPast = view.seq !== undefined;
  // The axis keeps its whole length while an earlier moment is looked at.
  const to = isPast ? Math.max(view.time, Date.parse(document.updatedAt ?? '') || view.time) : view.time;
  const axis = useMemo(() => {
    const busy = lanes.flatMap(({ history }) =>
      (history?.spans ?? [])
        .filter(({ kind }) => kind !== 'waiting')
        .map((span) => ({ from: span.from, to: span.to ?? to })),
    );
    return timeAxis(busy, { from, to }, Math.max(60, width - labelWidth - 16));
  }, [lanes, from, to, width, labelWidth]);
  const critical = useMemo(() => {
    if (document.finishedAt === null) return new Set<string>();
    const timed = lanes.flatMap(({ path, history }) => {
      const first = history?.spans[0];
      return first === undefined || history?.endedAt == null
        ? []
        : [{ path, startedAt: first.from, endedAt: history.endedAt }];
    });
    return new Set(criticalPath(timed, (path) => incomingOf(graph, path, view.scopes)));
  }, [lanes, graph, document.finishedAt, view.scopes]);
  const at = lanes.findIndex(({ node }) => node === selected);
  return (
    <section className="timeline" aria-label={words.timeline} ref={host}>
      <Axis axis={axis} labelWidth={labelWidth} time={view.time} isPast={isPast} run={run} onMoment={onMoment} />
      <VirtualRows
        count={lanes.length}
        rowHeight={LANE_HEIGHT}
        className="timeline-lanes"
        label={words.timeline}
        reveal={at < 0 ? undefined : at}
        row={(index) => {
          const lane = lanes[index];
          if (lane === undefined) return null;
          return (
            <Lane
              key={lane.path}
              lane={lane}
              axis={axis}
              labelWidth={labelWidth}
              until={view.time}
              isSelected={lane.node === selected}
              isCritical={critical.has(lane.path)}
              onSelect={() => onSelect(lane.path)}
            />
          );
        }}
      />
    </section>
  );
}

interface AxisProps extends Pick<TimelineProps, 'run' | 'onMoment'> {
  readonly axis: TimeAxis;
  readonly labelWidth: number;
  readonly time: number;
  readonly isPast: boolean;
}

function Axis({ axis, labelWidth, time, isPast, run, onMoment }: AxisProps): ReactElement {
  const words = useText(runText);
  const format = useFormat();
  const [isDragging, setDragging] = useState(false);
  const momentOf = (event: React.PointerEvent<HTMLElement>): number =>
    axis.timeOf(event.clientX - event.currentTarget.getBoundingClientRect().left);
  const move = (step: number): void => {
    const { record } = run;
    const next = record.neighbour(record.indexAt(time), step < 0 ? -1 : 1);
    if (next !== undefined) onMoment(record.events[next]?.at);
  };
  return (
    <div className="timeline-axis">
      <span style={{ width: labelWidth }} className="timeline-title">
        {words.timeline}
        {run.isSummary && <Badge kind="warning">{words.summary}</Badge>}
      </span>
      <div
        className={isDragging ? 'axis dragging' : 'axis'}
        role="slider"
        tabIndex={0}
        aria-label={words.moment}
        aria-valuemin={axis.from}
        aria-valuemax={axis.to}
        aria-valuenow={time}
        aria-valuetext={format.exact(time)}
        style={{ width: axis.width }}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          setDragging(true);
          onMoment(momentOf(event));
        }}
        onPointerMove={(event) => isDragging && onMoment(momentOf(event))}
        onPointerUp={() => setDragging(false)}
        onPointerCancel={() => setDragging(false)}
        onKeyDown={(event) => {
          if (event.key === 'ArrowLeft') move(-1);
          else if (event.key === 'ArrowRight') move(1);
          else if (event.key === 'Home') onMoment(axis.from);
          else if (event.key === 'End') onMoment(undefined);
          else return;
          event.preventDefault();
        }}
      >
        {ticksOf(axis).map((tick) => (
          <span key={tick} className="tick" style={{ transform: `translateX(${axis.xOf(tick)}px)` }}>
            {format.duration(tick - axis.from)}
          </span>
        ))}
        {axis.segments.map(
          (segment) =>
            segment.isFolded && (
              <span
                key={segment.from}
                className="fold"
                title={words.folded(format.duration(segment.to - segment.from))}
                style={{ transform: `translateX(${segment.x}px)`, width: segment.width }}
              />
            ),
        )}
        {isPast && <span className="scrubber" style={{ transform: `translateX(${axis.xOf(time)}px)` }} />}
      </div>
    </div>
  );
}

interface LaneProps {
  readonly lane: TimelineLane;
  readonly axis: TimeAxis;
  readonly labelWidth: number;
  readonly until: number;
  readonly isSelected: boolean;
  readonly isCritical: boolean;
  onSelect(): void;
}

function Lane({ lane, axis, labelWidth, until, isSelected, isCritical, onSelect }: LaneProps): ReactElement {
  const words = useText(runText);
  const { label, depth, history } = lane;
  const spans = spansUntil(history?.spans ?? [], until);
  const isOver = history !== undefined && history.endedAt !== null && history.endedAt <= until;
  const status = isOver ? history.status : statusAt(spans, history?.status);
  return (
    <button
      type="button"
      className={`lane${isSelected ? ' selected' : ''}${isCritical ? ' critical' : ''}`}
      aria-current={isSelected || undefined}
      onClick={onSelect}
    >
      <span className="lane-label" style={{ width: labelWidth, paddingLeft: 12 + depth * 14 }}>
        <StatusGlyph status={status} size={12} />
        <span className="truncate">{label}</span>
        {isCritical && <span className="visually-hidden">{words.critical}</span>}
      </span>
      <span className="lane-track" style={{ width: axis.width }}>
        {spans.map((span) => (
          <SpanBar key={`${span.from} ${span.kind}`} span={span} axis={axis} status={status} />
        ))}
      </span>
    </button>
  );
}

function statusAt(spans: readonly EndedSpan[], status: string | undefined): string {
  const last = spans.at(-1);
  if (last === undefined) return status === 'skipped' ? 'skipped' : 'pending';
  return last.kind;
}

function SpanBar({
  span,
  axis,
  status,
}: {
  readonly span: EndedSpan;
  readonly axis: TimeAxis;
  readonly status: string;
}): ReactElement {
  const words = useText(runText);
  const format = useFormat();
  const x = axis.xOf(span.from);
  const width = Math.max(MIN_SPAN_PX, axis.xOf(span.to) - x);
  const kind =
    span.kind === 'running' ? `running end-${span.end ?? (status === 'running' ? 'open' : 'completed')}` : span.kind;
  const what = span.attempt === undefined ? words[span.kind] : words.attempt(span.attempt);
  return (
    <span
      className={`span span-${kind}`}
      title={`${what} · ${format.duration(span.to - span.from)}${span.error === undefined ? '' : ` · ${span.error.message}`}`}
      style={{ transform: `translateX(${x}px)`, width }}
    />
  );
}

function useWidth(): [React.RefObject<HTMLElement | null>, number] {
  const ref = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(800);
  useEffect(() => {
    if (ref.current === null) return;
    const observer = new ResizeObserver(([entry]) => entry && setWidth(entry.contentRect.width));
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}
