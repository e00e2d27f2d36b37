import type { BodyOf } from '@nebula/client';
import { textOption, versionOf } from '../command-options.ts';
import { continueRuns, watchedRun } from '../continue-runs.ts';
import { locationOf } from '../location.ts';
import { writeLines } from '../report-runs.ts';
import { requested } from '../runs.ts';
import type { CommandOptions, Context } from '../services.ts';
import { jsonDocument } from '../views/json.ts';
import { inputOf, withWork } from './run.ts';

/** Starts the workflow of a run again as a new run, with the same input or a new one. */
export async function execute(
  context: Context,
  [executionId = '']: readonly string[],
  options: CommandOptions,
): Promise<number> {
  const { out } = context.io;
  const project = await context.services.openProject(locationOf(options));
  const body = await bodyOf(context, options);
  return await withWork(context, project, options, {}, async (session) => {
    await session.work([]);
    const call = session.api.call('relaunchExecution', { params: { executionId }, body });
    const { executionId: again, workflowId } = await requested(project, executionId, call);
    if (options.wait === false) {
      if (options.json === true) out.write(jsonDocument({ executionId: again, workflowId }));
      else writeLines(out, [again]);
      return 0;
    }
    const run = await watchedRun(session, again);
    // The run is new, so all its events are shown.
    const runs = run === undefined ? [] : [{ ...run, document: undefined }];
    return await continueRuns(context, project, session, runs, options, async () => undefined);
  });
}

async function bodyOf(context: Context, options: CommandOptions): Promise<BodyOf<'relaunchExecution'>> {
  const text = textOption(options, 'workflowVersion');
  const version = text === 'active' || text === 'same' ? text : versionOf(text);
  const isGiven = options.input !== undefined || options.set !== undefined;
  return {
    ...(version !== undefined && { version }),
    ...(isGiven && { input: await inputOf(context, options) }),
  };
}
