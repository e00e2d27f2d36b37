/** A few choices side by side, of which one holds; with counts. */
import type { ReactElement, ReactNode } from 'react';
import { useFormat } from '../text/use-text.ts';
import './segmented-filter.css';

interface SegmentedFilterProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly choices: readonly { readonly value: T; readonly label: ReactNode; readonly count?: number }[];
  onChoose(value: T): void;
}

export function SegmentedFilter<T extends string>({
  label,
  value,
  choices,
  onChoose,
}: SegmentedFilterProps<T>): ReactElement {
  const format = useFormat();
  return (
    <fieldset className="segments">
      <legend className="visually-hidden">{label}</legend>
      {choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          aria-pressed={choice.value === value}
          onClick={() => onChoose(choice.value)}
        >
          {choice.label}
          {choice.count !== undefined && choice.count > 0 && (
            <span className="segment-count">{format.number(choice.count)}</span>
          )}
        </button>
      ))}
    </fieldset>
  );
}
