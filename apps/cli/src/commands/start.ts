import { type Json, NebulaError } from '@nebula/core';
import { writeLines } from '../conclude.ts';
import { placeOf, textOption } from '../desk.ts';
import { ofWorkflow, openOffice, versionOf } from '../office.ts';
import type { CommandOptions, Context, EngineSession, OfficeSession } from '../services.ts';
import { jsonDocument } from '../views/json.ts';
import { registeredWorkflows } from '../workflow-folder.ts';
import { goOnWith, inputOf, keyOf, startWatched, TRIGGER, withEngine } from './run.ts';

interface Wanted {
  readonly workflowId: string;
  readonly version: number;
  /** The launch plan that is started instead of the workflow itself. */
  readonly plan?: string;
}

export async function execute(
  context: Context,
  [name = '']: readonly string[],
  options: CommandOptions,
): Promise<number> {
  const project = await context.services.openProject(placeOf(options));
  const input = await inputOf(context, options);
  const key = keyOf(options);
  const office = await openOffice(context, project);
  const wanted = await wantedBy(office, name, options);
  const { workflowId, version } = wanted;
  const started = await withEngine(context, project, async (session) => {
    const executionId = key === undefined ? session.newExecutionId() : session.keyedExecutionId(workflowId, key);
    if (key !== undefined && (await session.desk.document(executionId)) !== undefined) return { existing: executionId };
    const start = starter(office, session, wanted, executionId, input);
    if (options.wait === false) return await leave(context, session, start, workflowId, options);
    const definition = await session.definition(workflowId, version);
    const find = await registeredWorkflows(session, definition);
    const run = { executionId, definition, find, title: `${definition?.name ?? workflowId} v${version}` };
    return await startWatched(context, project, session, run, options, start);
  });
  return typeof started === 'number' ? started : await goOnWith(context, project, started.existing, options);
}

async function wantedBy(office: OfficeSession, name: string, options: CommandOptions): Promise<Wanted> {
  try {
    return await (options.plan === true ? ofPlan(office, name) : ofActive(office, name, options));
  } finally {
    // An engine of our own needs the folder for itself.
    if (office.server === undefined) await office.close();
  }
}

async function ofActive(office: OfficeSession, workflowId: string, options: CommandOptions): Promise<Wanted> {
  const version = versionOf(textOption(options, 'workflowVersion'));
  const call = office.call('getWorkflow', { params: { workflowId } });
  const { activeVersion, newestVersion } = await ofWorkflow(office, workflowId, call);
  return { workflowId, version: version ?? activeVersion ?? newestVersion };
}

async function ofPlan(office: OfficeSession, planId: string): Promise<Wanted> {
  if (office.server === undefined) {
    throw new NebulaError('NEEDS_SERVER', 'launch plans are started by a server', {
      hint: '`nebula serve` starts one',
    });
  }
  const { workflowId, version } = await office.call('getPlan', { params: { planId } });
  if (version !== 'active') return { workflowId, version, plan: planId };
  return { ...(await ofActive(office, workflowId, {})), plan: planId };
}

/** By the server, which knows plans; or by the engine here. */
function starter(
  office: OfficeSession,
  { engine }: EngineSession,
  { workflowId, version, plan }: Wanted,
  executionId: string,
  input: Json,
): () => Promise<string> {
  if (office.server === undefined) {
    return () => engine.start(workflowId, version, { executionId, input, trigger: TRIGGER });
  }
  const what = plan === undefined ? { workflowId, version } : { plan };
  return async () => (await office.call('startExecution', { body: { ...what, executionId, input } })).executionId;
}

/** It is durable when this answers. Without a server it waits for the next engine. */
async function leave(
  { io }: Context,
  session: EngineSession,
  start: () => Promise<string>,
  workflowId: string,
  options: CommandOptions,
): Promise<number> {
  await session.engine.open({ only: [] });
  const executionId = await start();
  if (options.json === true) io.out.write(jsonDocument({ executionId, workflowId }));
  else writeLines(io.out, [executionId]);
  return 0;
}
