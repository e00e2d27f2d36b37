/** `nebula test --against-runs`: decides the last recorded runs again with the files as they are now. */
import { NebulaError } from '@nebula/core';
import type { Frame, ReplayResult } from '@nebula/testing';
import { withApi } from '../api.ts';
import { textOption } from '../command-options.ts';
import { EXIT } from '../exit-code.ts';
import { print, writeLines } from '../print.ts';
import { journalOf, runsOf } from '../runs.ts';
import type { Call, OpenCall } from '../services.ts';
import { readingWidth } from '../terminal/io.ts';
import { wrap } from '../terminal/width.ts';
import { statusGlyph, statusPaint } from '../views/theme.ts';
import { agoText, plural } from '../views/words.ts';
import { loadForLocation } from '../workflow-file.ts';

const DEFAULT_RUNS = 20;
const MAX_RUNS = 1_000;

interface Replayed {
  readonly executionId: string;
  readonly status: Parameters<typeof statusGlyph>[0];
  readonly createdAt: string;
  readonly result: ReplayResult;
}

export async function testAgainstRuns(call: Call, files: readonly string[]): Promise<number> {
  if (files.length === 0) {
    throw new NebulaError('USAGE', '--against-runs needs the workflow files', {
      hint: `${call.program} test order.yaml --against-runs`,
    });
  }
  const limit = runCount(call);
  const outcomes = [];
  for (const file of files) outcomes.push(await ofFile(call, file, limit));
  const isSame = outcomes.every(({ runs }) => runs.every(({ result }) => result.same));
  const documents = outcomes.map(({ file, workflowId, runs }) => ({ file, workflowId, runs: runs.map(documentOf) }));
  print(call, { passed: isSame, files: documents }, () => []);
  return isSame ? EXIT.completed : EXIT.failed;
}

function runCount(call: Call): number {
  const text = textOption(call.options, 'againstRuns');
  if (text === undefined) return DEFAULT_RUNS;
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= MAX_RUNS) return count;
  throw new NebulaError('USAGE', `--against-runs: ${text} is not a number of runs`, {
    hint: `from 1 to ${MAX_RUNS}; write the file before it: test order.yaml --against-runs 50`,
  });
}

async function ofFile(call: Call, file: string, limit: number) {
  const { services, options, io } = call;
  const { loaded, project } = await loadForLocation(call, file);
  const { definition, others } = loaded;
  const { replay } = await import('@nebula/testing');
  const { retryPolicies, capabilities } = project.config;
  const config = { ...(retryPolicies && { retryPolicies }), ...(capabilities && { capabilities }) };
  const actions = await services.actions(project);
  const runs: Replayed[] = [];
  await withApi(call, 'read', async (open) => {
    const { rows } = await runsOf(open.api, { workflowId: definition.id }, { limit });
    for (const { executionId, status, createdAt } of rows) {
      const frames = (await journalOf(open.api, executionId)) as unknown as readonly Frame[];
      const result = await replay(frames, definition, { actions, config, workflows: others });
      runs.push({ executionId, status, createdAt, result });
      if (options.json !== true) writeLines(io.out, runLines(open, runs.at(-1) as Replayed));
    }
  });
  if (options.json !== true) writeLines(io.out, [totalOf(definition.id, runs)]);
  return { file, workflowId: definition.id, runs };
}

function runLines({ io }: OpenCall, { executionId, status, createdAt, result }: Replayed): string[] {
  const { colors } = io.out;
  const run = `${executionId}  ${statusPaint(status, colors)(`${statusGlyph(status)} ${status}`)}`;
  const when = colors.dim(agoText(Date.parse(createdAt), io.now()));
  if (result.same) return [`${colors.green('✓')} ${run}  ${when}`];
  const text = wrap(result.divergence.text, readingWidth(io.out) - 4);
  return [`${colors.red('✗')} ${run}  ${when}`, ...text.map((line) => `    ${line}`)];
}

function totalOf(workflowId: string, runs: readonly Replayed[]): string {
  if (runs.length === 0) return `${workflowId}: no recorded run`;
  const others = runs.filter(({ result }) => !result.same).length;
  const words = others === 0 ? 'decided as recorded' : `${plural(others, 'run')} would differ`;
  return `${workflowId}: ${plural(runs.length, 'run')}, ${words}`;
}

function documentOf({ executionId, status, result }: Replayed): Record<string, unknown> {
  if (result.same) return { executionId, status, same: true, frames: result.frames, unclear: result.unclear };
  const { kind, node, text, frame, recorded, now } = result.divergence;
  return { executionId, status, same: false, difference: { frame, node, kind, text, recorded, now } };
}
