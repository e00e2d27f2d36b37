/** The statuses of a run and its nodes. */

export type NodeStatus =
  | 'pending'
  | 'queued'
  | 'running'
  | 'waiting'
  | 'completed'
  | 'failed'
  | 'skipped'
  | 'cancelled'
  | 'unknown';

export type RunStatus =
  | 'pending'
  | 'running'
  | 'paused'
  | 'compensating'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'timed-out';

export type FinalRunStatus = 'completed' | 'failed' | 'cancelled' | 'timed-out';
