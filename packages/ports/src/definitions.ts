/** Versions of workflow definitions, and how long their nodes take. */
import type { WorkflowId } from '@nebula/core';

export interface WorkflowVersionRow {
  readonly workflowId: WorkflowId;
  readonly version: number;
  /** SHA-256 of the canonical definition. */
  readonly hash: string;
  readonly definition: string;
  readonly createdAt: number;
}

/** A version to register; without `version` it gets the next free one. */
export type NewWorkflowVersion = Omit<WorkflowVersionRow, 'version'> & { readonly version?: number };

/** A version without its text. */
export type WorkflowVersionHead = Omit<WorkflowVersionRow, 'definition'>;

/** A workflow in lists. */
export interface WorkflowHead {
  readonly workflowId: WorkflowId;
  /** The newest version: the one that was registered last. */
  readonly version: number;
  /** The number of versions. */
  readonly versions: number;
}

/** A page of workflows, in order of id. */
export interface WorkflowPage {
  /** Only ids beyond this one. */
  readonly after?: string;
  /** Only this workflow. */
  readonly workflowId?: WorkflowId;
  readonly limit: number;
}

export type RegisterOutcome =
  | { readonly ok: true; readonly version: number; readonly created: boolean }
  | { readonly ok: false; readonly reason: 'version-taken' };

/** The duration of a node of a workflow. */
export interface DurationRow {
  readonly workflowId: WorkflowId;
  /** The node's path without iteration numbers. */
  readonly node: string;
  readonly ms: number;
}

export interface Definitions {
  /** A version with a known hash is not stored again; it becomes the newest one. */
  registerWorkflow(row: NewWorkflowVersion): Promise<RegisterOutcome>;
  /** Without `version`, the newest one, which was registered last. */
  workflowVersion(workflowId: WorkflowId, version?: number): Promise<WorkflowVersionRow | undefined>;
  workflows(page: WorkflowPage): Promise<readonly WorkflowHead[]>;
  /** Versions, the highest one first, below `after`. */
  workflowVersions(
    workflowId: WorkflowId,
    page: { readonly after?: number; readonly limit: number },
  ): Promise<readonly WorkflowVersionHead[]>;
  /** Known durations of the nodes of a workflow, by node. */
  durations(workflowId: WorkflowId): Promise<ReadonlyMap<string, number>>;
}
