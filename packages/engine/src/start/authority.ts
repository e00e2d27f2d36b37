/**
 * The project and the capability ceiling of a run: the one place that decides on them, for starts of every kind.
 *
 *  1 A run belongs to the project of its workflow. A start that names another project is refused with `UNKNOWN_WORKFLOW`
 *    and learns no more than that.
 *  2 A run has the ceiling of its project, narrowed by the authority of the start: a child has that of its parent. A run
 *    that begins again (retry, replay, fork) is narrowed by the ceiling that its project has then.
 */
import { type Ceiling, NebulaError, type WorkflowId } from '@nebula/core';
import { narrowCeiling, type RunAuthority, type RunState } from '@nebula/core/run';
import { DEFAULT_PROJECT } from '@nebula/ports';

/** The app's view of projects. */
export interface Projects {
  /** Undefined: there is no such workflow. */
  projectOf(workflowId: WorkflowId): Promise<string | undefined>;
  /** The capability ceiling of the runs of a project. */
  ceilingOf(project: string): Promise<Ceiling>;
}

export interface StartAuthority {
  readonly project: string;
  readonly authority?: RunAuthority;
}

interface StartRequest {
  readonly project?: string;
  readonly principal?: string;
  readonly authority?: RunAuthority;
}

export class Authority {
  private readonly projects: Projects | undefined;

  /** Without `projects` there is one project, and no ceiling. */
  constructor(projects: Projects | undefined) {
    this.projects = projects;
  }

  /** Rejects with `UNKNOWN_WORKFLOW`. */
  ofStart(
    workflowId: WorkflowId,
    version: number | undefined,
    requested: StartRequest,
  ): StartAuthority | Promise<StartAuthority> {
    if (this.projects !== undefined) return this.checked(this.projects, workflowId, version, requested);
    const { project = DEFAULT_PROJECT, authority } = requested;
    return { project, ...(authority && { authority }) };
  }

  private async checked(
    projects: Projects,
    workflowId: WorkflowId,
    version: number | undefined,
    requested: StartRequest,
  ): Promise<StartAuthority> {
    const home = await projects.projectOf(workflowId);
    const project = requested.project ?? home ?? DEFAULT_PROJECT;
    if (home !== project) throw unknownWorkflow(workflowId, version);
    const own = await projects.ceilingOf(project);
    const { ceiling = own } = requested.authority ?? {};
    const principal = requested.principal ?? requested.authority?.principal;
    const authority = { ...(principal !== undefined && { principal }), ceiling: narrowCeiling(ceiling, own) };
    return { project, authority };
  }

  /** Returns undefined if the app has no projects. */
  projectOf(workflowId: WorkflowId): Promise<string | undefined> {
    return this.projects?.projectOf(workflowId) ?? Promise.resolve(undefined);
  }

  /** Returns whether a workflow may use another one: both must be in the same project. */
  async mayUse(project: string | undefined, workflowId: WorkflowId): Promise<boolean> {
    return this.projects === undefined || (await this.projects.projectOf(workflowId)) === project;
  }

  /** The ceiling of runs of the project that are started or reopened now; undefined if the app has no projects. */
  async ceilingOf(project: string): Promise<Ceiling | undefined> {
    return await this.projects?.ceilingOf(project);
  }

  /** Gives a state that was read the ceiling of its project, if its journal has none. */
  async giveCeiling(state: RunState, project: string): Promise<void> {
    if (state.authority === null) state.projectCeiling = (await this.ceilingOf(project)) ?? state.projectCeiling;
  }
}

export function unknownWorkflow(workflowId: WorkflowId, version?: number): NebulaError {
  const what = version === undefined ? `workflow '${workflowId}'` : `version ${version} of workflow '${workflowId}'`;
  return new NebulaError('UNKNOWN_WORKFLOW', `There is no ${what}.`, {
    hint: 'Register it first: `nebula run FILE` does so.',
  });
}
