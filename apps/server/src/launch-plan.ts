/** Resolves a launch plan: workflow, version, input and concurrency limit of a start. */
import { type ConcurrencySlot, isJsonObject, type Json, type JsonObject, NebulaError } from '@nebula/core';
import type { EngineOptions } from '@nebula/engine';
import { projectOfWorkflow, unknownLaunchPlan } from './http/subject.ts';
import type { Parts } from './parts.ts';
import { type LaunchPlanRecord, readRecord, type WorkflowRecord } from './records.ts';

type OfPlans = Pick<Parts, 'records' | 'store'>;

export interface ResolvedLaunchPlan {
  readonly workflowId: string;
  /** Undefined: the newest. */
  readonly version: number | undefined;
  readonly input: Json;
  readonly slot?: ConcurrencySlot;
  readonly project: string;
}

/** `given` may not name what the plan fixes. Rejects with `UNKNOWN_PLAN`, `PLAN_INACTIVE`, `INPUT_INVALID`, `INPUT_FIXED`. */
export async function resolveLaunchPlan(parts: OfPlans, planId: string, given: Json): Promise<ResolvedLaunchPlan> {
  const plan = await activePlan(parts, planId);
  const input = inputObject(given);
  const fixed = Object.keys(input).find((name) => Object.hasOwn(plan.fixed, name));
  if (fixed !== undefined) {
    throw new NebulaError('INPUT_FIXED', `The launch plan '${planId}' fixes '${fixed}'.`, { hint: 'Leave it out.' });
  }
  return await startOf(parts, planId, plan, input);
}

/** Resolves launch plans for nodes that name one: only plans of the run's own project, whose fixed inputs win. */
export function launchPlans(parts: OfPlans): NonNullable<EngineOptions['launchPlan']> {
  return async (planId, { project, input }) => {
    const record = await readRecord<LaunchPlanRecord>(parts.records, 'plan', planId);
    // A launch plan of another project gets the same error as a missing one.
    if (record === undefined || record.body.project !== project) throw unknownLaunchPlan(planId);
    const start = await startOf(parts, planId, await activePlan(parts, planId), inputObject(input));
    if (start.project !== project) throw unknownLaunchPlan(planId);
    return start;
  };
}

async function activePlan({ records }: OfPlans, planId: string): Promise<LaunchPlanRecord> {
  const plan = await readRecord<LaunchPlanRecord>(records, 'plan', planId);
  if (plan === undefined) throw unknownLaunchPlan(planId);
  if (plan.body.active) return plan.body;
  throw new NebulaError('PLAN_INACTIVE', `The launch plan '${planId}' is not active.`, {
    hint: 'Set `active` to true.',
  });
}

function inputObject(given: Json): JsonObject {
  if (isJsonObject(given)) return given;
  throw new NebulaError('INPUT_INVALID', 'The input of a launch plan is an object.');
}

async function startOf(
  parts: OfPlans,
  planId: string,
  plan: LaunchPlanRecord,
  given: JsonObject,
): Promise<ResolvedLaunchPlan> {
  const { workflowId, concurrency } = plan;
  const { project, active } = await homeOf(parts, workflowId);
  const version = plan.version === 'active' ? active : plan.version;
  const input = { ...plan.inputs, ...given, ...plan.fixed } as JsonObject;
  const slot = concurrency && { key: `plan '${planId}' of '${project}'`, ...concurrency };
  return { workflowId, version, input, project, ...(slot && { slot }) };
}

/** The project of the workflow's runs, and its active version; undefined: the newest. */
export async function homeOf(
  parts: OfPlans,
  workflowId: string,
): Promise<{ readonly project: string; readonly active: number | undefined }> {
  const record = await readRecord<WorkflowRecord>(parts.records, 'workflow', workflowId);
  if (record === undefined) return { project: await projectOfWorkflow(parts, workflowId), active: undefined };
  return { project: record.body.project, active: record.body.active ?? undefined };
}
