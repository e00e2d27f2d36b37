import { NebulaError } from '@nebula/core';
import { textOption } from '../desk.ts';
import { ofWorkflow, tellDone, versionOf, withOffice } from '../office.ts';
import { changedPlan, inputsOption, type Plan, startsText } from '../plans.ts';
import type { CommandOptions, Context, OfficeSession } from '../services.ts';

export async function execute(
  context: Context,
  [planId = '']: readonly string[],
  options: CommandOptions,
): Promise<number> {
  const given = {
    workflowId: textOption(options, 'workflow'),
    version: versionOf(textOption(options, 'workflowVersion')),
    description: textOption(options, 'description'),
    inputs: await inputsOption(context.io, options, 'default'),
    fixed: await inputsOption(context.io, options, 'fixed'),
  };
  return await withOffice(context, options, async (office) => {
    const body = changedPlan(await planNamed(office, planId), given, options);
    const call = office.call('putPlan', { params: { planId }, body });
    const plan = await ofWorkflow(office, body.workflowId, call);
    return tellDone(context, options, plan, `the plan ${planId} starts ${startsText(plan)}`);
  });
}

async function planNamed(office: OfficeSession, planId: string): Promise<Plan | undefined> {
  try {
    return await office.call('getPlan', { params: { planId } });
  } catch (error) {
    if (error instanceof NebulaError && error.code === 'UNKNOWN_PLAN') return undefined;
    throw error;
  }
}
