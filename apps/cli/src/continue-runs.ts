/** Continues runs in an engine of this process until they have ended or are parked. */

import { type Ended, type WatchedRun, watch } from './live/watch.ts';
import { unknownExecution } from './location.ts';
import { engineHere, recordedLines } from './recorded-requests.ts';
import { anyCommandWriter, reportInterrupted, reportRun, reportRuns, viewOf, writeLines } from './report-runs.ts';
import { definitionOfRun, findRun } from './runs.ts';
import type { ApiSession, CommandOptions, Context, Project } from './services.ts';
import { jsonDocument } from './views/json.ts';
import { registeredWorkflows } from './workflow-folder.ts';

/** Continues runs that have a recorded request. Calls `otherwise` with `--no-run`, or if another engine owns the folder. */
export async function continueHere(
  context: Context,
  project: Project,
  executionIds: readonly string[],
  options: CommandOptions,
  otherwise: (...args: Parameters<typeof reportRecorded>) => number | Promise<number> = reportRecorded,
): Promise<number> {
  const session = options.run === false ? undefined : await engineHere(context, project);
  if (session === undefined) return otherwise(context, project, executionIds, options);
  try {
    return await resumeSome(context, project, session, executionIds, options);
  } finally {
    await session.close();
  }
}

export function reportRecorded(
  context: Context,
  project: Project,
  executionIds: readonly string[],
  options: CommandOptions,
): number {
  const { out } = context.io;
  const [only] = executionIds;
  const isOne = executionIds.length === 1;
  if (options.json === true) {
    const documents = executionIds.map((executionId) => ({ executionId, requested: true }));
    out.write(jsonDocument(isOne ? documents[0] : { items: documents }));
  } else {
    const words = isOne ? `Request for ${only} recorded` : 'Requests recorded';
    writeLines(out, recordedLines(context, project, isOne ? only : undefined, words));
  }
  return 0;
}

/** Continues runs and their children, and reports how they ended. */
export async function resumeSome(
  context: Context,
  project: Project,
  session: ApiSession,
  executionIds: readonly string[],
  options: CommandOptions,
): Promise<number> {
  const runs = await watchedRuns(project, session, executionIds);
  return await continueRuns(context, project, session, runs, options, () => session.work(executionIds));
}

/** Like `resumeSome`, without the report. */
export async function watchSome(
  context: Context,
  project: Project,
  session: ApiSession,
  executionIds: readonly string[],
  view: { readonly json: boolean; readonly quiet: boolean },
): Promise<Ended> {
  const runs = await watchedRuns(project, session, executionIds);
  const watching = { ...view, command: anyCommandWriter(context, project) };
  return await watch(context, session, runs, watching, () => session.work(executionIds));
}

async function watchedRuns(
  project: Project,
  session: ApiSession,
  executionIds: readonly string[],
): Promise<WatchedRun[]> {
  const runs: WatchedRun[] = [];
  for (const executionId of executionIds) {
    runs.push((await watchedRun(session, executionId)) ?? unknownExecution(project, executionId));
  }
  return runs;
}

export async function continueRuns(
  context: Context,
  project: Project,
  session: ApiSession,
  runs: readonly WatchedRun[],
  options: CommandOptions,
  open: () => Promise<void>,
  isList = runs.length > 1,
): Promise<number> {
  const view = viewOf(options);
  const { json } = view;
  const watching = { ...view, command: anyCommandWriter(context, project) };
  const ended = await watch(context, session, runs, watching, open);
  const executionIds = runs.map((run) => run.executionId);
  if (ended.interrupted) return reportInterrupted(context, project, session, executionIds, json);
  const reporting = { context, project, session };
  const [only] = ended.results;
  if (ended.results.length > 1 || only === undefined || (isList && json)) {
    return await reportRuns(reporting, ended.results, json);
  }
  return await reportRun(reporting, only, view);
}

export async function watchedRun(session: ApiSession, executionId: string): Promise<WatchedRun | undefined> {
  const { api } = session;
  const document = await findRun(api, executionId);
  if (document === undefined) return undefined;
  const definition = await definitionOfRun(api, executionId);
  const title = `${definition?.name ?? document.workflowId} v${document.version}`;
  const find = await registeredWorkflows(session, definition);
  return { executionId, definition, find, title, document };
}
