import type { NebulaClient } from '@nebula/client';
import { ofWorkflow } from '../api.ts';
import { textOption, versionOf } from '../command-options.ts';
import { locationOf } from '../location.ts';
import { print } from '../print.ts';
import { definitionOf } from '../runs.ts';
import type { Command } from '../services.ts';
import { registeredWorkflows } from '../workflow-folder.ts';
import { idOf, inputOf, startWatched, withWork } from './run.ts';

interface Wanted {
  readonly workflowId: string;
  readonly version: number;
  /** The launch plan to start instead of a workflow. */
  readonly plan?: string;
}

export const execute: Command = async (call, [name = '']) => {
  const { options } = call;
  const project = await call.services.openProject(locationOf(options));
  const input = await inputOf(call);
  return await withWork({ ...call, project }, {}, async (open) => {
    const { api, session } = open;
    const asked = versionOf(textOption(options, 'workflowVersion'));
    const { workflowId, version, plan } = await (options.plan === true
      ? ofPlan(api, name)
      : ofActive(api, name, asked));
    const executionId = await idOf(open, workflowId);
    if (typeof executionId !== 'string') return executionId;
    const what = plan === undefined ? { workflowId, version } : { plan };
    const start = async (): Promise<string> =>
      (await api.call('startExecution', { body: { ...what, executionId, input } })).executionId;
    if (options.wait === false) {
      // Returns when the run is durable. Without a server, the run waits for the next engine.
      await session.work([]);
      const started = await start();
      return print(call, { executionId: started, workflowId }, () => [started]);
    }
    const definition = await definitionOf(api, workflowId, version);
    const find = await registeredWorkflows(session, definition);
    const run = { executionId, definition, find, title: `${definition?.name ?? workflowId} v${version}` };
    return await startWatched(open, run, start);
  });
};

async function ofActive(api: NebulaClient, workflowId: string, version?: number): Promise<Wanted> {
  const read = api.call('getWorkflow', { params: { workflowId } });
  const { activeVersion, newestVersion } = await ofWorkflow(api, workflowId, read);
  return { workflowId, version: version ?? activeVersion ?? newestVersion };
}

async function ofPlan(api: NebulaClient, planId: string): Promise<Wanted> {
  const { workflowId, version } = await api.call('getLaunchPlan', { params: { planId } });
  if (version !== 'active') return { workflowId, version, plan: planId };
  return { ...(await ofActive(api, workflowId)), plan: planId };
}
