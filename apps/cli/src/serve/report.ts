/** The output of `nebula serve`: a screen at the start and a line per run, or one JSON document per line. */
import { formatDuration, type RunDocument } from '@nebula/core';
import { grantLines } from '../grants.ts';
import { concealed } from '../terminal/concealed.ts';
import type { Output } from '../terminal/io.ts';
import { column, fit, printable, printableLine, visibleWidth, wrap } from '../terminal/width.ts';
import { jsonLine } from '../views/json.ts';
import { nextLines } from '../views/summary.ts';
import { statusGlyph, statusPaint } from '../views/theme.ts';
import { triggerText } from '../views/triggers.ts';
import { plural, secondText, versionWord } from '../views/words.ts';
import type { FileNews, ServedWorkflow } from './workflow-files.ts';

export type Level = 'debug' | 'info' | 'warn' | 'error';

const LEVELS: readonly Level[] = ['debug', 'info', 'warn', 'error'];

export interface Started {
  readonly url: string;
  readonly version: string;
  readonly preset: string;
  readonly tokenFile: string | undefined;
  /** For people with a code, which works once. */
  readonly studio: string | undefined;
  readonly dataDir: string;
  readonly news: readonly FileNews[];
  /** True if other machines can reach the server. */
  readonly isOpen: boolean;
  readonly hasUsers: boolean;
}

export interface ServeReport {
  level: Level;
  started(facts: Started): void;
  file(news: FileNews): void;
  finished(document: RunDocument): void;
  request(operation: string, status: number, milliseconds: number): void;
  /** A browser has signed in with the printed code; `address` has the next one. */
  signedIn(address: string): void;
  trouble(error: unknown): void;
  /** A line of the server's log, which is printed only here. */
  logged(line: string): void;
  /** A change of the configuration that was applied, or needs a restart. */
  config(message: string, level: Level): void;
  /** A line that foreign code in this process printed. */
  foreign(line: string): void;
  stopping(): void;
  stopped(): void;
}

interface ErrorText {
  readonly code?: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

interface LogLine {
  readonly level: Level;
  /** The operation that failed. */
  readonly msg: string;
  readonly error?: string;
  readonly code?: string;
  readonly hint?: string;
  /** The number of occurrences since the last line. */
  readonly times?: number;
  readonly stack?: string;
}

/** The line without the members that all lines have. */
function logLine(line: string): LogLine {
  const {
    time: _,
    pid: __,
    ...members
  } = JSON.parse(line) as LogLine & { readonly time: string; readonly pid: number };
  return members;
}

function errorText(error: unknown): ErrorText {
  if (!(error instanceof Error)) return { message: concealed(String(error)) };
  const { code, hint } = error as { code?: unknown; hint?: string };
  return { ...(typeof code === 'string' && { code }), message: concealed(error.message), hint };
}

function tookText({ startedAt, finishedAt }: RunDocument): string {
  if (startedAt === null || finishedAt === null) return '';
  return formatDuration(Date.parse(finishedAt) - Date.parse(startedAt));
}

/** Output for programs: every line is a document with `at`, `level` and `event`. */
export function jsonReport(out: Output, now: () => number, level: Level): ServeReport {
  const report = {
    level,
    say(of: Level, event: string, members: object = {}): void {
      if (LEVELS.indexOf(of) < LEVELS.indexOf(report.level)) return;
      out.write(jsonLine({ at: new Date(now()).toISOString(), level: of, event, ...members }));
    },
    started({ news, ...facts }: Started): void {
      for (const one of news) report.file(one);
      report.say('info', 'server.started', facts);
    },
    file(news: FileNews): void {
      if (news.kind === 'missing') {
        const { folder, workflowIds } = news;
        return report.say('warn', 'workflow.folder-missing', { folder, workflowIds });
      }
      const { file } = news;
      if (news.kind === 'broken') {
        const { message, problems } = news;
        report.say('error', 'workflow.broken', { file, message, ...(problems.length > 0 && { problems }) });
      } else if (news.kind === 'gone') {
        const { workflowId, isDeactivated } = news;
        report.say('warn', 'workflow.file-gone', { file, workflowId, deactivated: isDeactivated });
      } else {
        const { workflowId, version, grants, isInactive } = news.workflow;
        const members = { file, workflowId, version, new: news.isNew, ...(isInactive && { active: false }) };
        const grantMembers = grants && {
          granted: grants.granted,
          ...(grants.over.length > 0 && { notGranted: grants.over }),
        };
        report.say('info', 'workflow.registered', { ...members, ...grantMembers });
      }
    },
    finished({ executionId, workflowId, version, status, startedAt, finishedAt, error }: RunDocument): void {
      const members = { executionId, workflowId, version, status, startedAt, finishedAt };
      report.say('info', 'run.finished', error === null ? members : { ...members, error });
    },
    request: (operation: string, status: number, milliseconds: number) =>
      report.say('debug', 'request', { operation, status, milliseconds: Math.round(milliseconds * 10) / 10 }),
    signedIn: (): void => undefined,
    trouble: (error: unknown) => report.say('error', 'trouble', errorText(error)),
    logged(line: string): void {
      const { level: of, msg: what, error: message = what, ...more } = logLine(line);
      report.say(of, 'trouble', { what, message, ...more });
    },
    config: (message: string, of: Level) => report.say(of, 'config.changed', { message }),
    foreign: (line: string) => report.say('info', 'output', { line }),
    stopping: () => report.say('info', 'server.stopping'),
    stopped: () => report.say('info', 'server.stopped'),
  };
  return report;
}

export interface TerminalReportOptions {
  readonly program: string;
  readonly level: Level;
  now(): number;
  /** The printable path of a file or folder. */
  shown(file: string): string;
}

export function terminalReport(out: Output, { program, level, now, shown }: TerminalReportOptions): ServeReport {
  const { colors } = out;
  const lines = (all: readonly string[]): void => out.write(all.map((line) => `${line}\n`).join(''));
  const say = (of: Level, sign: string, text: string): void => {
    if (LEVELS.indexOf(of) < LEVELS.indexOf(report.level)) return;
    const time = secondText(now());
    const indent = ' '.repeat(time.length + SIGN_CELLS);
    const [first = '', ...rest] = wrap(text, Math.max(20, out.columns() - indent.length));
    lines([`${colors.dim(time)}  ${sign} ${first}`, ...rest.map((line) => indent + line)]);
  };
  const report: ServeReport = {
    level,
    started(facts) {
      lines(screenLines(facts, { colors, width: out.columns(), program, now: now(), shown }));
    },
    file(news) {
      if (news.kind === 'gone' || news.kind === 'missing') {
        say('warn', colors.yellow('!'), news.kind === 'gone' ? goneText(news) : missingText(news));
      } else if (news.kind === 'broken') {
        if (news.report.length > 0) lines(['', ...news.report]);
        const what = `${printableLine(news.file)} is broken: ${printableLine(news.message)}`;
        say('error', colors.red('✗'), `${what}; the previously active version stays active`);
      } else {
        const { workflowId, version, grants } = news.workflow;
        say('info', colors.green('✓'), `${workflowId} ${colors.dim(`v${version}`)} is active`);
        for (const line of grants === undefined ? [] : grantLines(workflowId, grants, colors)) {
          say('info', colors.dim('·'), line);
        }
      }
    },
    finished(document) {
      const { status, workflowId, version, executionId, error } = document;
      const paint = statusPaint(status, colors);
      const why = error === null ? '' : `  ${colors.red(error.code)} ${printableLine(error.message)}`;
      const head = `${workflowId} ${colors.dim(versionWord(version))}  ${paint(status)}  ${tookText(document)}`;
      const cells = Math.max(20, out.columns() - secondText(now()).length - SIGN_CELLS);
      say('info', paint(statusGlyph(status)), fit(`${head.trimEnd()}  ${colors.dim(executionId)}${why}`, cells));
    },
    request: (operation, status, milliseconds) =>
      say('debug', colors.dim('·'), colors.dim(`${operation} ${status} ${milliseconds.toFixed(1)}ms`)),
    signedIn: (address) => {
      say('info', colors.green('✓'), 'a browser has signed in; another one can with');
      lines([`${STACK_INDENT}${colors.cyan(address)}`]);
    },
    trouble(error) {
      const { code, message, hint } = errorText(error);
      const what = code === undefined ? '' : `${code}: `;
      say('error', colors.red('!'), printable(`${what}${message}${hint === undefined ? '' : ` (${hint})`}`));
    },
    logged(line) {
      const { level: of, msg, code, error, hint, times, stack } = logLine(line);
      const often = times === undefined ? '' : ` (${times} times)`;
      const what = [msg + often, ...(code === undefined ? [] : [code]), ...(error === undefined ? [] : [error])].join(
        ': ',
      );
      say(of, colors.red('!'), printable(`${what}${hint === undefined ? '' : ` (${hint})`}`));
      if (stack !== undefined)
        lines(
          stack
            .split('\n')
            .slice(1)
            .map((one) => colors.dim(STACK_INDENT + printableLine(one))),
        );
    },
    config: (message, of) => say(of, of === 'info' ? colors.green('✓') : colors.yellow('!'), printable(message)),
    foreign: (line) => lines([colors.dim(`│ ${printable(line)}`)]),
    stopping: () =>
      say(
        'info',
        colors.yellow('■'),
        'stopping: tasks in progress are handed back. Press Ctrl-C again to stop at once.',
      ),
    stopped: () =>
      say('info', colors.green('✓'), 'stopped; nothing finished is lost, and other runs continue with the next start'),
  };
  return report;
}

function missingText({ folder, workflowIds }: FileNews & { readonly kind: 'missing' }): string {
  return `the folder ${printableLine(folder)} is missing; ${workflowIds.join(', ')} stay active until it is back`;
}

function goneText({ file, workflowId, isDeactivated }: FileNews & { readonly kind: 'gone' }): string {
  const what = isDeactivated
    ? `${workflowId} is deactivated: its triggers start no more runs, and unfinished runs continue`
    : `${workflowId} is unchanged: another file has it, or another version was activated`;
  return `${printableLine(file)} was removed; ${what}`;
}

interface ScreenOptions extends Pick<TerminalReportOptions, 'program' | 'shown'> {
  readonly colors: Output['colors'];
  readonly width: number;
  readonly now: number;
}

/** The sign after the time, with its blanks. */
const SIGN_CELLS = 4;
const STACK_INDENT = ' '.repeat(12);
const LABEL_CELLS = 9;
const INDENT = '  ';

/** The screen at the start: URLs, folders, workflows and next steps. */
export function screenLines(facts: Started, options: ScreenOptions): string[] {
  const { colors, width, program, shown } = options;
  const { url, version, preset, tokenFile, dataDir, news } = facts;
  const rows: (readonly [string, string])[] = [
    ...(facts.studio === undefined ? [] : [['Studio', colors.bold(colors.cyan(facts.studio))] as const]),
    ['server', facts.studio === undefined ? colors.bold(colors.cyan(url)) : colors.cyan(url)],
    ['API', colors.cyan(`${url}/api/docs`)],
    ...(tokenFile === undefined ? [] : [['token', shown(tokenFile)] as const]),
    ['data', shown(dataDir)],
  ];
  const warnings = [
    ...(facts.isOpen && tokenFile !== undefined
      ? ['other machines can reach the server, and the token gives full access to it; --preset selfhost has users']
      : []),
    ...(facts.hasUsers ? [] : ['no user can sign in yet; create the first one:']),
  ];
  return [
    `${colors.magenta('◆')} ${colors.bold('Nebula')} ${version}  ${colors.dim(preset)}`,
    '',
    ...rows.flatMap(([label, value]) => labelled(label, value, options)),
    '',
    ...workflowLines(news, options),
    ...warnings.flatMap((text) => wrap(`! ${text}`, width).map((line) => colors.yellow(line))),
    ...nextLines(nextSteps(facts, program), { colors, width }),
    colors.dim('Ctrl-C stops it'),
    '',
  ];
}

function labelled(label: string, value: string, { colors, width }: ScreenOptions): string[] {
  if (INDENT.length + LABEL_CELLS + visibleWidth(value) > width)
    return [`${INDENT}${colors.dim(label)}`, `${INDENT}${value}`];
  return [`${INDENT}${colors.dim(column(label, LABEL_CELLS))}${value}`];
}

function nextSteps({ news, hasUsers, tokenFile, url }: Started, program: string): (readonly [string, string])[] {
  if (tokenFile === undefined) {
    return [
      ...(hasUsers ? [] : [[`${program} users add NAME --admin`, 'in another terminal'] as const]),
      [`${program} keys create cli --as NAME --role default=owner`, 'a key for the command line'],
      [`${program} context add here --server ${url} --token-stdin`, 'saves the key; commands then use this server'],
    ];
  }
  const served = news.flatMap((one) => (one.kind === 'registered' ? [one.workflow] : []));
  const first = served.find((one) => !one.needsInput) ?? served[0];
  return [
    first === undefined
      ? [`${program} workflows register FILE`, 'register a workflow']
      : [`${program} start ${first.workflowId}`, 'in another terminal: start a run and watch it'],
    [`${program} executions list`, 'list runs'],
  ];
}

function workflowLines(news: readonly FileNews[], options: ScreenOptions): string[] {
  const { colors, width, now } = options;
  if (news.length === 0) {
    const where = 'no workflow files here; set server.workflows in the configuration to look elsewhere';
    return [...wrap(where, width - 2).map((line) => colors.dim(INDENT + line)), ''];
  }
  const served = news.flatMap((one) => (one.kind === 'registered' ? [one.workflow] : []));
  const broken = news.filter((one) => one.kind === 'broken');
  const cells = Math.max(0, ...served.map(({ workflowId }) => visibleWidth(workflowId)));
  return [
    `${INDENT}${colors.bold(plural(served.length, 'workflow'))}`,
    ...served.flatMap((workflow) => servedLines(workflow, Math.min(cells, 30), { colors, width, now })),
    ...served
      .flatMap(({ workflowId, grants }) => (grants === undefined ? [] : grantLines(workflowId, grants, colors)))
      .flatMap((line) => wrap(line, width - INDENT.length).map((part) => INDENT + part)),
    ...news
      .flatMap((one) => (one.kind === 'gone' ? [goneText(one)] : one.kind === 'missing' ? [missingText(one)] : []))
      .flatMap((line) => wrap(`! ${line}`, width - INDENT.length).map((part) => INDENT + colors.yellow(part))),
    ...broken.flatMap(({ file, report }) => [
      ...report.map((line) => `${INDENT}${line}`),
      `${INDENT}${colors.red('✗')} ${printableLine(file)} ${colors.red('is broken')}`,
    ]),
    '',
  ];
}

function servedLines(
  { workflowId, version, triggers, isInactive }: ServedWorkflow,
  cells: number,
  { colors, width, now }: Pick<ScreenOptions, 'colors' | 'width' | 'now'>,
): string[] {
  const sign = isInactive ? colors.yellow('–') : colors.green('✓');
  const head = `${INDENT}${sign} ${column(workflowId, cells)} ${colors.dim(`v${version}`)}`;
  if (isInactive) return [`${head}  ${colors.yellow('not active')}`];
  const texts = triggers.map(({ trigger, nextFireAt }) => triggerText(trigger, nextFireAt, now));
  const [first, ...rest] = texts;
  if (first === undefined) return [head.trimEnd()];
  const room = width - visibleWidth(head) - 2;
  if (texts.some((text) => visibleWidth(text) > room)) {
    return [
      head.trimEnd(),
      ...texts.flatMap((text) => wrap(text, width - 6).map((line) => `      ${colors.dim(line)}`)),
    ];
  }
  const indent = ' '.repeat(visibleWidth(head) + 2);
  return [`${head}  ${colors.dim(first)}`, ...rest.map((text) => indent + colors.dim(text))];
}
