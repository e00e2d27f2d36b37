/** The engine's view of projects: the project of a workflow, and the ceiling of a project. */
import { type Capabilities, type Ceiling, joinCeilings, NOTHING } from '@nebula/core';
import type { Projects } from '@nebula/engine';
import { DEFAULT_PROJECT, type Records, type Store } from '@nebula/ports';
import { type ProjectRecord, readRecord, type WorkflowRecord } from './records.ts';

export interface Ceilings {
  /** The ceiling of projects without their own: everything on the user's own machine, nothing elsewhere. */
  readonly standard: Ceiling;
  /** Ceilings of the configuration; those set by the API take precedence. */
  readonly configured?: Readonly<Record<string, Ceiling>>;
  /** Granted by the operator in the default project, whatever its ceiling. Does not affect other projects. */
  readonly ofDefault?: Capabilities;
}

export function projectsOf(
  { records, store }: { readonly records: Records; readonly store: Pick<Store, 'workflowVersions'> },
  ceilings: Ceilings,
): Projects {
  return {
    async projectOf(workflowId) {
      const record = await readRecord<WorkflowRecord>(records, 'workflow', workflowId);
      if (record !== undefined) return record.body.project;
      // A workflow that was registered without a server belongs to the default project.
      return (await isRegistered(store, workflowId)) ? DEFAULT_PROJECT : undefined;
    },
    async ceilingOf(project) {
      const record = await readRecord<ProjectRecord>(records, 'project', project);
      return ceilingIn(project, record?.body, ceilings);
    },
  };
}

/** Returns whether the workflow has a version. Reads no definition, which may have megabytes. */
export async function isRegistered(store: Pick<Store, 'workflowVersions'>, workflowId: string): Promise<boolean> {
  return (await store.workflowVersions(workflowId, { limit: 1 })).length > 0;
}

export function ceilingIn(project: string, record: ProjectRecord | undefined, ceilings: Ceilings): Ceiling {
  const { standard, configured = {}, ofDefault = NOTHING } = ceilings;
  const own = Object.hasOwn(configured, project) ? configured[project] : undefined;
  const ceiling = record?.ceiling ?? own ?? standard;
  return project === DEFAULT_PROJECT ? joinCeilings(ceiling, ofDefault) : ceiling;
}
