/** One sign and one colour per status, the same in every view. */
import type { NodeStatus, RunStatus } from '@nebula/core';
import type { Colors } from '../terminal/io.ts';

export type Paint = (text: string) => string;

export const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const;

type Status = NodeStatus | RunStatus;

const GLYPHS: Readonly<Record<Status, string>> = {
  pending: '○',
  queued: '◌',
  running: '●',
  waiting: '⏸',
  paused: '⏸',
  compensating: '↺',
  completed: '✓',
  failed: '✗',
  skipped: '⊘',
  cancelled: '⊗',
  'timed-out': '⧖',
  unknown: '?',
};

export function statusGlyph(status: Status): string {
  return GLYPHS[status];
}

export function statusPaint(status: Status, colors: Colors): Paint {
  switch (status) {
    case 'completed':
      return colors.green;
    case 'failed':
      return colors.red;
    case 'running':
      return colors.cyan;
    case 'unknown':
      return colors.magenta;
    case 'waiting':
    case 'paused':
    case 'compensating':
    case 'cancelled':
    case 'timed-out':
      return colors.yellow;
    case 'queued':
      return (text) => text;
    case 'pending':
    case 'skipped':
      return colors.dim;
  }
}
