/** Versions of workflow definitions, and how long their nodes take. */
import type { ExecutionId, WorkflowId } from '@nebula/core';

export interface WorkflowVersionRow {
  readonly workflowId: WorkflowId;
  readonly version: number;
  /** SHA-256 of the canonical definition. */
  readonly hash: string;
  readonly definition: string;
  readonly createdAt: number;
}

/** The text that a version was registered from, as its author wrote it. */
export interface WorkflowSourceRow {
  /** Null: there is no text to show or to edit, as of a workflow in TypeScript. */
  readonly text: string | null;
  /** `yaml`, `json`, `typescript`. */
  readonly format: string;
  readonly filename: string | null;
}

/** A version to register; without `version` it gets the next free one, without `source` it keeps its text. */
export type NewWorkflowVersion = Omit<WorkflowVersionRow, 'version'> & {
  readonly version?: number;
  readonly source?: WorkflowSourceRow;
};

/** A version without its text. */
export type WorkflowVersionHead = Omit<WorkflowVersionRow, 'definition'>;

/** The definition of one test run. Its version is negative, and it is deleted with its execution. */
export interface TestVersionRow extends WorkflowVersionRow {
  readonly executionId: ExecutionId;
}

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
  /** A version with a known hash is not stored again; it becomes the newest one, and `source` replaces its text. */
  registerWorkflow(row: NewWorkflowVersion): Promise<RegisterOutcome>;
  /**
   * Stores a definition that a test run is about to start with. A known version keeps its content, and its age begins anew.
   * An execution may have several: only one of them started it. No list shows them.
   */
  storeTestVersion(row: TestVersionRow): Promise<void>;
  /** Deletes definitions of test runs that were stored before a time and whose execution does not exist. */
  purgeTestVersions(before: number, limit: number): Promise<number>;
  /** Without `version`, the newest one, which was registered last. A negative version is that of a test run. */
  workflowVersion(workflowId: WorkflowId, version?: number): Promise<WorkflowVersionRow | undefined>;
  /** The text of a version; undefined if it was registered without one, or does not exist. */
  workflowSource(workflowId: WorkflowId, version: number): Promise<WorkflowSourceRow | undefined>;
  workflows(page: WorkflowPage): Promise<readonly WorkflowHead[]>;
  /** Versions, the highest one first, below `after`. */
  workflowVersions(
    workflowId: WorkflowId,
    page: { readonly after?: number; readonly limit: number },
  ): Promise<readonly WorkflowVersionHead[]>;
  /** Known durations of the nodes of a workflow, by node. */
  durations(workflowId: WorkflowId): Promise<ReadonlyMap<string, number>>;
}
