/** Commands of `nebula executions` that change one run or many. */
import type { BodyOf } from '@nebula/client';
import { NebulaError, type RunDocument } from '@nebula/core';
import { withApi, withSession } from '../api.ts';
import { type Change, type Changed, changeRuns, ended, reportChange, type Target } from '../bulk.ts';
import { definedMembers, textOption } from '../command-options.ts';
import { continueHere, reportRecorded, watchedRuns } from '../continue-runs.ts';
import { EXIT } from '../exit-code.ts';
import { jsonOption } from '../input.ts';
import { waitingIn } from '../live/shown-run.ts';
import { watch } from '../live/watch.ts';
import { print, writeLines } from '../print.ts';
import { engineHere, printRecorded } from '../recorded-requests.ts';
import { commandWriter, countsText, reportInterrupted, reportRun } from '../report-runs.ts';
import { requested, runNamed } from '../runs.ts';
import type { Call, Command, OpenCall, ProjectCall } from '../services.ts';
import { statusGlyph, statusPaint } from '../views/theme.ts';
import { plural } from '../views/words.ts';
import { untilSeen, type WaitResult } from '../wait-for-run.ts';
import { migrationOf, move } from './executions-migrate.ts';

const REQUESTS_RECORDED = 'Requests recorded';
/** How long `cancel` waits for a running engine to act. */
const ACTS_WITHIN = '2s';

function idsIn(changed: Changed): string[] {
  return (changed.one ? [changed.target] : changed.changed).map(({ executionId }) => executionId);
}

/** The last argument is the name of the signal. The arguments before it are runs, unless a filter selects them. */
export const signal: Command = async (call, args) => {
  const { options, program } = call;
  const name = args.at(-1) as string;
  const executionIds = args.slice(0, -1);
  if (executionIds.length === 0 && options.status === undefined && options.workflow === undefined) {
    throw new NebulaError('USAGE', 'a signal needs a run and a name', {
      hint: `${program} executions signal EXECUTION NAME`,
    });
  }
  const key = textOption(options, 'key');
  const body = { signal: name, payload: (await jsonOption(call, 'payload')) ?? null, ...definedMembers({ key }) };
  let waits: readonly { readonly key: string }[] = [];
  const change: Change = {
    verb: `signal ${name} to`,
    done: 'requested',
    refusal: ended,
    bulk: { operation: 'signal', signal: body },
    async act({ executionId }, open) {
      if (executionIds.length === 1) waits = await waitsFor(open, executionId, name);
      await requested(open, executionId, open.api.call('signalExecution', { params: { executionId }, body }));
    },
  };
  const changed = await changeRuns(call, executionIds, change);
  if (!changed.one) return reportChange(change, changed, 'Signals recorded');
  const { executionId } = changed.target;
  const isAwaited = waits.some((wait) => wait.key === (key ?? ''));
  const other = waits.find((wait) => wait.key !== '');
  const early = other === undefined ? 'nothing waits for it yet' : `the run waits for it with --key ${other.key}`;
  const words = isAwaited ? `Signal ${name} recorded` : `Signal ${name} recorded, but ${early}`;
  return printRecorded(changed.call, { executionId, signal: name, requested: true, awaited: isAwaited }, words);
};

async function waitsFor(open: OpenCall, executionId: string, name: string): Promise<{ readonly key: string }[]> {
  const waits = waitingIn(await runNamed(open, executionId)).flatMap(([, { waitsFor }]) =>
    waitsFor?.kind === 'event' ? waitsFor.events : [],
  );
  return waits.flatMap((wait) => (wait.kind === 'signal' && wait.signal === name ? [{ key: wait.key }] : []));
}

export const pause: Command = async (asked, args) => {
  const body = definedMembers({ reason: textOption(asked.options, 'reason') });
  const change: Change = {
    verb: 'pause',
    done: 'requested',
    refusal: ended,
    bulk: { operation: 'pause', ...body },
    act: ({ executionId }, open) =>
      requested(open, executionId, open.api.call('pauseExecution', { params: { executionId }, body })),
  };
  const changed = await changeRuns(asked, args, change);
  if (!changed.one) return reportChange(change, changed, REQUESTS_RECORDED);
  const { call, target } = changed;
  const { executionId } = target;
  const status = await pausedStatus(call, executionId);
  const document = { executionId, requested: true, status };
  if (status !== 'paused') return printRecorded(call, document, 'Request recorded');
  const { colors } = call.io.out;
  return print(call, document, () => [
    `${colors.yellow('⏸ paused')}  ${executionId}`,
    'running attempts finish, nothing new starts and timers stop until',
    `  ${colors.bold(commandWriter(call, executionId)('executions resume'))}`,
  ]);
};

/** Nothing starts before the pause is in the journal, so an engine opened here does nothing but record it. */
async function pausedStatus(call: ProjectCall, executionId: string): Promise<RunDocument['status']> {
  const seen = async ({ session }: OpenCall): Promise<RunDocument['status']> => {
    const isPaused = ({ status, finishedAt }: RunDocument): boolean => status === 'paused' || finishedAt !== null;
    return (await untilSeen(session, executionId, isPaused)).status;
  };
  const session = await engineHere(call);
  if (session === undefined) return await withApi(call, 'read', seen);
  return await withSession(call, session, async (open) => {
    await session.work([executionId]);
    return await seen(open);
  });
}

/** Resumes paused runs in the engine that owns them, or in this process when no engine runs. */
export const resume: Command = async (call, args) => {
  const change: Change = {
    verb: 'resume',
    runsNodes: true,
    done: 'requested',
    refusal: (target, at) => ended(target) ?? notPaused(at, target),
    bulk: { operation: 'resume' },
    act: ({ executionId }, open) =>
      requested(open, executionId, open.api.call('resumeExecution', { params: { executionId }, body: {} })),
  };
  const changed = await changeRuns(call, args, change);
  const executionIds = idsIn(changed);
  if (!changed.one && (executionIds.length === 0 || changed.failures.length > 0)) {
    return reportChange(change, changed, REQUESTS_RECORDED);
  }
  return await continueHere(changed.call, executionIds, awaitResume);
};

/** Waits for the engine that owns the folder to resume the runs. */
async function awaitResume(call: ProjectCall, executionIds: readonly string[]): Promise<number> {
  const [executionId = '', second] = executionIds;
  if (second !== undefined || call.options.run === false) return reportRecorded(call, executionIds);
  const { status } = await withApi(call, 'read', ({ session }) =>
    untilSeen(session, executionId, (document) => document.status !== 'paused'),
  );
  const document = { executionId, requested: true, status };
  if (status === 'paused') return printRecorded(call, document, 'Request recorded');
  return print(call, document, () => [`${call.io.out.colors.green('▶')} ${executionId} continues`]);
}

function notPaused(call: ProjectCall, { executionId, status }: Target): NebulaError | undefined {
  if (status === 'paused') return undefined;
  return new NebulaError('NOT_PAUSED', `${executionId} is ${status}, not paused`, {
    hint: `to continue the run in this process: ${commandWriter(call, executionId)('resume')}`,
  });
}

/** Records the request, then continues the runs here unless another engine owns the folder. */
export const retry: Command = async (call, args) => {
  const isMoved = call.options.latest === true || call.options.to !== undefined;
  const migration = isMoved ? await migrationOf(call) : undefined;
  const change: Change = {
    verb: 'retry',
    runsNodes: true,
    done: 'requested',
    refusal: notRetried,
    // Each run is moved before it is retried.
    ...(migration === undefined && { bulk: { operation: 'retry' } }),
    async act({ executionId, workflowId, version }, open) {
      const params = { executionId };
      if (migration !== undefined) await moveBefore(open, executionId, migration);
      else if (args.length === 1) await tellNewer(open, { executionId, workflowId, version });
      await requested(open, executionId, open.api.call('retryExecution', { params, body: {} }));
    },
  };
  const changed = await changeRuns(call, args, change);
  if (!changed.one && (call.options.run === false || changed.changed.length === 0 || changed.failures.length > 0)) {
    return reportChange(change, changed, REQUESTS_RECORDED);
  }
  return await continueHere(changed.call, idsIn(changed));
};

/** Moves the run before its retry. A run that has the version of the given file already is only retried. */
async function moveBefore(open: OpenCall, executionId: string, migration: BodyOf<'migrateExecution'>): Promise<void> {
  const { err } = open.io;
  try {
    const { from, to } = await move(open, executionId, migration);
    if (open.options.json !== true) writeLines(err, [`${err.colors.green('✓')} moved from version ${from} to ${to}`]);
  } catch (error) {
    const isThere = error instanceof NebulaError && error.code === 'SAME_VERSION' && open.options.to !== undefined;
    if (!isThere) throw error;
  }
}

/** A run keeps the version with which it was started: a mended file alone changes nothing. */
async function tellNewer(
  open: OpenCall,
  { executionId, workflowId, version }: Pick<Target, 'executionId' | 'workflowId' | 'version'>,
): Promise<void> {
  if (open.options.json === true) return;
  const found = await open.api.call('getWorkflow', { params: { workflowId } }).catch(() => undefined);
  const latest = found?.activeVersion ?? found?.newestVersion ?? version;
  if (latest <= version) return;
  const { err } = open.io;
  writeLines(err, [
    `${err.colors.yellow('note')} the run stays in version ${version} of ${workflowId}; version ${latest} is registered:`,
    `  ${err.colors.bold(commandWriter(open, executionId)('executions retry --latest'))}`,
  ]);
}

function notRetried({ executionId, status, isFinished }: Target, call: ProjectCall): NebulaError | undefined {
  const write = commandWriter(call, executionId);
  if (!isFinished) {
    return new NebulaError('NOT_FINISHED', `${executionId} is ${status}: only an ended run can be retried`, {
      hint: `${write('resume')} continues it`,
    });
  }
  if (status !== 'completed') return undefined;
  return new NebulaError('NOTHING_TO_RETRY', `${executionId} has completed: there is nothing to retry`, {
    hint: `${write('executions replay', 'NODE')} runs a part of it again`,
  });
}

export const remove: Command = async (call, args) => {
  const change: Change = {
    verb: 'delete',
    done: 'deleted',
    refusal({ executionId, status, isFinished }, at) {
      if (isFinished) return undefined;
      return new NebulaError('NOT_FINISHED', `${executionId} is ${status}: only ended runs can be deleted`, {
        hint: `cancel it first: ${commandWriter(at, executionId)('executions cancel')}`,
      });
    },
    bulk: { operation: 'delete' },
    act: ({ executionId }, { api }) => api.call('deleteExecution', { params: { executionId } }),
  };
  const changed = await changeRuns(call, args, change);
  if (!changed.one) return reportChange(change, changed);
  const { executionId } = changed.target;
  return print(call, { executionId, deleted: true }, () => [`deleted ${executionId}`]);
};

export const cancel: Command = async (call, args) => {
  const { options } = call;
  const reason = textOption(options, 'reason') ?? 'cancelled from the command line';
  const node = textOption(options, 'node');
  const body = { reason, ...(options.compensate === false && { compensate: false }), ...definedMembers({ node }) };
  const change: Change = {
    verb: node === undefined ? 'cancel' : `cancel ${node} of`,
    done: 'requested',
    refusal: ended,
    ...(node === undefined && { bulk: { operation: 'cancel', ...body } }),
    act: ({ executionId }, open) =>
      requested(open, executionId, open.api.call('cancelExecution', { params: { executionId }, body })),
  };
  const changed = await changeRuns(call, args, change);
  const executionIds = idsIn(changed);
  if (!changed.one && (executionIds.length === 0 || changed.failures.length > 0 || options.run === false)) {
    return reportChange(change, changed, REQUESTS_RECORDED);
  }
  // The run continues without the node, so the command follows the run, not only the cancellation.
  if (node !== undefined) return await continueHere(changed.call, executionIds);
  const session = options.run === false ? undefined : await engineHere(changed.call);
  if (session !== undefined) {
    return await withSession(changed.call, session, (open) => cancelHere(open, executionIds, !changed.one));
  }
  if (!changed.one) return reportChange(change, changed, REQUESTS_RECORDED);
  return await awaitCancel(changed.call, changed.target.executionId);
};

/** No engine owns the folder: this process is the engine until the runs have stopped and their compensations have run. */
async function cancelHere(open: OpenCall, executionIds: readonly string[], isList: boolean): Promise<number> {
  const json = open.options.json === true;
  const view = { json, quiet: json || !open.io.out.live };
  const runs = await watchedRuns(open, executionIds);
  const stopped = await watch(open, runs, view, () => open.session.work(executionIds));
  if (stopped.interrupted) return await reportInterrupted(open, executionIds, json);
  return await reportCancel(open, stopped.results, isList);
}

async function reportCancel(open: OpenCall, results: readonly WaitResult[], isList: boolean): Promise<number> {
  const { out } = open.io;
  const documents = results.map(({ document: { executionId, status } }) => ({ executionId, requested: true, status }));
  print(open, isList ? { items: documents } : documents[0], () =>
    isList ? [`${plural(results.length, 'run')}: ${countsText(results)}`] : [],
  );
  for (const result of results) {
    // An attempt with an unknown outcome must be settled before the run can end.
    if (result.parked) await reportRun(open, result, { json: false, quiet: false, full: false });
    else if (open.options.json !== true && !isList) writeLines(out, [statusLine(open, result.document)]);
  }
  return results.some(({ parked }) => parked) ? EXIT.parked : EXIT.completed;
}

/** Waits for the engine that owns the folder to cancel the runs. */
async function awaitCancel(call: ProjectCall, executionId: string): Promise<number> {
  const query = call.options.run === false ? {} : { wait: ACTS_WITHIN };
  const { status, ended: isOver } = await withApi(call, 'read', (open) =>
    requested(open, executionId, open.api.call('getResult', { params: { executionId }, query })),
  );
  const document = { executionId, requested: true, status };
  if (isOver) return print(call, document, () => [statusLine(call, document)]);
  return printRecorded(call, document, `${call.io.out.colors.yellow('⏸')} Request recorded`);
}

function statusLine({ io }: Call, { executionId, status }: Pick<RunDocument, 'executionId' | 'status'>): string {
  return `${statusPaint(status, io.out.colors)(`${statusGlyph(status)} ${status}`)}  ${executionId}`;
}
