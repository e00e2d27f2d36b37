/** The log of a run or of one node, as it is written. */
import type { LogLine } from '@nebula/client';
import { type ReactElement, useEffect, useRef, useState } from 'react';
import { useLive } from '../../data/use-live.ts';
import { useFormat, useText } from '../../text/use-text.ts';
import { SearchInput, Select } from '../../ui/controls.tsx';
import { VirtualRows } from '../../ui/virtual-rows.tsx';
import { ansiSpans } from './ansi.ts';
import { runText } from './run-text.ts';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
const ROW_HEIGHT = 18;
/** Older lines leave the page; the server has them all. */
const MAX_LINES = 100_000;

interface LogViewProps {
  readonly executionId: string;
  readonly node: string | undefined;
}

export function LogView({ executionId, node }: LogViewProps): ReactElement {
  const [level, setLevel] = useState<(typeof LEVELS)[number]>('info');
  return (
    <LevelLog
      key={`${executionId} ${node} ${level}`}
      executionId={executionId}
      node={node}
      level={level}
      onLevel={setLevel}
    />
  );
}

interface LevelLogProps extends LogViewProps {
  readonly level: (typeof LEVELS)[number];
  onLevel(level: (typeof LEVELS)[number]): void;
}

function LevelLog({ executionId, node, level, onLevel }: LevelLogProps): ReactElement {
  const words = useText(runText);
  const format = useFormat();
  const [search, setSearch] = useState('');
  const lines = useRef<LogLine[]>([]);
  const [, setCount] = useState(0);
  const frame = useRef(0);
  useEffect(() => () => cancelAnimationFrame(frame.current), []);
  useLive(
    { executionId, logs: true, level, ...(node !== undefined && { node }) },
    {
      onLines: (more) => {
        for (const line of more) lines.current.push(line);
        if (lines.current.length > MAX_LINES) lines.current.splice(0, lines.current.length - MAX_LINES);
        cancelAnimationFrame(frame.current);
        frame.current = requestAnimationFrame(() => setCount((before) => before + 1));
      },
    },
  );
  const wanted = search.toLowerCase();
  const shown =
    wanted === '' ? lines.current : lines.current.filter(({ message }) => message.toLowerCase().includes(wanted));
  return (
    <div className="log">
      <div className="log-bar">
        <SearchInput label={words.logSearch} value={search} onText={setSearch} />
        <Select
          aria-label={words.logLevel}
          value={level}
          onChange={({ target }) => onLevel(target.value as (typeof LEVELS)[number])}
        >
          {LEVELS.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </Select>
      </div>
      {shown.length === 0 ? (
        <p className="muted inspector-note">{words.noLogs}</p>
      ) : (
        <VirtualRows
          count={shown.length}
          rowHeight={ROW_HEIGHT}
          className="log-rows"
          label={words.tabs.logs}
          followsEnd
          row={(index) => {
            const line = shown[index];
            if (line === undefined) return null;
            return (
              <div key={line.position} className={`log-line log-${line.level}`}>
                <time>{format.exact(Date.parse(line.at))}</time>
                {node === undefined && line.node !== null && <span className="log-node">{line.node}</span>}
                <span>
                  {ansiSpans(line.message).map(({ text, style }, at) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: parts of a line do not move.
                    <span key={at} className={style}>
                      {text}
                    </span>
                  ))}
                </span>
              </div>
            );
          }}
        />
      )}
    </div>
  );
}
