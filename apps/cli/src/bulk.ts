/**
 * Commands that change runs: a named run, several, or all that a filter selects. More than one run is listed first and
 * changed after the user confirms.
 */
import type { BodyOf } from '@nebula/client';
import { NebulaError } from '@nebula/core';
import type { ExecutionStatus } from '@nebula/ports';
import { warnOfOldCode, withApi } from './api.ts';
import { definedMembers, textOption, textsOption } from './command-options.ts';
import { EXIT } from './exit-code.ts';
import { failureDocument, failureOf } from './failure.ts';
import { print, writeLines } from './print.ts';
import { recordedLines } from './recorded-requests.ts';
import { type RunFilter, runNamed, runsOf } from './runs.ts';
import type { Call, CommandOptions, OpenCall, ProjectCall } from './services.ts';
import { type Output, readingWidth } from './terminal/io.ts';
import { tableLines } from './views/table.ts';
import { statusGlyph, statusPaint } from './views/theme.ts';
import { agoText, plural, versionWord } from './views/words.ts';

export interface Target {
  readonly executionId: string;
  readonly workflowId: string;
  readonly version: number;
  readonly status: ExecutionStatus;
  readonly startedAt: number | null;
  readonly isFinished: boolean;
}

export interface Change {
  /** `cancel`. */
  readonly verb: string;
  /** Returns the reason why the run cannot be changed, or undefined. */
  refusal(target: Target, call: ProjectCall): NebulaError | undefined;
  act(target: Target, open: OpenCall): Promise<unknown>;
  /** The bulk request for many runs; without it, the runs are changed one after the other. */
  readonly bulk?: Omit<BodyOf<'bulkExecutions'>, 'ids' | 'filter' | 'limit'>;
  /** Nodes run afterwards: a server that has old code says so. */
  readonly runsNodes?: true;
  /** The name of the result in `--json`: `requested`. */
  readonly done: string;
}

/** `one`: exactly one run was named; the command reports on it itself. */
export type Changed =
  | { readonly one: true; readonly call: ProjectCall; readonly target: Target }
  | {
      readonly one: false;
      readonly call: ProjectCall;
      readonly changed: readonly Target[];
      readonly failures: readonly { readonly target: Target; readonly error: unknown }[];
    };

export function changeRuns(asked: Call, executionIds: readonly string[], change: Change): Promise<Changed> {
  return withApi(asked, 'read', async (open): Promise<Changed> => {
    const hasFilter = isFiltered(asked);
    if (change.runsNodes === true) warnOfOldCode(open);
    const call = { ...asked, project: open.project };
    const targets = await targetsOf(open, executionIds, change.verb);
    const [only] = targets;
    if (!hasFilter && targets.length === 1 && only !== undefined) {
      const refusal = change.refusal(only, call);
      if (refusal !== undefined) throw refusal;
      await change.act(only, open);
      return { one: true, call, target: only };
    }
    const fitting = targets.filter((target) => change.refusal(target, call) === undefined);
    if (!(await isConfirmed(call, change, fitting, targets.length - fitting.length))) {
      return { one: false, call, changed: [], failures: [] };
    }
    return { one: false, call, ...(await actOnAll(fitting, open, change)) };
  });
}

function isFiltered({ options: { status, workflow, project } }: Call): boolean {
  return [status, workflow, project].some((one) => one !== undefined);
}

/** The runs that are named, or those that the filter selects. */
export async function targetsOf(open: OpenCall, executionIds: readonly string[], verb: string): Promise<Target[]> {
  const hasFilter = isFiltered(open);
  if (executionIds.length > 0 === hasFilter) throw whichRuns(verb, hasFilter);
  return hasFilter ? await filtered(open) : await Promise.all([...new Set(executionIds)].map((id) => named(open, id)));
}

/** Refuses runs that have ended. */
export function ended({ executionId, status, isFinished }: Target): NebulaError | undefined {
  if (!isFinished) return undefined;
  return new NebulaError('ALREADY_FINISHED', `${executionId} has ended already: ${status}`);
}

/** The most ids in one request. */
const MAX_IDS = 1_000;

function whichRuns(verb: string, isBoth: boolean): NebulaError {
  return new NebulaError('USAGE', isBoth ? 'name runs or give a filter, not both' : `${verb} which runs?`, {
    hint: 'name one or more runs, or select them with --status and --workflow',
  });
}

async function actOnAll(targets: readonly Target[], open: OpenCall, change: Change) {
  const changed: Target[] = [];
  const failures: { target: Target; error: unknown }[] = [];
  for (let from = 0; change.bulk !== undefined && from < targets.length; from += MAX_IDS) {
    const some = targets.slice(from, from + MAX_IDS);
    const body = { ...change.bulk, ids: some.map(({ executionId }) => executionId) };
    const { failed } = await open.api.call('bulkExecutions', { body });
    const refused = new Map(failed.map((one) => [one.executionId, new NebulaError(one.code, one.message)]));
    changed.push(...some.filter(({ executionId }) => !refused.has(executionId)));
    for (const target of some) {
      const error = refused.get(target.executionId);
      if (error !== undefined) failures.push({ target, error });
    }
  }
  if (change.bulk !== undefined) return { changed, failures };
  for (const target of targets) {
    try {
      await change.act(target, open);
      changed.push(target);
    } catch (error) {
      failures.push({ target, error });
    }
  }
  return { changed, failures };
}

async function named(open: OpenCall, executionId: string): Promise<Target> {
  const { workflowId, version, status, startedAt, finishedAt } = await runNamed(open, executionId);
  const at = startedAt === null ? null : Date.parse(startedAt);
  return { executionId, workflowId, version, status, startedAt: at, isFinished: finishedAt !== null };
}

async function filtered({ api, options }: OpenCall): Promise<Target[]> {
  const { rows } = await runsOf(api, filterOf(options), { limit: Number.POSITIVE_INFINITY });
  return rows.map(({ createdAt, finishedAt, ...row }) => ({
    ...row,
    startedAt: Date.parse(createdAt),
    isFinished: finishedAt !== null,
  }));
}

/** The filter from the options. */
export function filterOf(options: CommandOptions): RunFilter {
  const [project, workflowId] = [textOption(options, 'project'), textOption(options, 'workflow')];
  return definedMembers({ project, status: textsOption(options, 'status')?.join(','), workflowId });
}

/** The number of runs listed before the question. */
const MAX_LISTED = 20;

async function isConfirmed(
  { io, options }: Call,
  { verb, done }: Pick<Change, 'verb' | 'done'>,
  targets: readonly Target[],
  left: number,
): Promise<boolean> {
  const output = options.json === true ? io.err : io.out;
  const others = left === 0 ? '' : `; ${plural(left, 'matching run')} cannot be ${done}`;
  if (targets.length === 0) {
    if (options.json !== true) writeLines(output, [left === 0 ? 'no run matches' : `no run to ${verb}${others}`]);
    return false;
  }
  if (options.yes === true) return true;
  if (io.ask === undefined) {
    throw new NebulaError('NOT_CONFIRMED', `this would ${verb} ${plural(targets.length, 'run')}${others}`, {
      hint: '--yes does it without asking',
    });
  }
  writeLines(output, targetLines(targets, output, io.now()));
  const answer = await io.ask(`${verb} ${plural(targets.length, 'run')}${others}? [y/N] `);
  if (/^y(es)?$/i.test(answer.trim())) return true;
  writeLines(output, ['nothing was changed']);
  return false;
}

function targetLines(targets: readonly Target[], output: Output, now: number): string[] {
  const { colors } = output;
  const headings = ['EXECUTION', 'STATUS', 'WORKFLOW', 'STARTED'];
  const rows = targets
    .slice(0, MAX_LISTED)
    .map(({ executionId, status, workflowId, version, startedAt }) => [
      executionId,
      statusPaint(status, colors)(`${statusGlyph(status)} ${status}`),
      `${workflowId} ${colors.dim(versionWord(version))}`,
      startedAt === null ? '' : agoText(startedAt, now),
    ]);
  const more = targets.length > MAX_LISTED ? [colors.dim(`… ${plural(targets.length - MAX_LISTED, 'more run')}`)] : [];
  return [...tableLines(headings, rows, { colors, width: readingWidth(output) }), ...more];
}

/** Reports on several changed runs. `recorded`: words about the requests, if an engine still has to act on them. */
export async function reportChange(
  { verb, done }: Change,
  { call, changed, failures }: Changed & { readonly one: false },
  recorded?: string,
): Promise<number> {
  const { io } = call;
  const items = [
    ...changed.map(({ executionId }) => ({ executionId, [done]: true })),
    ...failures.map(({ target: { executionId }, error }) => ({
      executionId,
      ...(failureDocument(failureOf(error, false)) as object),
    })),
  ];
  const isRecorded = recorded !== undefined && changed.length > 0;
  const after = isRecorded ? await recordedLines(call, undefined, recorded) : [];
  print(call, { items }, () => (changed.length === 0 ? [] : [`${verb}: ${plural(changed.length, 'run')}`, ...after]));
  for (const { target, error } of call.options.json === true ? [] : failures) {
    const { code, message } = failureOf(error, false);
    writeLines(io.err, [`${io.err.colors.red(`error ${code}:`)} ${target.executionId}: ${message}`]);
  }
  return failures.length === 0 ? EXIT.completed : EXIT.failed;
}
