import type { NebulaClient } from '@nebula/client';
import { found, ofWorkflow, withApi } from '../api.ts';
import { textOption, versionOf } from '../command-options.ts';
import { changedPlan, inputsOption, type Plan, startsText } from '../plans.ts';
import type { CommandOptions, Context } from '../services.ts';
import { tellDone } from '../tell.ts';

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
  return await withApi(context, options, 'change', async ({ api }) => {
    const body = changedPlan(await planNamed(api, planId), given, options);
    const call = api.call('putPlan', { params: { planId }, body });
    const plan = await ofWorkflow(api, body.workflowId, call);
    return tellDone(context, options, plan, `the plan ${planId} starts ${startsText(plan)}`);
  });
}

async function planNamed(api: NebulaClient, planId: string): Promise<Plan | undefined> {
  return await found(api.call('getPlan', { params: { planId } }));
}
