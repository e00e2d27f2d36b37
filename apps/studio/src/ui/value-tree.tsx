/** A JSON value that can be opened, searched and copied. Only its visible rows exist. */
import { type ReactElement, useMemo, useState } from 'react';
import { defineText } from '../text/define-text.ts';
import { useText } from '../text/use-text.ts';
import { IconButton } from './controls.tsx';
import { Icon } from './icons.tsx';
import { notify } from './notices.ts';
import { type ValueRow, valueRows } from './value-rows.ts';
import { VirtualRows } from './virtual-rows.tsx';
import './value-tree.css';

const text = defineText({
  en: { copy: 'Copy as JSON', copied: 'Copied', open: 'Open', close: 'Close' },
  de: { copy: 'Als JSON kopieren', copied: 'Kopiert', open: 'Aufklappen', close: 'Zuklappen' },
});

const ROW_HEIGHT = 20;
const MAX_HEIGHT_ROWS = 24;
/** Small values are open to this depth. */
const OPEN_DEPTH = 3;
const SMALL_ROWS = 60;

export function ValueTree({ value, label }: { readonly value: unknown; readonly label: string }): ReactElement {
  const words = useText(text);
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const openDepth = useMemo(() => {
    const isSmall = valueRows(value, (_, depth) => depth < OPEN_DEPTH).length <= SMALL_ROWS;
    return isSmall ? OPEN_DEPTH : 1;
  }, [value]);
  const rows = useMemo(
    () => valueRows(value, (id, depth) => depth < openDepth !== toggled.has(id)),
    [value, toggled, openDepth],
  );
  const toggle = (id: string): void => {
    const next = new Set(toggled);
    if (!next.delete(id)) next.add(id);
    setToggled(next);
  };
  return (
    <div className="value-tree" style={{ height: Math.min(rows.length, MAX_HEIGHT_ROWS) * ROW_HEIGHT + 12 }}>
      <IconButton
        icon="copy"
        label={words.copy}
        className="value-copy"
        onClick={() => {
          void navigator.clipboard
            .writeText(JSON.stringify(value, null, 2))
            .then(() => notify({ kind: 'done', message: words.copied }));
        }}
      />
      <VirtualRows
        count={rows.length}
        rowHeight={ROW_HEIGHT}
        label={label}
        className="value-rows"
        row={(index) => {
          const row = rows[index];
          return row === undefined ? null : <Row key={row.id} row={row} onToggle={toggle} />;
        }}
      />
    </div>
  );
}

function Row({ row, onToggle }: { readonly row: ValueRow; onToggle(id: string): void }): ReactElement {
  const words = useText(text);
  const { id, depth, name, kind, text: shown, size, isOpen } = row;
  return (
    <div className="value-row" style={{ paddingLeft: 6 + depth * 14 }}>
      {size > 0 ? (
        <button
          type="button"
          className={isOpen ? 'value-toggle open' : 'value-toggle'}
          aria-expanded={isOpen}
          aria-label={`${isOpen ? words.close : words.open} ${name ?? ''}`}
          onClick={() => onToggle(id)}
        >
          <Icon name="chevron" size={12} />
        </button>
      ) : (
        <span className="value-toggle" />
      )}
      {name !== undefined && <span className="value-name">{name}</span>}
      <span className={`value-text value-${kind}`}>{shown}</span>
    </div>
  );
}
