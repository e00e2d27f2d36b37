/** The statuses with their counts; a click shows only those. */
import type { ReactElement } from 'react';
import { statusText } from '../../text/status-text.ts';
import { useText } from '../../text/use-text.ts';
import { SegmentedFilter } from '../../ui/segmented-filter.tsx';
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

export function StatusFilter({ counts, value = '', onChange }: StatusFilterProps): ReactElement {
  const words = useText(runsText);
  const statuses = useText(statusText);
  const groups = GROUPS.map(({ label, statuses: members }) => ({
    value: members.join(','),
    label: (
      <>
        <StatusGlyph status={label} size={14} />
        {statuses[label]}
      </>
    ),
    count: members.reduce((sum, status) => sum + (counts[status] ?? 0), 0),
  }));
  return (
    <SegmentedFilter
      label={words.status}
      value={value}
      choices={[{ value: '', label: words.all }, ...groups]}
      onChoose={(chosen) => onChange(chosen === '' || chosen === value ? undefined : chosen)}
    />
  );
}
