import type { NebulaClient } from '@nebula/client';
import { found, ofWorkflow, withApi } from '../api.ts';
import { textOption, versionOf } from '../command-options.ts';
import { changedLaunchPlan, inputsOption, type LaunchPlan, startsText } from '../launch-plans.ts';
import { printDone } from '../print.ts';
import type { CommandOptions, Context } from '../services.ts';

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
    const body = changedLaunchPlan(await planNamed(api, planId), given, options);
    const call = api.call('putPlan', { params: { planId }, body });
    const plan = await ofWorkflow(api, body.workflowId, call);
    return printDone(context, options, plan, `the plan ${planId} starts ${startsText(plan)}`);
  });
}

async function planNamed(api: NebulaClient, planId: string): Promise<LaunchPlan | undefined> {
  return await found(api.call('getPlan', { params: { planId } }));
}
