/** The texts of the element. A page in another language sets its own: `graph.words = { ... }`. */

import type { Refusal } from '../model/connect.ts';
import type { NodeKind } from '../model/graph.ts';
import type { DrawnStatus } from '../model/run-state.ts';

export interface GraphWords {
  number(value: number): string;
  duration(ms: number): string;
  iteration(index: number): string;
  readonly anyIteration: string;
  failed(count: string): string;
  moreNodes(count: number): string;
  leadsTo(names: string): string;
  errors(count: number): string;
  warnings(count: number): string;
  readonly pinned: string;
  readonly change: Readonly<Record<'added' | 'removed' | 'changed', string>>;
  readonly status: Readonly<Record<DrawnStatus, string>>;
  readonly kind: Readonly<Record<NodeKind, string>>;
  readonly edgeKind: Readonly<Record<'error' | 'always', string>>;
  readonly refusal: Readonly<Record<Refusal, string>>;
  /** Announced while an edge is drawn with the keyboard. */
  connecting(from: string, to: string): string;
  readonly noTarget: string;
  connected(from: string, to: string): string;
  edge(from: string, to: string): string;
}

const whole = new Intl.NumberFormat('en-US');

export const ENGLISH: GraphWords = {
  number: (value) => whole.format(value),
  duration: durationText,
  iteration: (index) => `iteration ${whole.format(index)}`,
  anyIteration: 'any iteration',
  failed: (count) => `${count} failed`,
  moreNodes: (count) => `${whole.format(count)} more nodes`,
  leadsTo: (names) => `leads to ${names}`,
  errors: (count) => (count === 1 ? '1 error' : `${count} errors`),
  warnings: (count) => (count === 1 ? '1 warning' : `${count} warnings`),
  pinned: 'pinned',
  change: { added: 'added', removed: 'removed', changed: 'changed' },
  status: {
    pending: 'pending',
    queued: 'queued',
    running: 'running',
    waiting: 'waiting',
    completed: 'completed',
    failed: 'failed',
    skipped: 'skipped',
    cancelled: 'cancelled',
    unknown: 'unknown',
  },
  kind: {
    action: 'action',
    branch: 'branch',
    wait: 'wait',
    loop: 'loop',
    group: 'group',
    workflow: 'workflow',
    dynamic: 'dynamic',
    set: 'set',
    split: 'split',
    merge: 'merge',
    terminate: 'terminate',
  },
  edgeKind: { error: 'error', always: 'always' },
  refusal: {
    itself: 'A node cannot lead to itself',
    'other-scope': 'An edge cannot cross the border of a group',
    exists: 'This edge exists already',
    cycle: 'This edge would close a cycle',
  },
  connecting: (from, to) => `Connect ${from} to ${to}: Enter connects, arrows choose, Escape cancels`,
  noTarget: 'There is no node to connect to',
  connected: (from, to) => `Connected ${from} to ${to}`,
  edge: (from, to) => `Edge from ${from} to ${to}`,
};

function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} m ${Math.round((ms % 60_000) / 1_000)} s`;
  return `${Math.floor(ms / 3_600_000)} h ${Math.round((ms % 3_600_000) / 60_000)} m`;
}
