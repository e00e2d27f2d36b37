/**
 * Values by time, as bars, lines or an area. The pointer and the arrow keys choose a moment, whose values the legend then
 * shows; screen readers hear them, and everybody can open them as a table.
 */
import { type ReactElement, useEffect, useId, useRef, useState } from 'react';
import { defineText } from '../../text/define-text.ts';
import { useText } from '../../text/use-text.ts';
import { areaPath, barPaths, type Frame, indexAt, linePath, middleOf } from './scale.ts';
import './time-chart.css';

const text = defineText({
  en: { table: 'Show as a table', time: 'Time' },
  de: { table: 'Als Tabelle zeigen', time: 'Zeit' },
});

export interface Series {
  readonly name: string;
  /** A custom property of the theme. */
  readonly colour: `--${string}`;
  readonly kind: 'bar' | 'line' | 'area';
  readonly isDashed?: boolean;
  readonly values: readonly (number | null)[];
}

interface TimeChartProps {
  readonly title: string;
  /** The beginnings of the buckets. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly ticks: readonly number[];
  readonly valueText: (value: number) => string;
  readonly timeText: (time: number) => string;
}

const HEIGHT = 120;
const AXIS = 44;
const FOOT = 18;
const TOP = 8;

export function TimeChart(props: TimeChartProps): ReactElement {
  const { title, times, series, valueText, timeText } = props;
  const words = useText(text);
  const id = useId();
  const [chosen, setChosen] = useState<number>();
  const at = chosen === undefined || chosen >= times.length ? undefined : chosen;
  const shown = (values: readonly (number | null)[], index: number): string => {
    const value = values[index] ?? null;
    return value === null ? '–' : valueText(value);
  };
  return (
    <figure className="chart" aria-labelledby={id}>
      <figcaption>
        <h2 id={id}>{title}</h2>
        <span className="chart-time muted">{at === undefined ? '' : timeText(times[at] ?? 0)}</span>
        <ul className="chart-legend">
          {series.map(({ name, colour, values, isDashed = false }) => (
            <li key={name}>
              <svg width="14" height="8" aria-hidden="true">
                <line
                  x1="0"
                  x2="14"
                  y1="4"
                  y2="4"
                  strokeWidth="3"
                  strokeDasharray={isDashed ? '4 2' : undefined}
                  style={{ stroke: `var(${colour})` }}
                />
              </svg>
              {name}
              {at !== undefined && <strong>{shown(values, at)}</strong>}
            </li>
          ))}
        </ul>
      </figcaption>
      <Plot
        {...props}
        at={at}
        onChoose={setChosen}
        momentText={(index) =>
          [timeText(times[index] ?? 0), ...series.map(({ name, values }) => `${name} ${shown(values, index)}`)].join(
            ', ',
          )
        }
      />
      <details className="chart-table">
        <summary>{words.table}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by the keyboard. */}
        <section className="chart-scroll" tabIndex={0} aria-label={title}>
          <table className="table">
            <thead>
              <tr>
                <th scope="col">{words.time}</th>
                {series.map(({ name }) => (
                  <th key={name} scope="col" className="cell-number">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times.map((time, index) => (
                <tr key={time}>
                  <td>{timeText(time)}</td>
                  {series.map(({ name, values }) => (
                    <td key={name} className="cell-number">
                      {shown(values, index)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
    </figure>
  );
}

interface PlotProps extends TimeChartProps {
  readonly at: number | undefined;
  readonly momentText: (index: number) => string;
  onChoose(index: number | undefined): void;
}

function Plot({ title, times, series, ticks, valueText, timeText, at, momentText, onChoose }: PlotProps): ReactElement {
  const host = useRef<HTMLDivElement>(null);
  const width = Math.max(1, useWidth(host) - AXIS);
  const frame: Frame = { width, height: HEIGHT, max: ticks.at(-1) ?? 1 };
  const y = (value: number): number => HEIGHT - (value / frame.max) * HEIGHT;
  const count = times.length;
  const labels = [0, Math.floor(count / 2), count - 1].filter(
    (index, place, all) => index >= 0 && all.indexOf(index) === place,
  );
  return (
    <div
      ref={host}
      className="chart-plot"
      role="slider"
      tabIndex={0}
      aria-label={title}
      aria-valuemin={0}
      aria-valuemax={Math.max(0, count - 1)}
      aria-valuenow={at ?? Math.max(0, count - 1)}
      aria-valuetext={count === 0 ? '' : momentText(at ?? count - 1)}
      onKeyDown={(event) => {
        const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
        if (step === 0 && event.key !== 'Home' && event.key !== 'End') return;
        event.preventDefault();
        const next = event.key === 'Home' ? 0 : event.key === 'End' ? count - 1 : (at ?? count - 1) + step;
        onChoose(Math.max(0, Math.min(count - 1, next)));
      }}
      onPointerMove={(event) => {
        const { left } = event.currentTarget.getBoundingClientRect();
        onChoose(indexAt(event.clientX - left - AXIS, width, count));
      }}
      onPointerLeave={() => onChoose(undefined)}
      onBlur={() => onChoose(undefined)}
    >
      <svg width="100%" height={TOP + HEIGHT + FOOT} aria-hidden="true">
        <g transform={`translate(0 ${TOP})`}>
          {ticks.map((tick) => (
            <g key={tick}>
              <line className="chart-grid" x1={AXIS} x2={AXIS + width} y1={y(tick)} y2={y(tick)} />
              <text x={AXIS - 6} y={y(tick)} dy="0.32em" textAnchor="end">
                {valueText(tick)}
              </text>
            </g>
          ))}
          <g transform={`translate(${AXIS} 0)`}>
            {at !== undefined && (
              <rect className="chart-chosen" x={(at * width) / count} width={width / count} height={HEIGHT} />
            )}
            <Bars series={series.filter(({ kind }) => kind === 'bar')} frame={frame} />
            {series.map((one) => (
              <LineOrArea key={one.name} series={one} frame={frame} />
            ))}
            {labels.map((index) => (
              <text
                key={index}
                x={middleOf(index, count, width)}
                y={HEIGHT + 14}
                textAnchor={index === 0 ? 'start' : index === count - 1 ? 'end' : 'middle'}
              >
                {timeText(times[index] ?? 0)}
              </text>
            ))}
          </g>
        </g>
      </svg>
    </div>
  );
}

/** Bars of one bucket stand on each other. */
function Bars({ series, frame }: { readonly series: readonly Series[]; readonly frame: Frame }): ReactElement {
  const paths = barPaths(
    series.map(({ values }) => values),
    frame,
  );
  return (
    <>
      {series.map(({ name, colour }, index) => (
        <path key={name} d={paths[index]} style={{ fill: `var(${colour})` }} />
      ))}
    </>
  );
}

function LineOrArea({ series, frame }: { readonly series: Series; readonly frame: Frame }): ReactElement | null {
  const { kind, colour, values, isDashed = false } = series;
  if (kind === 'bar') return null;
  const stroke = { stroke: `var(${colour})` };
  return (
    <>
      {kind === 'area' && (
        <path
          className="chart-area"
          d={areaPath(
            values.map((value) => value ?? 0),
            frame,
          )}
          style={{ fill: `var(${colour})` }}
        />
      )}
      <path
        className="chart-line"
        d={linePath(values, frame)}
        strokeDasharray={isDashed ? '4 3' : undefined}
        style={stroke}
      />
    </>
  );
}

function useWidth(host: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(600);
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const observer = new ResizeObserver(([entry]) => entry !== undefined && setWidth(entry.contentRect.width));
    observer.observe(element);
    return () => observer.disconnect();
  }, [host]);
  return width;
}
