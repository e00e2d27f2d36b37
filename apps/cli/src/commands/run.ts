import { type Json, NebulaError, pinWorkflows, type WorkflowDefinition } from '@nebula/core';
import type { Engine } from '@nebula/engine';
import { anyCommandWriter, concludeInterrupted, concludeRun } from '../conclude.ts';
import { textOption } from '../desk.ts';
import { applySettings, readJson } from '../input.ts';
import { watch } from '../live/watch.ts';
import type { CommandOptions, Context, Project } from '../services.ts';
import { type LoadedWorkflow, loadWorkflow } from '../workflow-file.ts';

export async function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const file = args[0] as string;
  const dataDir = textOption(options, 'dataDir');
  const project = await context.services.openProject({
    ...(file !== '-' && { file }),
    ...(dataDir !== undefined && { dataDir }),
  });
  const workflow = await loadWorkflow(context, project, file);
  const input = await inputOf(context, options);
  return await runWorkflow(context, project, workflow, input, options);
}

async function inputOf({ io }: Context, options: CommandOptions): Promise<Json> {
  const given = textOption(options, 'input');
  const input = given === undefined ? undefined : await readJson(io, given, '--input');
  return applySettings(input, Array.isArray(options.set) ? (options.set as string[]) : []) ?? {};
}

/** Starts a checked workflow and stays until it has ended. */
export async function runWorkflow(
  context: Context,
  project: Project,
  { definition, others, checkInput }: LoadedWorkflow,
  input: Json,
  options: CommandOptions,
): Promise<number> {
  checkInput(input);
  const view = { json: options.json === true, quiet: options.quiet === true };
  const { json } = view;
  const session = await context.services.openEngine(project);
  try {
    const { engine } = session;
    const executionId = session.newExecutionId();
    const title = definition.name ?? definition.id;
    const find = (id: string) => others.find((other) => other.id === id);
    const run = { executionId, definition, find, title };
    const command = anyCommandWriter(context, project);
    const ended = await watch(context, session, [run], { ...view, command }, async () => {
      await engine.open({ only: [executionId] });
      const { workflowId, version } = await registerAll(engine, [...others, definition]);
      await engine.start(workflowId, version, { executionId, input, trigger: { type: 'manual', from: 'cli' } });
    });
    if (ended.interrupted) return await concludeInterrupted(context, project, session, [executionId], json);
    const [rest] = ended.rests;
    if (rest === undefined) throw new NebulaError('INTERNAL', 'the run was not waited for');
    return await concludeRun({ context, project, desk: session.desk }, rest, view);
  } finally {
    await session.close();
  }
}

/** What is run inside another is pinned to what was registered here, which need not be the newest: it may be an old text again. */
async function registerAll(
  engine: Engine,
  definitions: readonly WorkflowDefinition[],
): Promise<{ readonly workflowId: string; readonly version: number }> {
  const versions = new Map<string, number>();
  let last = { workflowId: '', version: 0 };
  for (const definition of definitions) {
    const pinned = pinWorkflows(definition, (id) => versions.get(id));
    last = await engine.register(pinned as unknown as Json);
    versions.set(last.workflowId, last.version);
  }
  return last;
}
