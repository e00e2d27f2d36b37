/** A status is always a glyph with a colour, and a word for those who cannot see either. */
import type { ReactElement } from 'react';
import { isShownStatus, statusText } from '../text/status-text.ts';
import { useText } from '../text/use-text.ts';
import './status.css';

const COLOURS: Readonly<Record<string, string>> = {
  paused: 'waiting',
  compensating: 'running',
  'timed-out': 'failed',
  open: 'running',
};

/** The name of the colour of a status: statuses of runs share those of nodes. */
function colourOf(status: string): string {
  return COLOURS[status] ?? status;
}

function glyph(status: string): ReactElement {
  switch (status) {
    case 'completed':
      return <path d="M3.5 8.5 6.8 11.8 12.8 4.8" />;
    case 'failed':
      return <path d="M4.2 4.2l7.6 7.6M11.8 4.2l-7.6 7.6" strokeWidth="2.2" />;
    case 'timed-out':
      return <path d="M4.5 2.5h7M4.5 13.5h7M5 2.5c0 4 6 7 6 11M11 2.5c0 4-6 7-6 11" />;
    case 'running':
    case 'open':
      return <path className="turning" d="M8 2.5a5.5 5.5 0 1 1-5.5 5.5" />;
    case 'compensating':
      return <path className="turning back" d="M8 2.5a5.5 5.5 0 1 0 5.5 5.5" />;
    case 'waiting':
      return <path d="M8 5v3l2 1.5M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11z" />;
    case 'paused':
      return <path d="M5.5 3.5v9M10.5 3.5v9" strokeWidth="2" />;
    case 'queued':
      return <circle cx="8" cy="8" r="5.5" strokeDasharray="1.6 2.720" />;
    case 'skipped':
      return <path d="M3.5 8h9" />;
    case 'cancelled':
      return <path d="M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM4.2 11.8l7.6-7.6" />;
    case 'unknown':
      return <path d="M8 1.8 14.2 8 8 14.2 1.8 8zM6.6 6.6a1.5 1.5 0 1 1 2 1.5c-.4.2-.6.5-.6 1M8 10.8h0" />;
    default:
      return <circle cx="8" cy="8" r="5.5" />;
  }
}

export function StatusGlyph({ status, size = 16 }: { readonly status: string; readonly size?: number }): ReactElement {
  return (
    <svg
      className={`status-glyph status-${colourOf(status)}`}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      aria-hidden="true"
      focusable="false"
    >
      <g fill="none" stroke="currentColor" strokeWidth="1.7" strokeLinecap="round" strokeLinejoin="round">
        {glyph(status)}
      </g>
    </svg>
  );
}

export function Status({ status }: { readonly status: string }): ReactElement {
  const words = useText(statusText);
  return (
    <span className={`status status-${colourOf(status)}`}>
      <StatusGlyph status={status} />
      {isShownStatus(status) ? words[status] : status}
    </span>
  );
}
