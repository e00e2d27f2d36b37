/** A run as people and programs look at it: `nebula run --json`, `nebula executions show`, later the API. */
import type { RunError } from '../error.ts';
import type { Json } from '../value.ts';
import type { NodeStatus, RunStatus } from './status.ts';

export interface NodeDocument {
  readonly status: NodeStatus;
  readonly attempts: number;
  readonly output: Json;
  readonly error: RunError | null;
  /** ISO 8601, or null when it has not happened. */
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
}

export interface RunDocument {
  readonly executionId: string;
  readonly workflowId: string;
  readonly version: number;
  readonly status: RunStatus;
  readonly output: Json;
  readonly error: RunError | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** Every node by path, in the order of the definition; skipped ones too. */
  readonly nodes: Readonly<Record<string, NodeDocument>>;
}
