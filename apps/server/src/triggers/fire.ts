/** Starts the run of a trigger. Its input is the payload, or the value of the trigger's `input`. */
import {
  ExpressionError,
  type Json,
  type JsonObject,
  NebulaError,
  type TriggerPlan,
  triggerInput,
  triggerKey,
} from '@nebula/core';
import type { Launched, Launcher } from '../launcher.ts';
import type { Parts } from '../parts.ts';
import type { ScheduleRecord, TriggerSource } from './records.ts';

export interface Firing {
  readonly source: TriggerSource;
  readonly came: Json;
  /** `$trigger`. */
  readonly trigger: JsonObject;
  /** Starts with the same key give the same run. */
  readonly executionId?: string;
  readonly idempotencyKey?: string;
  /** The trace context of the request. */
  readonly traceparent?: string | undefined;
}

export async function fire(parts: Parts, launcher: Launcher, firing: Firing): Promise<Launched> {
  const { source, came, trigger, executionId, idempotencyKey, traceparent } = firing;
  const { workflowId, version } = source;
  const { plan, own } = await triggerOf(parts, source);
  const input = mapped(() => triggerInput(plan, own, came, trigger));
  return launcher.start(
    {
      workflowId,
      version,
      input,
      traceparent,
      ...(executionId !== undefined && { executionId }),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    },
    trigger,
  );
}

/** Starts the run of a schedule: of its trigger, or of the workflow or launch plan that it names, in its own project. */
export async function fireSchedule(
  parts: Parts,
  launcher: Launcher,
  { trigger: source, project, workflowId, plan, input }: ScheduleRecord,
  trigger: JsonObject,
  executionId?: string,
): Promise<Launched> {
  const id = executionId === undefined ? {} : { executionId };
  if (source !== null) return fire(parts, launcher, { source, came: {}, trigger, ...id });
  const launch = plan === null ? { workflowId: workflowId as string } : { plan };
  return launcher.start({ ...launch, input: input ?? {}, project, ...id }, trigger);
}

/** The key of an event; events without one start a run each. */
export async function correlationOf(
  parts: Parts,
  source: TriggerSource,
  came: Json,
  trigger: Json,
): Promise<Json | undefined> {
  const { plan, own } = await triggerOf(parts, source);
  return mapped(() => triggerKey(plan, own, came, trigger));
}

async function triggerOf(parts: Parts, { workflowId, version, index }: TriggerSource) {
  const plan = await parts.executions.plan(workflowId, version);
  return { plan, own: plan.triggers[index] as TriggerPlan };
}

/** A payload that the expressions cannot use is an error of the caller or the author, not of the server. */
function mapped<T>(evaluate: () => T): T {
  try {
    return evaluate();
  } catch (error) {
    if (!(error instanceof ExpressionError) && !(error instanceof NebulaError)) throw error;
    throw new NebulaError('TRIGGER_INPUT_INVALID', `The data does not fit the trigger's \`input\`: ${error.message}`, {
      hint: 'See `triggers` in the definition.',
    });
  }
}
