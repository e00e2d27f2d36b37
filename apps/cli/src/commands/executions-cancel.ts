import type { RunDocument } from '@nebula/core';
import { withApi } from '../api.ts';
import { type Change, changeRuns, reportChange } from '../bulk.ts';
import { textOption } from '../command-options.ts';
import { continueHere, watchSome } from '../continue-runs.ts';
import { EXIT } from '../exit-code.ts';
import type { Ended } from '../live/watch.ts';
import { ended, engineHere, printRecorded, recordedLines } from '../recorded-requests.ts';
import { countsText, reportInterrupted, reportRun, writeLines } from '../report-runs.ts';
import { requested } from '../runs.ts';
import type { ApiSession, CommandOptions, Context, Project } from '../services.ts';
import { jsonDocument } from '../views/json.ts';
import { statusGlyph, statusPaint } from '../views/theme.ts';
import { plural } from '../views/words.ts';

export async function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const reason = textOption(options, 'reason') ?? 'cancelled from the command line';
  const node = textOption(options, 'node');
  const compensate = options.compensate !== false;
  const how = { ...(!compensate && { compensate }), ...(node !== undefined && { node }) };
  const change: Change = {
    verb: node === undefined ? 'cancel' : `cancel ${node} of`,
    done: 'requested',
    refusal: ended,
    ...(node === undefined && { bulk: { operation: 'cancel', reason, ...(!compensate && { compensate }) } }),
    async act({ executionId }, { api }, project) {
      const body = { reason, ...how };
      await requested(project, executionId, api.call('cancelExecution', { params: { executionId }, body }));
    },
  };
  const changed = await changeRuns(context, args, options, change);
  const { project } = changed;
  const targets = changed.one ? [changed.target] : changed.changed;
  const executionIds = targets.map(({ executionId }) => executionId);
  if (!changed.one && (executionIds.length === 0 || changed.failures.length > 0 || options.run === false)) {
    const after = recordedLines(context, project, undefined, 'Requests recorded');
    return reportChange(context, options, change, changed, after);
  }
  // The run continues without the node, so the command follows the run, not only the cancellation.
  if (node !== undefined) return await continueHere(context, project, executionIds, options);
  const session = options.run === false ? undefined : await engineHere(context, project);
  if (session !== undefined) {
    return await cancelHere(context, project, session, executionIds, { ...options, isList: !changed.one });
  }
  if (!changed.one) {
    const after = recordedLines(context, project, undefined, 'Requests recorded');
    return reportChange(context, options, change, changed, after);
  }
  return await awaitCancel(context, project, changed.target.executionId, options);
}

/** No engine owns the folder: this process is the engine until the runs have stopped and their compensations have run. */
async function cancelHere(
  context: Context,
  project: Project,
  session: ApiSession,
  executionIds: readonly string[],
  options: CommandOptions,
): Promise<number> {
  const json = options.json === true;
  try {
    const view = { json, quiet: json || !context.io.out.live };
    const stopped = await watchSome(context, project, session, executionIds, view);
    if (stopped.interrupted) return await reportInterrupted(context, project, session, executionIds, json);
    return await reportCancel({ context, project, session }, stopped, options);
  } finally {
    await session.close();
  }
}

async function reportCancel(
  reporting: Parameters<typeof reportRun>[0],
  { results }: Ended & { readonly interrupted: false },
  { json, isList }: CommandOptions,
): Promise<number> {
  const { context } = reporting;
  const { out } = context.io;
  const documents = results.map(({ document: { executionId, status } }) => ({ executionId, requested: true, status }));
  if (json === true) out.write(jsonDocument(isList === true ? { items: documents } : documents[0]));
  else if (isList === true) writeLines(out, [`${plural(results.length, 'run')}: ${countsText(results)}`]);
  for (const rest of results) {
    // An attempt with an unknown outcome must be settled before the run can end.
    if (rest.parked) await reportRun(reporting, rest, { json: false, quiet: false, full: false });
    else if (json !== true && isList !== true) writeLines(out, [statusLine(context, rest.document)]);
  }
  return results.some(({ parked }) => parked) ? EXIT.parked : EXIT.completed;
}

/** Waits for the engine that owns the folder to cancel the runs. */
async function awaitCancel(
  context: Context,
  project: Project,
  executionId: string,
  options: CommandOptions,
): Promise<number> {
  const { out } = context.io;
  const query = options.run === false ? {} : { wait: ACTS_WITHIN };
  const { status, ended: isOver } = await withApi(context, options, 'look', ({ api }) =>
    requested(project, executionId, api.call('getResult', { params: { executionId }, query })),
  );
  if (options.json === true) out.write(jsonDocument({ executionId, requested: true, status }));
  else if (isOver) writeLines(out, [statusLine(context, { executionId, status })]);
  else printRecorded(context, project, executionId, `${out.colors.yellow('⏸')} Request recorded`);
  return EXIT.completed;
}

/** How long the command waits for a running engine to act. */
const ACTS_WITHIN = '2s';

function statusLine({ io }: Context, { executionId, status }: Pick<RunDocument, 'executionId' | 'status'>): string {
  return `${statusPaint(status, io.out.colors)(`${statusGlyph(status)} ${status}`)}  ${executionId}`;
}
