import { type Json, NebulaError } from '@nebula/core';
import { withApi } from '../api.ts';
import { textOption } from '../command-options.ts';
import { continueHere, reportRecorded, resumeSome } from '../continue-runs.ts';
import { readJson } from '../input.ts';
import { commandWriter } from '../report-runs.ts';
import { requested, runNamed } from '../runs.ts';
import type { CommandOptions, Context, Project } from '../services.ts';

/** Runs a node of an ended run and everything downstream again, in the same run or in a fork. */
export async function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const [executionId = '', node = ''] = args;
  const text = textOption(options, 'input');
  const input = text === undefined ? undefined : await readJson(context.io, text, '--input');
  if (options.fork === true) return await fork(context, executionId, node, input, options);
  const project = await withApi(context, options, 'look', async (session, opened) => {
    await runNamed(session, opened, executionId);
    const body = { node, ...(input !== undefined && { input }) };
    const call = session.api.call('replayExecution', { params: { executionId }, body });
    await requested(opened, executionId, call);
    return opened;
  });
  return await continueHere(context, project, [executionId], options);
}

/** Only the engine that owns the data folder can create the fork: a run that does not exist yet has no inbox. */
async function fork(
  context: Context,
  executionId: string,
  node: string,
  input: Json | undefined,
  options: CommandOptions,
): Promise<number> {
  const project = await withApi(context, options, 'look', async (session, opened) => {
    await runNamed(session, opened, executionId);
    return opened;
  });
  const session = await context.services.openApi(project, 'work', { makesFolder: true }).catch((error: unknown) => {
    throw forkRefusal(context, project, error, executionId, node);
  });
  try {
    const body = { node, fork: true, ...(input !== undefined && { input }) };
    const { executionId: forkId } = await session.api.call('replayExecution', { params: { executionId }, body });
    if (options.run === false) return reportRecorded(context, project, [forkId], options);
    return await resumeSome(context, project, session, [forkId], options);
  } finally {
    await session.close();
  }
}

function forkRefusal(context: Context, project: Project, error: unknown, executionId: string, node: string): unknown {
  if (!(error instanceof NebulaError) || error.code !== 'STORE_LOCKED') return error;
  const replay = commandWriter(context, project, executionId)('executions replay', node);
  return new NebulaError('STORE_LOCKED', `cannot fork while another engine owns the data folder: ${error.message}`, {
    hint: `fork after that engine has stopped, or replay in the same run, which works beside it: ${replay}`,
    ...(error.details !== undefined && { details: error.details }),
    cause: error,
  });
}
