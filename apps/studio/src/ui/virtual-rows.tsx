/** Rows of one height, of which only the visible ones exist. */
import { type ReactElement, type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { type RowRange, rowRange } from './row-range.ts';
import './virtual-rows.css';

interface VirtualRowsProps {
  readonly count: number;
  readonly rowHeight: number;
  readonly row: (index: number) => ReactNode;
  readonly className?: string;
  readonly label?: string;
  /** Keeps the end in view while rows are added, as long as it is in view. */
  readonly followsEnd?: boolean;
  /** Called when the rows near one end are shown: the place to load more. */
  onNear?(end: 'start' | 'end'): void;
  /** The row to bring into view when it changes. */
  readonly reveal?: number | undefined;
}

export function VirtualRows(props: VirtualRowsProps): ReactElement {
  const { count, rowHeight, row, className = '', label, followsEnd = false, onNear, reveal } = props;
  const host = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState<RowRange>({ from: 0, to: 0 });
  const isAtEnd = useRef(true);
  const measure = (): void => {
    const element = host.current;
    if (element === null) return;
    const { scrollTop, clientHeight, scrollHeight } = element;
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < rowHeight;
    const next = rowRange({ scrollTop, height: clientHeight, rowHeight, count });
    setRange((before) => (before.from === next.from && before.to === next.to ? before : next));
    if (count > 0 && next.from === 0) onNear?.('start');
    if (next.to >= count) onNear?.('end');
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a change of the rows moves the end.
  useLayoutEffect(() => {
    const element = host.current;
    if (element !== null && followsEnd && isAtEnd.current) element.scrollTop = element.scrollHeight;
    measure();
  }, [count, rowHeight]);
  useResize(host, measure);
  useEffect(() => {
    const element = host.current;
    if (element === null || reveal === undefined) return;
    const top = reveal * rowHeight;
    if (top < element.scrollTop || top + rowHeight > element.scrollTop + element.clientHeight) {
      element.scrollTop = top - element.clientHeight / 2;
    }
  }, [reveal, rowHeight]);
  const rows: ReactNode[] = [];
  for (let index = range.from; index < Math.min(range.to, count); index++) rows.push(row(index));
  return (
    <section
      ref={host}
      className={`virtual-rows ${className}`}
      onScroll={measure}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region is reached by the keyboard.
      tabIndex={0}
      aria-label={label}
    >
      <div className="virtual-space" style={{ height: count * rowHeight }}>
        <div className="virtual-window" style={{ transform: `translateY(${range.from * rowHeight}px)` }}>
          {rows}
        </div>
      </div>
    </section>
  );
}

function useResize(ref: RefObject<HTMLElement | null>, onResize: () => void): void {
  useEffect(() => {
    if (ref.current === null) return;
    const observer = new ResizeObserver(onResize);
    observer.observe(ref.current);
    return () => observer.disconnect();
  });
}
