import { type Json, NebulaError } from '@nebula/core';
import { realRandom, sha256 } from '@nebula/drivers/real';
import { keyedExecutionId } from '@nebula/engine';
import { inProject, textOption } from '../command-options.ts';
import { resumeSome } from '../continue-runs.ts';
import { printGrants } from '../grants.ts';
import { applySettings, readJson } from '../input.ts';
import { labelsIn, runnableHere } from '../jobs-file.ts';
import { type WatchedRun, watch } from '../live/watch.ts';
import { locationOf } from '../location.ts';
import { registerAll } from '../register.ts';
import { anyCommandWriter, reportInterrupted, reportRun, viewOf, writeLines } from '../report-runs.ts';
import { findRun, runNamed } from '../runs.ts';
import type { ApiSession, CommandOptions, Context, Project } from '../services.ts';
import { readingWidth } from '../terminal/io.ts';
import { packed } from '../terminal/width.ts';
import { statusGlyph, statusPaint } from '../views/theme.ts';
import { agoText } from '../views/words.ts';
import { type LoadedWorkflow, loadWorkflow } from '../workflow-file.ts';

export async function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const file = args[0] as string;
  const found = await context.services.openProject({ ...(file !== '-' && { file }), ...locationOf(options) });
  const labels = labelsIn(textOption(options, 'labels'));
  const project = labels === undefined ? found : { ...found, config: { ...found.config, labels } };
  const workflow = await loadWorkflow(context, project, file);
  const input = await inputOf(context, options);
  return await runWorkflow(context, project, workflow, input, options);
}

/** The input from `--input` and `--set`. */
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
  return await withWork(context, project, options, { makesFolder: true }, async (session) => {
    const { server } = session;
    const { others } = workflow;
    if (server === undefined && inProject(options).project !== undefined) {
      throw new NebulaError('NEEDS_SERVER', '--project needs a server', {
        hint: 'name a running server with --server',
      });
    }
    const definition =
      server === undefined ? runnableHere(workflow.definition, project.config.labels) : workflow.definition;
    const executionId = await idOf(session, definition.id, options);
    if (typeof executionId !== 'string') return executionId;
    if (options.json !== true && options.quiet !== true) await printGrants(context, session, definition);
    const find = (id: string) => others.find((other) => other.id === id);
    const run = { executionId, definition, find, title: definition.name ?? definition.id };
    return await startWatched(context, project, session, run, options, async () => {
      // Running a file does not activate its triggers.
      const how = { activate: false, ...inProject(options) };
      const { workflowId, version } = await registerAll(session.api, others, definition, how);
      const body = { workflowId, version, executionId, input };
      return (await session.api.call('startExecution', { body })).executionId;
    });
  });
}

/** The run with this idempotency key exists already. */
interface Existing {
  readonly existing: string;
}

/** The id of the run to start: a new id, or the one derived from the idempotency key, whose run may exist already. */
export async function idOf(
  { api }: ApiSession,
  workflowId: string,
  options: CommandOptions,
): Promise<string | Existing> {
  const key = textOption(options, 'idempotencyKey');
  if (key === undefined) return realRandom().id('exe');
  if (key === '') {
    throw new NebulaError('USAGE', '--idempotency-key is empty', { hint: 'name the thing to do once: order-7' });
  }
  const executionId = keyedExecutionId(sha256, workflowId, key);
  return (await findRun(api, executionId)) === undefined ? executionId : { existing: executionId };
}

/** Stays until the run has ended. `start` returns the id of the run; an id other than `executionId` is an existing run. */
export async function startWatched(
  context: Context,
  project: Project,
  session: ApiSession,
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
    await session.work([executionId]);
    answered = await start();
    return answered === executionId;
  });
  if (answered !== executionId) return { existing: answered };
  if (ended.interrupted) return await reportInterrupted(context, project, session, [executionId], json);
  const [rest] = ended.results;
  if (rest === undefined) throw new NebulaError('INTERNAL', 'the run was not waited for');
  return await reportRun({ context, project, session }, rest, view);
}

/** Opens another engine for an existing run: the engine that found it was opened for a different run id. */
export async function withWork(
  context: Context,
  project: Project,
  options: CommandOptions,
  how: { readonly makesFolder?: boolean },
  work: (session: ApiSession) => Promise<number | Existing>,
): Promise<number> {
  const inSession = async <Result>(act: (session: ApiSession) => Promise<Result>): Promise<Result> => {
    const session = await context.services.openApi(project, 'work', how);
    try {
      return await act(session);
    } finally {
      await session.close();
    }
  };
  const done = await inSession(work);
  if (typeof done === 'number') return done;
  return await inSession((session) => goOnWith(context, project, session, done.existing, options));
}

async function goOnWith(
  context: Context,
  project: Project,
  session: ApiSession,
  executionId: string,
  options: CommandOptions,
): Promise<number> {
  const { out, err } = context.io;
  const { status, startedAt } = await runNamed(session, project, executionId);
  const output = options.json === true ? err : out;
  const when = startedAt === null ? '' : `started ${agoText(Date.parse(startedAt), context.io.now())}; `;
  const sign = statusPaint(status, output.colors)(`${statusGlyph(status)} already ${status}`);
  writeLines(output, [
    ...packed([sign, executionId], readingWidth(output)),
    output.colors.dim(`${when}same idempotency key, so no new run`),
    '',
  ]);
  return await resumeSome(context, project, session, [executionId], options);
}
