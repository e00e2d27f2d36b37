/** Figures side by side: a number with its name. */
import type { ReactElement, ReactNode } from 'react';
import './figures.css';

export function Figures({ children }: { readonly children: ReactNode }): ReactElement {
  return <dl className="figures">{children}</dl>;
}

interface FigureProps {
  readonly label: string;
  readonly value: ReactNode;
  /** What it was before, or what it means. */
  readonly note?: ReactNode;
  readonly kind?: 'plain' | 'bad';
}

export function Figure({ label, value, note, kind = 'plain' }: FigureProps): ReactElement {
  return (
    <div className={`figure figure-${kind}`}>
      <dt>{label}</dt>
      <dd>
        <strong>{value}</strong>
        {note !== undefined && <span className="muted">{note}</span>}
      </dd>
    </div>
  );
}
