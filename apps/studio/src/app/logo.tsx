import type { ReactElement } from 'react';

/** A graph of three nodes, on its way. */
export function Logo({ size = 24 }: { readonly size?: number }): ReactElement {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false" className="logo">
      <g fill="none" stroke="currentColor" strokeWidth="1.8" strokeLinecap="round">
        <path d="M6.5 7.5C10 9 13 9 17 6.5M6.8 9.5c1.5 4 4 6.5 7.7 8" />
        <circle cx="5" cy="7" r="2.6" />
        <circle cx="18.5" cy="5.5" r="2.2" fill="var(--accent)" stroke="var(--accent)" />
        <circle cx="17" cy="18" r="3" />
      </g>
    </svg>
  );
}
