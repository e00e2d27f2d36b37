import type { NebulaClient } from '@nebula/client';
import { ofWorkflow } from '../api.ts';
import { textOption, versionOf } from '../command-options.ts';
import { locationOf } from '../location.ts';
import { writeLines } from '../report-runs.ts';
import { definitionOf } from '../runs.ts';
import type { ApiSession, CommandOptions, Context } from '../services.ts';
import { jsonDocument } from '../views/json.ts';
import { registeredWorkflows } from '../workflow-folder.ts';
import { idOf, inputOf, startWatched, withWork } from './run.ts';

interface Wanted {
  readonly workflowId: string;
  readonly version: number;
  /** The launch plan to start instead of a workflow. */
  readonly plan?: string;
}

export async function execute(
  context: Context,
  [name = '']: readonly string[],
  options: CommandOptions,
): Promise<number> {
  const project = await context.services.openProject(locationOf(options));
  const input = await inputOf(context, options);
  return await withWork(context, project, options, {}, async (session) => {
    const { api } = session;
    const wanted = await (options.plan === true ? ofPlan(api, name) : ofActive(api, name, options));
    const { workflowId, version, plan } = wanted;
    const executionId = await idOf(session, workflowId, options);
    if (typeof executionId !== 'string') return executionId;
    const what = plan === undefined ? { workflowId, version } : { plan };
    const start = async (): Promise<string> =>
      (await api.call('startExecution', { body: { ...what, executionId, input } })).executionId;
    if (options.wait === false) return await leave(context, session, start, workflowId, options);
    const definition = await definitionOf(api, workflowId, version);
    const find = await registeredWorkflows(session, definition);
    const run = { executionId, definition, find, title: `${definition?.name ?? workflowId} v${version}` };
    return await startWatched(context, project, session, run, options, start);
  });
}

/** Returns when the run is durable. Without a server, the run waits for the next engine. */
async function leave(
  { io }: Context,
  session: ApiSession,
  start: () => Promise<string>,
  workflowId: string,
  options: CommandOptions,
): Promise<number> {
  await session.work([]);
  const executionId = await start();
  if (options.json === true) io.out.write(jsonDocument({ executionId, workflowId }));
  else writeLines(io.out, [executionId]);
  return 0;
}

async function ofActive(api: NebulaClient, workflowId: string, options: CommandOptions): Promise<Wanted> {
  const version = versionOf(textOption(options, 'workflowVersion'));
  const { activeVersion, newestVersion } = await ofWorkflow(
    api,
    workflowId,
    api.call('getWorkflow', { params: { workflowId } }),
  );
  return { workflowId, version: version ?? activeVersion ?? newestVersion };
}

async function ofPlan(api: NebulaClient, planId: string): Promise<Wanted> {
  const { workflowId, version } = await api.call('getPlan', { params: { planId } });
  if (version !== 'active') return { workflowId, version, plan: planId };
  return { ...(await ofActive(api, workflowId, {})), plan: planId };
}
