/** Icons on a grid of 16 px, drawn with the colour of the text. */
import type { ReactElement } from 'react';

const PATHS = {
  runs: 'M3 3.5h6M3 8h10M3 12.5h7M12 2.2l2 1.3-2 1.3z',
  workflows: 'M2.5 3h4v3h-4zM9.5 10h4v3h-4zM4.5 6v5.5h5M2.5 10h0',
  inbox: 'M2.5 9.5 4 3.5h8l1.5 6v3h-11zM2.5 9.5h3l1 1.5h3l1-1.5h3',
  schedules: 'M8 4.5V8l2.5 1.5M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2z',
  fleet: 'M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h0M5 11h0M7.5 5h3.5M7.5 11h3.5',
  overview: 'M2.5 13.5h11M4 11V8M7 11V4M10 11V6.5M13 11V3',
  credentials: 'M10.2 2.5a3.3 3.3 0 1 0 0 6.6 3.3 3.3 0 0 0 0-6.6zM7.8 8.2 2.5 13.5M4 12l1.8 1.8M6 10l1.4 1.4',
  audit: 'M4 2.5h6l2.5 2.5v8.5H4zM10 2.5V5h2.5M6 7.5h4.5M6 10h4.5',
  settings:
    'M8 5.8a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4zM8 1.8v2M8 12.2v2M1.8 8h2M12.2 8h2M3.6 3.6 5 5M11 11l1.4 1.4M12.4 3.6 11 5M5 11l-1.4 1.4',
  search: 'M7 2.8a4.2 4.2 0 1 0 0 8.4 4.2 4.2 0 0 0 0-8.4zM10.2 10.2 13.5 13.5',
  plus: 'M8 3v10M3 8h10',
  close: 'M4 4l8 8M12 4l-8 8',
  chevron: 'M6 4l4 4-4 4',
  down: 'M4 6l4 4 4-4',
  back: 'M10 4 6 8l4 4',
  play: 'M5 3.2v9.6L12.5 8z',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  stop: 'M4 4h8v8H4z',
  retry: 'M12.8 6.5A5 5 0 1 0 13 9.2M13 3v3.5H9.5',
  fork: 'M4.5 3v4c0 2 7 1 7 4v2M4.5 7v6M11.5 3v0M4.5 2v1M11.5 11v3',
  more: 'M3.5 8h0M8 8h0M12.5 8h0',
  copy: 'M5.5 5.5h8v8h-8zM2.5 10.5v-8h8',
  check: 'M3 8.5 6.5 12 13 4.5',
  warning: 'M8 2.5 14 13.5H2zM8 6.5v3.5M8 12h0',
  edit: 'M10.5 2.8l2.7 2.7L6 12.7l-3.2.5.5-3.2z',
  trash: 'M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5l.6 9h5.8l.6-9',
  file: 'M4 2.5h5l3 3v8H4zM9 2.5v3h3',
  user: 'M8 2.5a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM2.8 13.5c.5-2.8 2.6-4 5.2-4s4.7 1.2 5.2 4',
  sun: 'M8 5.3a2.7 2.7 0 1 0 0 5.4 2.7 2.7 0 0 0 0-5.4zM8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M12.6 3.4l-1 1M4.4 11.6l-1 1',
  moon: 'M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z',
  undo: 'M6 3.5 3 6.5l3 3M3 6.5h6a3.5 3.5 0 0 1 0 7H6',
  redo: 'M10 3.5l3 3-3 3M13 6.5H7a3.5 3.5 0 0 0 0 7h3',
  link: 'M6.5 9.5l3-3M7.5 4.5 9 3a2.8 2.8 0 0 1 4 4l-1.5 1.5M8.5 11.5 7 13a2.8 2.8 0 0 1-4-4l1.5-1.5',
  download: 'M8 2.5v7.5M4.5 7 8 10.5 11.5 7M3 13.5h10',
  upload: 'M8 10.5V3M4.5 6 8 2.5 11.5 6M3 13.5h10',
  filter: 'M2.5 3.5h11L9.5 8.5v4l-3 1.5V8.5z',
  clock: 'M8 4.5V8l2 1.2M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2z',
  bolt: 'M9 1.8 3.5 9H8l-1 5.2L12.5 7H8z',
  fit: 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10',
  pin: 'M6 2.5h4M6.5 2.5v4L4.5 9h7l-2-2.5v-4M8 9v4.5',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  question: 'M6 6a2 2 0 1 1 2.8 1.8c-.6.3-.8.7-.8 1.4M8 11.5h0M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2z',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }): ReactElement {
  return (
    <svg className="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path
        d={PATHS[name]}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.4"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
