import { type Json, NebulaError, pinWorkflows, type WorkflowDefinition } from '@nebula/core';
import { anyCommandWriter, concludeInterrupted, concludeRun, viewOf, writeLines } from '../conclude.ts';
import { documentOf, inProject, placeOf, textOption } from '../desk.ts';
import { resumeSome } from '../go-on.ts';
import { tellGrants } from '../grants.ts';
import { applySettings, readJson } from '../input.ts';
import { labelsIn, runnableHere } from '../jobs-file.ts';
import { type WatchedRun, watch } from '../live/watch.ts';
import type { CommandOptions, Context, EngineSession, Project } from '../services.ts';
import { readingWidth } from '../terminal/io.ts';
import { packed } from '../terminal/width.ts';
import { runGlyph, runPaint } from '../views/theme.ts';
import { agoText } from '../views/words.ts';
import { type LoadedWorkflow, loadWorkflow } from '../workflow-file.ts';

export async function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const file = args[0] as string;
  const found = await context.services.openProject({ ...(file !== '-' && { file }), ...placeOf(options) });
  const labels = labelsIn(textOption(options, 'labels'));
  const project = labels === undefined ? found : { ...found, config: { ...found.config, labels } };
  const workflow = await loadWorkflow(context, project, file);
  const input = await inputOf(context, options);
  return await runWorkflow(context, project, workflow, input, options);
}

/** As `--input` and `--set` say. */
export async function inputOf({ io }: Context, options: CommandOptions): Promise<Json> {
  const given = textOption(options, 'input');
  const input = given === undefined ? undefined : await readJson(io, given, '--input');
  return applySettings(input, Array.isArray(options.set) ? (options.set as string[]) : []) ?? {};
}

/** Starts a checked workflow and stays until it has ended. */
export async function runWorkflow(
  context: Context,
  project: Project,
  workflow: LoadedWorkflow,
  input: Json,
  options: CommandOptions,
): Promise<number> {
  workflow.checkInput(input);
  const key = keyOf(options);
  const started = await withEngine(context, project, async (session): Promise<number | Existing> => {
    const workflowId = workflow.definition.id;
    const executionId = key === undefined ? session.newExecutionId() : session.keyedExecutionId(workflowId, key);
    const isThere = key !== undefined && (await session.desk.document(executionId)) !== undefined;
    return isThere
      ? { existing: executionId }
      : await startRun(context, project, session, workflow, executionId, input, options);
  });
  return typeof started === 'number' ? started : await goOnWith(context, project, started.existing, options);
}

/** What was to be started is there already. */
export interface Existing {
  readonly existing: string;
}

async function startRun(
  context: Context,
  project: Project,
  session: EngineSession,
  loaded: LoadedWorkflow,
  executionId: string,
  input: Json,
  options: CommandOptions,
): Promise<number | Existing> {
  const { engine, server } = session;
  const { others } = loaded;
  const definition = server === undefined ? runnableHere(loaded.definition, project.config.labels) : loaded.definition;
  const title = definition.name ?? definition.id;
  const find = (id: string) => others.find((other) => other.id === id);
  if (options.json !== true && options.quiet !== true) await tellGrants(context, session, definition);
  return await startWatched(context, project, session, { executionId, definition, find, title }, options, async () => {
    const { workflowId, version } = await registerAll(session, [...others, definition], options);
    return await engine.start(workflowId, version, { executionId, input, trigger: TRIGGER });
  });
}

/** What runs that were started here say of it. */
export const TRIGGER: Json = { type: 'manual', from: 'cli' };

/** Stays until the run has ended. `start` gives the id of the run; another one than asked for is there already. */
export async function startWatched(
  context: Context,
  project: Project,
  session: EngineSession,
  run: WatchedRun,
  options: CommandOptions,
  start: () => Promise<string>,
): Promise<number | Existing> {
  const view = viewOf(options);
  const { json } = view;
  const { executionId } = run;
  const command = anyCommandWriter(context, project);
  let answered = executionId;
  const ended = await watch(context, session, [run], { ...view, command }, async () => {
    await session.engine.open({ only: [executionId] });
    answered = await start();
    return answered === executionId;
  });
  if (answered !== executionId) return { existing: answered };
  if (ended.interrupted) return await concludeInterrupted(context, project, session, [executionId], json);
  const [rest] = ended.rests;
  if (rest === undefined) throw new NebulaError('INTERNAL', 'the run was not waited for');
  return await concludeRun({ context, project, session }, rest, view);
}

/** In an engine of its own: the one that found it was opened for a run that does not exist. */
export function goOnWith(
  context: Context,
  project: Project,
  executionId: string,
  options: CommandOptions,
): Promise<number> {
  return withEngine(context, project, async (session) => {
    const { out, err } = context.io;
    const { status, startedAt } = await documentOf(session, project, executionId);
    const output = options.json === true ? err : out;
    const when = startedAt === null ? '' : `it was started ${agoText(Date.parse(startedAt), context.io.now())}; `;
    const sign = runPaint(status, output.colors)(`${runGlyph(status)} already ${status}`);
    writeLines(output, [
      ...packed([sign, executionId], readingWidth(output)),
      output.colors.dim(`${when}this is the same start`),
      '',
    ]);
    return await resumeSome(context, project, session, [executionId], options);
  });
}

export async function withEngine<Result>(
  { services }: Context,
  project: Project,
  work: (session: EngineSession) => Promise<Result>,
): Promise<Result> {
  const session = await services.openEngine(project);
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

/** As `--idempotency-key` says. */
export function keyOf(options: CommandOptions): string | undefined {
  const key = textOption(options, 'idempotencyKey');
  if (key !== '') return key;
  throw new NebulaError('USAGE', '--idempotency-key is empty', { hint: 'name what is to be done once: order-7' });
}

/** What is run inside another is pinned to what was registered here, which need not be the newest: it may be an old text again. */
async function registerAll(
  { engine, server }: EngineSession,
  definitions: readonly WorkflowDefinition[],
  options: CommandOptions,
): Promise<{ readonly workflowId: string; readonly version: number }> {
  const { project } = inProject(options);
  if (project !== undefined && server === undefined) {
    throw new NebulaError('NEEDS_SERVER', 'projects are of a server', { hint: '--server names one that runs' });
  }
  const versions = new Map<string, number>();
  let last = { workflowId: '', version: 0 };
  for (const definition of definitions) {
    const pinned = pinWorkflows(definition, (id) => versions.get(id));
    last = await engine.register(pinned as unknown as Json, project);
    versions.set(last.workflowId, last.version);
  }
  return last;
}
