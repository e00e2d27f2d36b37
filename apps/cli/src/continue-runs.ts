/** Continues runs in an engine of this process until they have ended or are parked. */
import { withSession } from './api.ts';
import type { WatchedRun } from './live/live-view.ts';
import { watch } from './live/watch.ts';
import { unknownExecution } from './location.ts';
import { print } from './print.ts';
import { engineHere, recordedLines } from './recorded-requests.ts';
import { reportInterrupted, reportRun, reportRuns, viewOf } from './report-runs.ts';
import { definitionOfRun, findRun } from './runs.ts';
import type { ApiSession, OpenCall, ProjectCall } from './services.ts';
import { versionWord } from './views/words.ts';
import { registeredWorkflows } from './workflow-folder.ts';

/** Continues runs that have a recorded request. Calls `otherwise` with `--no-run`, or if another engine owns the folder. */
export async function continueHere(
  call: ProjectCall,
  executionIds: readonly string[],
  otherwise: (call: ProjectCall, executionIds: readonly string[]) => number | Promise<number> = reportRecorded,
): Promise<number> {
  const session = call.options.run === false ? undefined : await engineHere(call);
  if (session === undefined) return otherwise(call, executionIds);
  return await withSession(call, session, (open) => resumeSome(open, executionIds));
}

export async function reportRecorded(call: ProjectCall, executionIds: readonly string[]): Promise<number> {
  const only = executionIds.length === 1 ? executionIds[0] : undefined;
  const documents = executionIds.map((executionId) => ({ executionId, requested: true }));
  const words = only === undefined ? 'Requests recorded' : `Request for ${only} recorded`;
  const document = only === undefined ? { items: documents } : documents[0];
  const lines = await recordedLines(call, only, words);
  return print(call, document, () => lines);
}

/** Continues runs and their children, and reports how they ended. */
export async function resumeSome(open: OpenCall, executionIds: readonly string[]): Promise<number> {
  return await continueRuns(open, await watchedRuns(open, executionIds), () => open.session.work(executionIds));
}

export async function watchedRuns({ session, project }: OpenCall, executionIds: readonly string[]) {
  const runs: WatchedRun[] = [];
  for (const executionId of executionIds) {
    runs.push((await watchedRun(session, executionId)) ?? unknownExecution(project, executionId));
  }
  return runs;
}

export async function continueRuns(
  open: OpenCall,
  runs: readonly WatchedRun[],
  begin: () => Promise<void>,
  isList = runs.length > 1,
): Promise<number> {
  const view = viewOf(open.options);
  const ended = await watch(open, runs, view, begin);
  const executionIds = runs.map((run) => run.executionId);
  if (ended.interrupted) return await reportInterrupted(open, executionIds, view.json);
  const [only] = ended.results;
  if (ended.results.length > 1 || only === undefined || (isList && view.json)) {
    return await reportRuns(open, ended.results, view.json);
  }
  return await reportRun(open, only, view);
}

export async function watchedRun(session: ApiSession, executionId: string): Promise<WatchedRun | undefined> {
  const { api } = session;
  const document = await findRun(api, executionId);
  if (document === undefined) return undefined;
  const definition = await definitionOfRun(api, executionId);
  const title = `${definition?.name ?? document.workflowId} ${versionWord(document.version)}`;
  const find = await registeredWorkflows(session, definition);
  return { executionId, definition, find, title, document };
}
