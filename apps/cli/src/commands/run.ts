import { type Json, NebulaError } from '@nebula/core';
import { realRandom, sha256 } from '@nebula/drivers/real';
import { keyedExecutionId } from '@nebula/engine';
import { warnOfOldCode, withSession } from '../api.ts';
import { inProject, textOption, textsOption } from '../command-options.ts';
import { resumeSome } from '../continue-runs.ts';
import { printGrants } from '../grants.ts';
import { applySettings, jsonOption } from '../input.ts';
import { labelsIn, runnableHere } from '../jobs-file.ts';
import type { WatchedRun } from '../live/live-view.ts';
import { watch } from '../live/watch.ts';
import { locationOf } from '../location.ts';
import { writeLines } from '../print.ts';
import { reportInterrupted, reportRun, viewOf } from '../report-runs.ts';
import { findRun, runNamed } from '../runs.ts';
import type { Call, Command, OpenCall, ProjectCall, SessionOptions } from '../services.ts';
import { readingWidth } from '../terminal/io.ts';
import { packed } from '../terminal/width.ts';
import { statusGlyph, statusPaint } from '../views/theme.ts';
import { agoText } from '../views/words.ts';
import { type LoadedWorkflow, loadWorkflow, registerAll } from '../workflow-file.ts';

export const execute: Command = async (call, [file = '']) => {
  const { options, services } = call;
  const found = await services.openProject({ ...(file !== '-' && { file }), ...locationOf(options) });
  const labels = labelsIn(textOption(options, 'labels'));
  const project = labels === undefined ? found : { ...found, config: { ...found.config, labels } };
  const workflow = await loadWorkflow(call, project, file, inProject(options).project);
  return await runWorkflow({ ...call, project }, workflow, await inputOf(call));
};

/** The input from `--input` and `--set`. */
export async function inputOf(call: Call): Promise<Json> {
  return applySettings(await jsonOption(call, 'input'), textsOption(call.options, 'set') ?? []) ?? {};
}

/** Starts a checked workflow and stays until it has ended. */
export async function runWorkflow(call: ProjectCall, workflow: LoadedWorkflow, input: Json): Promise<number> {
  const { project, options } = call;
  workflow.checkInput(input);
  return await withWork(call, { makesFolder: true, checks: workflow.checks }, async (open) => {
    const { api, session } = open;
    const { others, texts } = workflow;
    const isHere = session.server === undefined;
    if (isHere && inProject(options).project !== undefined) {
      throw new NebulaError('NEEDS_SERVER', '--project needs a server', {
        hint: 'name a running server with --server',
      });
    }
    const definition = isHere ? runnableHere(workflow.definition, project.config.labels) : workflow.definition;
    const executionId = await idOf(open, definition.id);
    if (typeof executionId !== 'string') return executionId;
    if (options.json !== true && options.quiet !== true) await printGrants(open, definition);
    const find = (id: string) => others.find((other) => other.id === id);
    const { folder } = workflow;
    const run = { executionId, definition, find, title: definition.name ?? definition.id, folder };
    return await startWatched(open, run, async () => {
      // Running a file does not activate its triggers.
      const how = { activate: false, texts, ...inProject(options) };
      const { workflowId, version } = await registerAll(api, others, definition, how);
      return (await api.call('startExecution', { body: { workflowId, version, executionId, input } })).executionId;
    });
  });
}

/** The run with this idempotency key exists already. */
interface Existing {
  readonly existing: string;
}

/** The id of the run to start: a new id, or the one derived from the idempotency key, whose run may exist already. */
export async function idOf({ api, options }: OpenCall, workflowId: string): Promise<string | Existing> {
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
  open: OpenCall,
  run: WatchedRun,
  start: () => Promise<string>,
): Promise<number | Existing> {
  const view = viewOf(open.options);
  const { executionId } = run;
  let answered = executionId;
  const ended = await watch(open, [run], view, async () => {
    await open.session.work([executionId]);
    answered = await start().catch(async (error: unknown) => {
      const { startFailure } = await import('../error-source.ts');
      throw await startFailure(open, error, run.folder);
    });
    return answered === executionId;
  });
  if (answered !== executionId) return { existing: answered };
  if (ended.interrupted) return await reportInterrupted(open, [executionId], view.json);
  const [result] = ended.results;
  if (result === undefined) throw new NebulaError('INTERNAL', 'the run was not waited for');
  return await reportRun(open, result, { ...view, folder: run.folder });
}

/** Opens another engine for an existing run: the engine that found it was opened for a different run id. */
export async function withWork(
  call: ProjectCall,
  how: SessionOptions,
  work: (open: OpenCall) => Promise<number | Existing>,
): Promise<number> {
  const inSession = async <Result>(act: (open: OpenCall) => Promise<Result>): Promise<Result> =>
    await withSession(call, await call.services.openApi(call.project, 'work', how), act);
  const done = await inSession((open) => {
    warnOfOldCode(open);
    return work(open);
  });
  return typeof done === 'number' ? done : await inSession((open) => continueWith(open, done.existing));
}

async function continueWith(open: OpenCall, executionId: string): Promise<number> {
  const { io, options } = open;
  const { status, startedAt } = await runNamed(open, executionId);
  const output = options.json === true ? io.err : io.out;
  const when = startedAt === null ? '' : `started ${agoText(Date.parse(startedAt), io.now())}; `;
  const sign = statusPaint(status, output.colors)(`${statusGlyph(status)} already ${status}`);
  writeLines(output, [
    ...packed([sign, executionId], readingWidth(output)),
    output.colors.dim(`${when}same idempotency key, so no new run`),
    '',
  ]);
  return await resumeSome(open, [executionId]);
}
