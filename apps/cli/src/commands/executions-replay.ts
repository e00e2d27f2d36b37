import { type Json, NebulaError } from '@nebula/core';
import { writeLines } from '../conclude.ts';
import { documentOf, textOption, unknownExecution, withDesk } from '../desk.ts';
import { readJson } from '../input.ts';
import { keptLines } from '../requests.ts';
import type { CommandOptions, Context, EngineSession, Project } from '../services.ts';
import { jsonDocument } from '../views/json.ts';
import { resumeSome } from './resume.ts';

/** Runs a node of a run that has ended, and what depends on it, again: in that run, or in a new one. */
export async function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const [executionId = '', node = ''] = args;
  const text = textOption(options, 'input');
  const input = text === undefined ? undefined : await readJson(context.io, text, '--input');
  if (options.fork === true) return await fork(context, executionId, node, input, options);
  const project = await withDesk(context, options, async (session, opened) => {
    await documentOf(session, opened, executionId);
    if (!(await session.desk.requestReplay(executionId, node, input))) unknownExecution(opened, executionId);
    return opened;
  });
  return await goOnHere(context, project, [executionId], options);
}

/** A new run is made by an engine only. */
async function fork(
  context: Context,
  executionId: string,
  node: string,
  input: Json | undefined,
  options: CommandOptions,
): Promise<number> {
  const project = await withDesk(context, options, async (session, opened) => {
    await documentOf(session, opened, executionId);
    return opened;
  });
  const session = await context.services.openEngine(project);
  try {
    const forkId = await session.engine.fork(executionId, node, input);
    if (options.run === false) return leftForLater(context, project, [forkId], options);
    return await resumeSome(context, project, session, [forkId], options);
  } finally {
    await session.close();
  }
}

/** Continues runs for which a request was left, unless that is not wanted or an engine has them already. */
export async function goOnHere(
  context: Context,
  project: Project,
  executionIds: readonly string[],
  options: CommandOptions,
): Promise<number> {
  if (options.run === false) return leftForLater(context, project, executionIds, options);
  let session: EngineSession;
  try {
    session = await context.services.openEngine(project);
  } catch (error) {
    if (isHeldByAnother(error)) return leftForLater(context, project, executionIds, options);
    throw error;
  }
  try {
    return await resumeSome(context, project, session, executionIds, options);
  } finally {
    await session.close();
  }
}

function leftForLater(
  context: Context,
  project: Project,
  executionIds: readonly string[],
  options: CommandOptions,
): number {
  const { out } = context.io;
  const [only] = executionIds;
  const isOne = executionIds.length === 1;
  if (options.json === true) {
    const documents = executionIds.map((executionId) => ({ executionId, requested: true }));
    out.write(jsonDocument(isOne ? documents[0] : { executions: documents }));
  } else {
    const words = isOne ? `the request for ${only} is kept` : 'the requests are kept';
    writeLines(out, keptLines(context, project, isOne ? only : undefined, words));
  }
  return 0;
}

function isHeldByAnother(error: unknown): boolean {
  return error instanceof NebulaError && error.code === 'STORE_LOCKED';
}
