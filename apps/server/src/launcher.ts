/** Starts runs for the API, webhooks, schedules and events. */
import { isJsonObject, isTestVersion, type Json, NebulaError } from '@nebula/core';
import { isTestRun } from '@nebula/engine';
import type { ExecutionRow } from '@nebula/ports';
import { unknownLaunchPlan, unknownWorkflow } from './http/subject.ts';
import { homeOf, type ResolvedLaunchPlan, resolveLaunchPlan } from './launch-plan.ts';
import type { EngineParts } from './parts.ts';

export interface Launch {
  readonly workflowId?: string;
  readonly version?: number;
  /** A launch plan, instead of a workflow. */
  readonly plan?: string;
  readonly input?: unknown;
  readonly executionId?: string;
  readonly idempotencyKey?: string;
  /** The project that the workflow must belong to; omitted: any. */
  readonly project?: string;
  /** The trace context of the request. */
  readonly traceparent?: string | undefined;
}

export interface Relaunch {
  readonly input?: unknown;
  readonly version?: number | 'same' | 'active';
  readonly idempotencyKey?: string | undefined;
}

export interface Launched {
  readonly executionId: string;
  /** False if the run existed already. */
  readonly isNew: boolean;
}

export class Launcher {
  private readonly parts: EngineParts;

  constructor(parts: EngineParts) {
    this.parts = parts;
  }

  async start(launch: Launch, trigger: Json): Promise<Launched> {
    const { workflowId, version, input, slot, project } = await this.resolved(launch);
    const { engine, random, store } = this.parts;
    if (launch.project !== undefined && launch.project !== project) {
      throw launch.plan === undefined ? unknownWorkflow(workflowId) : unknownLaunchPlan(launch.plan);
    }
    const { idempotencyKey, traceparent } = launch;
    const wanted = launch.executionId ?? (idempotencyKey === undefined ? random.id('exe') : undefined);
    const before = wanted === launch.executionId && wanted !== undefined ? await store.execution(wanted) : undefined;
    if (before !== undefined) refuseOther(before, workflowId);
    const executionId = await engine.start(workflowId, version, {
      input,
      trigger,
      project,
      ...principalOf(trigger),
      ...(traceparent !== undefined && { traceparent }),
      ...(slot && { slot }),
      ...(wanted === undefined ? { idempotencyKey: idempotencyKey as string } : { executionId: wanted }),
    });
    // The id may have been taken meanwhile by a run that the caller may not see.
    if (launch.executionId !== undefined && before === undefined) {
      refuseOther(await store.execution(executionId), workflowId);
    }
    return { executionId, isNew: before === undefined && (wanted === undefined || wanted === executionId) };
  }

  /** Starts the workflow of a run again, with the same version or the requested one. */
  async relaunch(
    executionId: string,
    { input, version = 'same', idempotencyKey }: Relaunch,
    trigger: Json,
  ): Promise<string> {
    const row = await this.parts.store.execution(executionId);
    if (row === undefined) throw new NebulaError('UNKNOWN_EXECUTION', `There is no execution ${executionId}.`);
    const before = input === undefined ? await this.inputOf(executionId) : (input as Json);
    const wanted = version === 'same' ? row.version : version;
    if (typeof wanted === 'number' && isTestVersion(wanted)) throw isTestRun(executionId);
    const { executionId: again } = await this.start(
      {
        workflowId: row.workflowId,
        input: before,
        ...(wanted === 'active' ? {} : { version: wanted }),
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      },
      trigger,
    );
    return again;
  }

  private async inputOf(executionId: string): Promise<Json> {
    const input = await this.parts.executions.input(executionId);
    if (input === undefined) throw new NebulaError('UNKNOWN_EXECUTION', `There is no execution ${executionId}.`);
    return input;
  }

  private async resolved(launch: Launch): Promise<ResolvedLaunchPlan> {
    const given = (launch.input ?? {}) as Json;
    if (launch.plan !== undefined) {
      refuseBeside(launch);
      return await resolveLaunchPlan(this.parts, launch.plan, given);
    }
    if (launch.workflowId === undefined) {
      throw new NebulaError('BODY_INVALID', "The body lacks 'workflowId'.", {
        hint: 'Name a workflow, or a launch `plan`.',
      });
    }
    const { project, active } = await homeOf(this.parts, launch.workflowId);
    return { workflowId: launch.workflowId, version: launch.version ?? active, input: given, project };
  }
}

/** The principal of the run: the caller or the trigger. The owner of a data folder has no name. */
function principalOf(trigger: Json): { readonly principal?: string } {
  const { by, type } = isJsonObject(trigger) ? trigger : {};
  if (type === 'manual') return {};
  return { principal: typeof by === 'string' ? by : `trigger ${typeof type === 'string' ? type : 'unknown'}` };
}

/** A launch plan decides workflow and version. */
function refuseBeside(launch: Launch): void {
  const beside = (['workflowId', 'version'] as const).find((name) => launch[name] !== undefined);
  if (beside === undefined) return;
  throw new NebulaError('BODY_INVALID', `'${beside}' and 'plan' do not go together.`, {
    hint: `The launch plan selects the workflow and its version: leave '${beside}' out.`,
    details: { errors: [{ pointer: `/${beside}`, detail: 'does not go with a plan' }] },
  });
}

function refuseOther(row: ExecutionRow | undefined, workflowId: string): void {
  if (row === undefined || row.workflowId === workflowId) return;
  throw new NebulaError('EXECUTION_ID_TAKEN', `The id '${row.executionId}' belongs to another run.`, {
    hint: 'Choose another id, or leave it out.',
  });
}

/** The header is validated where it is used. */
export function traceparentIn(headers: Readonly<Record<string, unknown>>): string | undefined {
  const { traceparent } = headers;
  return typeof traceparent === 'string' ? traceparent : undefined;
}
