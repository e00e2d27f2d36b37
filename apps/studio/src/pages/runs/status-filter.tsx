/** The statuses with their counts; a click shows only those. */
import type { ReactElement } from 'react';
import { statusText } from '../../text/status-text.ts';
import { useFormat, useText } from '../../text/use-text.ts';
import { StatusGlyph } from '../../ui/status.tsx';
import { runsText } from './runs-text.ts';

/** Statuses that people look for together. */
const GROUPS = [
  { label: 'running', statuses: ['pending', 'running', 'compensating'] },
  { label: 'paused', statuses: ['paused'] },
  { label: 'completed', statuses: ['completed'] },
  { label: 'failed', statuses: ['failed', 'timed-out'] },
  { label: 'cancelled', statuses: ['cancelled'] },
] as const;

interface StatusFilterProps {
  readonly counts: Readonly<Record<string, number>>;
  readonly value: string | undefined;
  onChange(value: string | undefined): void;
}

export function StatusFilter({ counts, value, onChange }: StatusFilterProps): ReactElement {
  const words = useText(runsText);
  const statuses = useText(statusText);
  const format = useFormat();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a row in every browser.
    <div className="status-filter" role="group" aria-label={words.status}>
      <button type="button" aria-pressed={value === undefined} onClick={() => onChange(undefined)}>
        {words.all}
      </button>
      {GROUPS.map(({ label, statuses: members }) => {
        const key = members.join(',');
        const count = members.reduce((sum, status) => sum + (counts[status] ?? 0), 0);
        return (
          <button
            key={label}
            type="button"
            aria-pressed={value === key}
            onClick={() => onChange(value === key ? undefined : key)}
          >
            <StatusGlyph status={label} size={14} />
            {statuses[label]}
            <span className="muted">{format.number(count)}</span>
          </button>
        );
      })}
    </div>
  );
}
