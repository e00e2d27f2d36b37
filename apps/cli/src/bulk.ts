/**
 * Commands that change runs: a named run, several, or all that a filter selects. More than one run is listed first and
 * changed after the user confirms.
 */
import type { BodyOf } from '@nebula/client';
import { NebulaError } from '@nebula/core';
import type { ExecutionStatus } from '@nebula/ports';
import { withApi } from './api.ts';
import { inProject, textOption, textsOption } from './command-options.ts';
import { EXIT } from './exit-code.ts';
import { failureDocument, failureOf } from './failure.ts';
import { writeLines } from './report-runs.ts';
import { type RunFilter, runNamed, runsOf } from './runs.ts';
import type { ApiSession, CommandOptions, Context, Project } from './services.ts';
import { type Output, readingWidth } from './terminal/io.ts';
import { jsonDocument } from './views/json.ts';
import { tableLines } from './views/table.ts';
import { statusGlyph, statusPaint } from './views/theme.ts';
import { agoText, plural } from './views/words.ts';

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
  refusal(target: Target, project: Project): NebulaError | undefined;
  act(target: Target, session: ApiSession, project: Project): Promise<void>;
  /** The bulk request for many runs; without it, the runs are changed one after the other. */
  readonly bulk?: Omit<BodyOf<'bulkExecutions'>, 'ids' | 'filter' | 'limit'>;
  /** The name of the result in `--json`: `requested`. */
  readonly done: string;
}

/** `one`: exactly one run was named; the command reports on it itself. */
export type Changed =
  | { readonly one: true; readonly project: Project; readonly target: Target }
  | {
      readonly one: false;
      readonly project: Project;
      readonly changed: readonly Target[];
      readonly failures: readonly { readonly target: Target; readonly error: unknown }[];
    };

export function changeRuns(
  context: Context,
  executionIds: readonly string[],
  options: CommandOptions,
  change: Change,
): Promise<Changed> {
  return withApi(context, options, 'look', async (session, project): Promise<Changed> => {
    const hasFilter = [options.status, options.workflow, options.project].some((given) => given !== undefined);
    if (executionIds.length > 0 === hasFilter) throw whichRuns(change.verb, hasFilter);
    const targets = hasFilter
      ? await filtered(session, options)
      : await Promise.all([...new Set(executionIds)].map((id) => named(session, project, id)));
    const [only] = targets;
    if (!hasFilter && targets.length === 1 && only !== undefined) {
      const refusal = change.refusal(only, project);
      if (refusal !== undefined) throw refusal;
      await change.act(only, session, project);
      return { one: true, project, target: only };
    }
    const fitting = targets.filter((target) => change.refusal(target, project) === undefined);
    if (!(await isConfirmed(context, options, change.verb, fitting, targets.length - fitting.length))) {
      return { one: false, project, changed: [], failures: [] };
    }
    return { one: false, project, ...(await actOnAll(fitting, session, project, change)) };
  });
}

/** The most ids in one request. */
const MAX_IDS = 1_000;

function whichRuns(verb: string, isBoth: boolean): NebulaError {
  return new NebulaError('USAGE', isBoth ? 'name runs or give a filter, not both' : `${verb} which runs?`, {
    hint: 'name one or more runs, or select them with --status and --workflow',
  });
}

async function actOnAll(targets: readonly Target[], session: ApiSession, project: Project, change: Change) {
  const changed: Target[] = [];
  const failures: { target: Target; error: unknown }[] = [];
  for (let from = 0; change.bulk !== undefined && from < targets.length; from += MAX_IDS) {
    const some = targets.slice(from, from + MAX_IDS);
    const body = { ...change.bulk, ids: some.map(({ executionId }) => executionId) };
    const { failed } = await session.api.call('bulkExecutions', { body });
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
      await change.act(target, session, project);
      changed.push(target);
    } catch (error) {
      failures.push({ target, error });
    }
  }
  return { changed, failures };
}

async function named(session: ApiSession, project: Project, executionId: string): Promise<Target> {
  const { workflowId, version, status, startedAt, finishedAt } = await runNamed(session, project, executionId);
  const at = startedAt === null ? null : Date.parse(startedAt);
  return { executionId, workflowId, version, status, startedAt: at, isFinished: finishedAt !== null };
}

async function filtered({ api }: ApiSession, options: CommandOptions): Promise<Target[]> {
  const { rows } = await runsOf(api, filterOf(options), { limit: Number.POSITIVE_INFINITY });
  return rows.map(({ executionId, workflowId, version, status, createdAt, finishedAt }) => {
    return {
      executionId,
      workflowId,
      version,
      status,
      startedAt: Date.parse(createdAt),
      isFinished: finishedAt !== null,
    };
  });
}

/** The filter from the options. */
export function filterOf(options: CommandOptions): RunFilter {
  const workflowId = textOption(options, 'workflow');
  const status = textsOption(options, 'status')?.join(',');
  return {
    ...inProject(options),
    ...(status !== undefined && { status }),
    ...(workflowId !== undefined && { workflowId }),
  };
}

/** The number of runs listed before the question. */
const MAX_LISTED = 20;

async function isConfirmed(
  { io }: Context,
  options: CommandOptions,
  verb: string,
  targets: readonly Target[],
  left: number,
): Promise<boolean> {
  const output = options.json === true ? io.err : io.out;
  const others = left === 0 ? '' : `; ${plural(left, 'other run')} cannot be`;
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
  const headings = [{ title: 'EXECUTION' }, { title: 'STATUS' }, { title: 'WORKFLOW' }, { title: 'STARTED' }];
  const rows = targets
    .slice(0, MAX_LISTED)
    .map(({ executionId, status, workflowId, version, startedAt }) => [
      executionId,
      statusPaint(status, colors)(`${statusGlyph(status)} ${status}`),
      `${workflowId} ${colors.dim(`v${version}`)}`,
      startedAt === null ? '' : agoText(startedAt, now),
    ]);
  const more = targets.length > MAX_LISTED ? [colors.dim(`… ${plural(targets.length - MAX_LISTED, 'more run')}`)] : [];
  return [...tableLines(headings, rows, { colors, width: readingWidth(output) }), ...more];
}

/** Reports on several changed runs. `after`: lines about what happens next. */
export function reportChange(
  { io }: Context,
  options: CommandOptions,
  change: Pick<Change, 'verb' | 'done'>,
  { changed, failures }: Changed & { readonly one: false },
  after: readonly string[],
): number {
  if (options.json === true) {
    const items = [
      ...changed.map(({ executionId }) => ({ executionId, [change.done]: true })),
      ...failures.map(({ target, error }) => ({
        executionId: target.executionId,
        ...(failureDocument(failureOf(error, false)) as object),
      })),
    ];
    io.out.write(jsonDocument({ items }));
  } else {
    if (changed.length > 0) writeLines(io.out, [`${change.verb}: ${plural(changed.length, 'run')}`, ...after]);
    for (const { target, error } of failures) {
      const { code, message } = failureOf(error, false);
      writeLines(io.err, [`${io.err.colors.red(`error ${code}:`)} ${target.executionId}: ${message}`]);
    }
  }
  return failures.length === 0 ? EXIT.completed : EXIT.failed;
}
