/** `nebula executions migrate`, and the migration before `executions retry --latest`. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { AnswerOf, BodyOf } from '@nebula/client';
import { NebulaError } from '@nebula/core';
import { withApi, withSession } from '../api.ts';
import { type Change, changeRuns, reportChange, type Target, targetsOf } from '../bulk.ts';
import { definedMembers, inProject, textOption, textsOption, versionOf } from '../command-options.ts';
import { EXIT } from '../exit-code.ts';
import { print, writeLines } from '../print.ts';
import { engineHere, printRecorded } from '../recorded-requests.ts';
import { commandWriter } from '../report-runs.ts';
import { requested } from '../runs.ts';
import type { Call, Command, OpenCall, ProjectCall } from '../services.ts';
import { readingWidth } from '../terminal/io.ts';
import { tableLines } from '../views/table.ts';
import { plural } from '../views/words.ts';
import { untilSeen } from '../wait-for-run.ts';
import { loadForLocation, registerAll } from '../workflow-file.ts';

type Report = AnswerOf<'migrateExecution'>;
type MigrateBody = BodyOf<'migrateExecution'>;

export const migrate: Command = async (call, executionIds) => {
  const { options } = call;
  if (options.back === true) return await takeBack(call, executionIds);
  const body = await migrationOf(call);
  if (options.dryRun === true) return await dryRun(call, executionIds, body);
  const from = versionOf(textOption(options, 'from'));
  let report: Report | undefined;
  const change: Change = {
    verb: 'migrate',
    done: 'requested',
    refusal: (target) => otherVersion(target, from),
    bulk: { operation: 'migrate', migration: { ...body, ...definedMembers({ from }) } },
    act: async ({ executionId }, open) => {
      report = await move(open, executionId, body);
    },
  };
  const changed = await changeRuns(call, executionIds, change);
  if (!changed.one) return reportChange(change, changed, 'Requests recorded');
  return await reportMoved(changed.call, changed.target, report as Report);
};

/** The version and the decisions of the options. A file is registered first; it becomes active by `workflows register` only. */
export async function migrationOf(call: Call): Promise<MigrateBody> {
  const { options, io } = call;
  const to = textOption(options, 'to') ?? 'latest';
  const isFile = to === '-' || existsSync(path.resolve(io.cwd, to));
  if (!isFile && to !== 'latest' && !/^v?\d+$/.test(to)) {
    throw new NebulaError('USAGE', `--to: there is no file ${to}`, {
      hint: 'give latest, a version such as 3, or a file',
    });
  }
  const version = isFile ? await registered(call, to) : to === 'latest' ? 'latest' : versionOf(to);
  const [keep, again, drop] = ['keep', 'again', 'drop'].map((how) => textsOption(options, how));
  return definedMembers({ version, keep, again, drop }) as MigrateBody;
}

async function registered(call: Call, file: string): Promise<number> {
  const { definition, others, texts } = (await loadForLocation(call, file)).loaded;
  const how = { activate: false, texts, ...inProject(call.options) };
  const { version } = await withApi(call, 'change', ({ api }) => registerAll(api, others, definition, how));
  return version;
}

/** Requests the migration. If a decision is missing, the changes are shown first. */
export async function move(open: OpenCall, executionId: string, body: MigrateBody): Promise<Report> {
  const params = { executionId };
  const checking = open.api.call('migrateExecution', { params, body: { ...body, dryRun: true } });
  const { refusal, ...report } = await requested(open, executionId, checking);
  if (refusal === null) return await open.api.call('migrateExecution', { params, body });
  if (refusal.code === 'DECISION_NEEDED' && open.options.json !== true) {
    writeLines(open.io.err, changeLines(open, report, open.io.err));
  }
  const hint = refusal.code === 'SAME_VERSION' ? 'give the changed file: --to FILE' : refusal.hint;
  throw new NebulaError(refusal.code, refusal.message, hint === undefined ? {} : { hint });
}

/** Checks the runs and changes none. A refusal has the exit code that the migration itself would have. */
async function dryRun(call: Call, executionIds: readonly string[], body: MigrateBody): Promise<number> {
  return await withApi(call, 'read', async (open) => {
    const from = versionOf(textOption(call.options, 'from'));
    const targets = await targetsOf(open, executionIds, 'migrate');
    const checked: Checked[] = [];
    for (const { executionId } of targets.filter((target) => otherVersion(target, from) === undefined)) {
      const checking = open.api.call('migrateExecution', { params: { executionId }, body: { ...body, dryRun: true } });
      checked.push({ executionId, report: await requested(open, executionId, checking) });
    }
    const [only] = checked;
    const isOne = executionIds.length === 1 && only !== undefined;
    const document = isOne ? only.report : { items: checked.map(({ report, ...run }) => ({ ...run, ...report })) };
    print(call, document, () => (isOne ? checkedLines(open, only) : checkedTable(open, checked)));
    return checked.every(({ report }) => report.refusal === null) ? EXIT.completed : EXIT.invalid;
  });
}

interface Checked {
  readonly executionId: string;
  readonly report: Report;
}

function checkedLines(open: OpenCall, { executionId, report }: Checked): string[] {
  const { out } = open.io;
  const { refusal } = report;
  return [
    ...changeLines(open, report, out),
    '',
    ...(refusal === null
      ? ['The run was not changed. To move it:', `  ${moveCommand(open, executionId, report)}`]
      : [`${out.colors.yellow(`refused ${refusal.code}:`)} ${refusal.message}`]),
    ...(refusal?.hint === undefined ? [] : [`  ${refusal.hint}`]),
  ];
}

/** One row for each run. */
function checkedTable({ io: { out } }: OpenCall, checked: readonly Checked[]): string[] {
  if (checked.length === 0) return ['no run matches'];
  const rows = checked.map(({ executionId, report: { from, to, changes, refusal } }) => [
    executionId,
    `v${from} → v${to}`,
    refusal === null ? 'can move' : out.colors.yellow('refused'),
    refusal === null ? `${plural(changes.length, 'node')} changed` : `${refusal.code}: ${refusal.message}`,
  ]);
  const headings = ['EXECUTION', 'VERSION', 'RESULT', 'DETAILS'];
  return [...tableLines(headings, rows, { colors: out.colors, width: readingWidth(out) }), 'No run was changed.'];
}

/** The command without `--dry-run`. A file is registered by then. */
function moveCommand(open: OpenCall, executionId: string, { to, changes }: Report): string {
  const decided = changes.flatMap(({ node, decision }) => (decision === undefined ? [] : [`--${decision} ${node}`]));
  return commandWriter(open, executionId)('executions migrate', [`--to ${to}`, ...decided].join(' '));
}

async function takeBack(call: Call, executionIds: readonly string[]): Promise<number> {
  const change: Change = {
    verb: 'take back the migration of',
    done: 'requested',
    refusal: () => undefined,
    act: ({ executionId }, open) =>
      requested(
        open,
        executionId,
        open.api.call('migrateExecution', { params: { executionId }, body: { back: true } }),
      ).then(({ to }) => {
        version = to;
      }),
  };
  let version: number | undefined;
  const changed = await changeRuns(call, executionIds, change);
  if (!changed.one) return reportChange(change, changed, 'Requests recorded');
  const { executionId } = changed.target;
  const document = { executionId, requested: true, version };
  if ((await versionSeen(changed.call, executionId, version)) !== version) {
    return printRecorded(changed.call, document, 'Request recorded');
  }
  const { colors } = call.io.out;
  return print(call, document, () => [`${colors.green('✓')} ${executionId} is back in version ${version}`]);
}

function otherVersion({ executionId, version }: Target, from: number | undefined): NebulaError | undefined {
  if (from === undefined || version === from) return undefined;
  return new NebulaError('OTHER_VERSION', `${executionId} runs version ${version}, not ${from}`);
}

async function reportMoved(call: ProjectCall, { executionId, isFinished }: Target, report: Report): Promise<number> {
  const { to } = report;
  const version = call.options.run === false ? undefined : await versionSeen(call, executionId, to);
  const document = { ...report, requested: true };
  if (version !== to) return printRecorded(call, document, 'Migration recorded');
  const { colors } = call.io.out;
  const write = commandWriter(call, executionId);
  const next = isFinished ? [`  ${colors.bold(write('executions retry'))} continues it`] : [];
  return print(call, document, () => [
    ...changeLines(call, report, call.io.out),
    `${colors.green('✓')} ${executionId} is in version ${to} now`,
    ...next,
    colors.dim(`  ${write('executions migrate --back')} takes this back, until the run continues`),
  ]);
}

/** Lets an engine act on the request, here or in another process, and returns the version of the run afterwards. */
export async function versionSeen(call: ProjectCall, executionId: string, to: number | undefined): Promise<number> {
  const seen = async ({ session }: OpenCall): Promise<number> =>
    (await untilSeen(session, executionId, ({ version }) => version === to)).version;
  const session = await engineHere(call);
  if (session === undefined) return await withApi(call, 'read', seen);
  return await withSession(call, session, async (open) => {
    await session.work([executionId]);
    return await seen(open);
  });
}

const SIGNS = { added: '+', changed: '~', removed: '-' } as const;

function changeLines(
  { io }: Call,
  { from, to, changes }: Pick<Report, 'from' | 'to' | 'changes'>,
  output: Call['io']['out'] = io.out,
): string[] {
  const { colors } = output;
  const paint = { added: colors.green, changed: colors.yellow, removed: colors.red } as const;
  const rows = changes.map(({ node, change, keys, statuses, choices, decision }) => [
    `${paint[change](SIGNS[change])} ${node}`,
    change === 'changed' ? keys.join(', ') || 'edges' : change,
    Object.entries(statuses)
      .map(([status, count]) => (count === 1 ? status : `${count} ${status}`))
      .join(', '),
    decision ?? (choices.length === 0 ? '' : colors.bold(choices.map((choice) => `--${choice}`).join(' or '))),
  ]);
  const title = `${colors.bold(`v${from} → v${to}`)}  ${plural(changes.length, 'node')} changed`;
  if (rows.length === 0) return [`${colors.bold(`v${from} → v${to}`)}  no node changed`];
  const headings = ['NODE', 'CHANGE', 'IN THIS RUN', 'DECISION'];
  return [title, ...tableLines(headings, rows, { colors, width: readingWidth(output) })];
}
