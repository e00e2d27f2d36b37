/** Reports on runs that a command has watched to their end, and returns its exit code. */
import type { RunDocument } from '@nebula/core';
import type { Explanation } from '@nebula/engine';
import { unlessAbsent } from './api.ts';
import { stackOfFailure } from './attempts.ts';
import { errorSourceLines } from './error-source.ts';
import { EXIT, exitCodeOf, worstExitCode } from './exit-code.ts';
import { linkedDocument } from './links.ts';
import { type CommandContext, locationOption } from './local-command.ts';
import { writeLines } from './print.ts';
import { findRun } from './runs.ts';
import type { CommandOptions, OpenCall } from './services.ts';
import type { Output } from './terminal/io.ts';
import { jsonDocument } from './views/json.ts';
import type { ParkedRun } from './views/parked.ts';
import { stackLines } from './views/stack.ts';
import { plural } from './views/words.ts';
import type { WaitResult } from './wait-for-run.ts';

/** Writes a command for a run: `executions show` → `nebula executions show exe_1 --data-dir …`. */
export function commandWriter(context: CommandContext, executionId: string | undefined) {
  return (verb: string, rest?: string): string => anyCommandWriter(context)(executionId, verb, rest);
}

/** Like `commandWriter`, for a run that each call names. */
export function anyCommandWriter({ program, project }: CommandContext) {
  return (executionId: string | undefined, verb: string, rest?: string): string =>
    [program, verb, executionId, rest, locationOption(project)].filter((part) => part !== undefined).join(' ');
}

function waitExitCode(result: WaitResult): number {
  return result.parked ? EXIT.parked : exitCodeOf(result.document.status);
}

/** The output options of a command. */
export interface ReportView {
  readonly json: boolean;
  readonly quiet: boolean;
  /** Long output is not cut. */
  readonly full: boolean;
  /** Where the file of the workflow is. */
  readonly folder?: string | undefined;
}

export function viewOf({ json, quiet, full }: CommandOptions): ReportView {
  return { json: json === true, quiet: quiet === true, full: full === true };
}

/** Reports on one run: its document, or a summary. */
export async function reportRun(
  open: OpenCall,
  result: WaitResult,
  { json, quiet, full, folder }: ReportView,
): Promise<number> {
  const { io, api } = open;
  if (json) io.out.write(jsonDocument(await linkedDocument(api, result.document)));
  // With `--json`, stderr still says what a parked run needs.
  const output = json ? io.err : io.out;
  const isUnderTree = output.live && !quiet;
  if (!json || result.parked) writeLines(output, await runLines(open, result, output, { isUnderTree, full, folder }));
  return waitExitCode(result);
}

async function runLines(
  open: OpenCall,
  result: WaitResult,
  output: Output,
  how: { readonly isUnderTree: boolean; readonly full: boolean; readonly folder?: string | undefined },
): Promise<string[]> {
  const view = { colors: output.colors, width: output.columns() };
  const command = commandWriter(open, result.document.executionId);
  if (!result.parked) {
    const { summaryLines } = await import('./views/summary.ts');
    const { retryCommands } = await import('./retry-commands.ts');
    return summaryLines(result.document, {
      ...view,
      ...how,
      command,
      cause: await causeOf(open, result.document, how),
      retry: await retryCommands(open, result.document, how.folder),
    });
  }
  const { parkedLines } = await import('./views/parked.ts');
  const runs = await Promise.all(parkedIn(result).map((one) => parkedRun(open, one)));
  return parkedLines(runs, { ...view, command: anyCommandWriter(open), now: open.io.now() });
}

/** The lines below the error of a run: its place in the workflow file, or the frames of the action. */
export async function causeOf(
  open: OpenCall,
  { executionId, error, nodes }: Pick<RunDocument, 'executionId' | 'error'> & Partial<Pick<RunDocument, 'nodes'>>,
  { full, folder }: { readonly full?: boolean; readonly folder?: string | undefined } = {},
): Promise<string[]> {
  if (error === null) return [];
  const { colors } = open.io.out;
  try {
    const place = await errorSourceLines(open, executionId, error, { colors, folder });
    if (place.length > 0) return place;
    const stack = await stackOfFailure(open.api, { executionId, error, ...(nodes && { nodes }) });
    return stack === undefined ? [] : stackLines(stack, colors, full);
  } catch {
    // An older server, or a key without this operation: the error is reported without it.
    return [];
  }
}

type Parked = WaitResult & { readonly parked: true };

/** The run and its parked children, at any depth. */
function parkedIn(result: WaitResult): Parked[] {
  return result.parked ? [result, ...result.inside.flatMap(parkedIn)] : [];
}

async function parkedRun({ api }: OpenCall, { document, waitingFor, inside }: Parked): Promise<ParkedRun> {
  const { executionId } = document;
  const explanations = [...waitingFor];
  const gated = Object.entries(document.nodes).filter(([, { waitsFor }]) => waitsFor?.kind === 'gate');
  for (const [node] of gated.slice(0, MAX_GATED)) {
    const explanation = await unlessAbsent(api.call('explainExecution', { params: { executionId }, query: { node } }));
    if (explanation !== undefined) explanations.push(explanation as Explanation);
  }
  return { document, explanations, inside: inside.map((one) => one.document.executionId) };
}

/** The most nodes for which the holder of their permit is reported. */
const MAX_GATED = 10;

/** Reports on several runs: `{items: [documents]}`, or counts by status and the details of runs that did not complete. */
export async function reportRuns(open: OpenCall, results: readonly WaitResult[], json: boolean): Promise<number> {
  const { io, api } = open;
  if (json) {
    const items = [];
    for (const { document } of results) items.push(await linkedDocument(api, document));
    io.out.write(jsonDocument({ items }));
  }
  const output = json ? io.err : io.out;
  if (!json) writeLines(output, [`${plural(results.length, 'run')} continued: ${countsText(results)}`]);
  for (const one of results) {
    if (one.parked || (!json && one.document.status !== 'completed')) {
      writeLines(output, ['', ...(await runLines(open, one, output, { isUnderTree: false, full: false }))]);
    }
  }
  return worstExitCode(results.map(waitExitCode));
}

/** `2 completed, 1 parked`. */
export function countsText(results: readonly WaitResult[]): string {
  const counts = new Map<string, number>();
  for (const { parked, document } of results) {
    const word = parked ? 'parked' : document.status;
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts].map(([word, count]) => `${count} ${word}`).join(', ');
}

/** Reports an interruption and the command that continues the runs. */
export async function reportInterrupted(
  open: OpenCall,
  executionIds: readonly string[],
  json: boolean,
): Promise<number> {
  const { io, session } = open;
  const output = json ? io.err : io.out;
  if (json) await printUnfinished(open, executionIds);
  const only = executionIds.length === 1 ? executionIds[0] : undefined;
  const { colors } = output;
  const isAtServer = session.server !== undefined;
  const [what, then] = isAtServer
    ? ['no longer watched', `it continues at ${session.server}; watch it again with`]
    : ['interrupted', 'no finished step is lost; continue with'];
  writeLines(output, [
    ...(output.live ? [] : ['']),
    `${colors.yellow(`⏸ ${colors.bold(what)}`)}  ${then}`,
    `  ${colors.bold(commandWriter(open, only)(isAtServer && only === undefined ? 'executions list' : 'resume'))}`,
  ]);
  return EXIT.interrupted;
}

async function printUnfinished({ io, api }: OpenCall, executionIds: readonly string[]): Promise<void> {
  const documents: RunDocument[] = [];
  for (const executionId of executionIds) {
    const document = await findRun(api, executionId);
    if (document !== undefined) documents.push(await linkedDocument(api, document));
  }
  io.out.write(jsonDocument(documents.length === 1 ? documents[0] : { items: documents }));
}
