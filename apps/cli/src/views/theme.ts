/** One sign and one colour per status, the same in every view. */
import type { NodeStatus, RunStatus } from '@nebula/core';
import type { Colors } from '../terminal/io.ts';

export type Paint = (text: string) => string;

export const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const;

const NODE_GLYPHS: Record<NodeStatus, string> = {
  pending: '○',
  queued: '◌',
  running: '●',
  waiting: '⏸',
  completed: '✓',
  failed: '✗',
  skipped: '⊘',
  cancelled: '⊗',
  unknown: '?',
};

export function nodeGlyph(status: NodeStatus): string {
  return NODE_GLYPHS[status];
}

export function nodePaint(status: NodeStatus, colors: Colors): Paint {
  switch (status) {
    case 'completed':
      return colors.green;
    case 'failed':
      return colors.red;
    case 'running':
      return colors.cyan;
    case 'waiting':
      return colors.yellow;
    case 'unknown':
      return colors.magenta;
    case 'cancelled':
      return colors.yellow;
    case 'queued':
      return (text) => text;
    default:
      return colors.dim;
  }
}

const RUN_GLYPHS: Record<RunStatus, string> = {
  pending: '○',
  running: '●',
  paused: '⏸',
  compensating: '↺',
  completed: '✓',
  failed: '✗',
  cancelled: '⊗',
  'timed-out': '⧖',
};

export function runGlyph(status: RunStatus): string {
  return RUN_GLYPHS[status];
}

export function runPaint(status: RunStatus, colors: Colors): Paint {
  switch (status) {
    case 'completed':
      return colors.green;
    case 'failed':
      return colors.red;
    case 'running':
      return colors.cyan;
    case 'pending':
      return colors.dim;
    default:
      return colors.yellow;
  }
}
