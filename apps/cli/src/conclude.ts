/** What a command says about runs that it has brought to their end, and its exit code. */
import type { RunDocument } from '@nebula/core';
import type { Settled } from '@nebula/engine';
import { EXIT, exitCodeOf } from './exit-code.ts';
import { waitingFor, worstExitCode } from './live/watch.ts';
import type { Context, EngineSession, Project } from './services.ts';
import type { Output } from './terminal/io.ts';
import { jsonDocument } from './views/json.ts';
import { parkedLines, summaryLines } from './views/summary.ts';
import { plural, shellWord } from './views/words.ts';

/** Commands for a run, as they can be typed: `executions show` → `nebula executions show exe_1 --data-dir …`. */
export function commandWriter(context: Context, project: Project, executionId: string | undefined) {
  return (verb: string, rest?: string): string => {
    const dataDir = project.needsDataDirOption ? `--data-dir ${shellWord(project.dataDir)}` : undefined;
    return [context.program, verb, executionId, rest, dataDir].filter((part) => part !== undefined).join(' ');
  };
}

/** A command that somebody else wrote as `nebula …`, as it can be typed here. */
export function localCommand({ program }: Context, project: Project, text: string): string {
  if (!text.startsWith('nebula ')) return text;
  const dataDir = project.needsDataDirOption ? ` --data-dir ${shellWord(project.dataDir)}` : '';
  return program + text.slice('nebula'.length) + dataDir;
}

export function settledExitCode(settled: Settled): number {
  return settled.parked ? EXIT.parked : exitCodeOf(settled.document.status);
}

/** One run: its document, or a summary for people. */
export function concludeRun(
  context: Context,
  project: Project,
  settled: Settled,
  { json, quiet }: { readonly json: boolean; readonly quiet: boolean },
): number {
  const { io } = context;
  if (json) io.out.write(jsonDocument(settled.document));
  // A script that reads the document still wants to be told on stderr what has to be done.
  const output = json ? io.err : io.out;
  if (!json || settled.parked) writeLines(output, runLines(context, project, settled, output, output.live && !quiet));
  return settledExitCode(settled);
}

function runLines(
  context: Context,
  project: Project,
  settled: Settled,
  output: Output,
  isUnderTree: boolean,
): string[] {
  const { document } = settled;
  const command = commandWriter(context, project, document.executionId);
  const options = { colors: output.colors, width: output.columns(), command, isUnderTree };
  return settled.parked ? parkedLines(document, waitingFor(settled), options) : summaryLines(document, options);
}

/** Several runs: `{executions: [documents]}`, or how many ended how, and what the unhappy ones say. */
export function concludeRuns(context: Context, project: Project, settled: readonly Settled[], json: boolean): number {
  const { io } = context;
  if (json) io.out.write(jsonDocument({ executions: settled.map(({ document }) => document) }));
  const counts = new Map<string, number>();
  for (const { parked, document } of settled) {
    const word = parked ? 'parked' : document.status;
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const output = json ? io.err : io.out;
  const words = [...counts].map(([word, count]) => `${count} ${word}`).join(', ');
  if (!json) writeLines(output, [`${plural(settled.length, 'run')} continued: ${words}`]);
  for (const one of settled) {
    if (one.parked || (!json && one.document.status !== 'completed')) {
      writeLines(output, ['', ...runLines(context, project, one, output, false)]);
    }
  }
  return worstExitCode(settled.map(settledExitCode));
}

/** The runs are safe: how to go on. */
export async function concludeInterrupted(
  context: Context,
  project: Project,
  session: EngineSession,
  executionIds: readonly string[],
  json: boolean,
): Promise<number> {
  const { io } = context;
  const output = json ? io.err : io.out;
  if (json) await printUnfinished(context, session, executionIds);
  const only = executionIds.length === 1 ? executionIds[0] : undefined;
  const command = commandWriter(context, project, only)('resume');
  const { colors } = output;
  writeLines(output, [
    ...(output.live ? [] : ['']),
    `${colors.yellow(`⏸ ${colors.bold('interrupted')}`)}  nothing finished is lost; go on with`,
    `  ${colors.bold(command)}`,
  ]);
  return EXIT.interrupted;
}

async function printUnfinished(
  context: Context,
  session: EngineSession,
  executionIds: readonly string[],
): Promise<void> {
  const documents: RunDocument[] = [];
  for (const executionId of executionIds) {
    const document = await session.desk.document(executionId);
    if (document !== undefined) documents.push(document);
  }
  context.io.out.write(jsonDocument(documents.length === 1 ? documents[0] : { executions: documents }));
}

export function writeLines(output: Output, lines: readonly string[]): void {
  if (lines.length > 0) output.write(`${lines.join('\n')}\n`);
}

/** A pipe has no edge at which lines would have to be cut. */
export function readingWidth(output: Output): number {
  return output.live ? output.columns() : Number.POSITIVE_INFINITY;
}
