/**
 * Reports a durable request. The engine that owns the data folder acts on it, and gets a little time to do so; without
 * one, the command itself is the engine. The text says whether the request has taken effect, or which command does it.
 */

import { NebulaError } from '@nebula/core';
import type { Target } from './bulk.ts';
import { commandWriter, writeLines } from './report-runs.ts';
import type { ApiSession, Context, Project } from './services.ts';
import { readingWidth } from './terminal/io.ts';
import { wrap } from './terminal/width.ts';

/** Returns undefined when the engine of another process owns the data folder, which acts on requests itself. */
export async function engineHere({ services }: Context, project: Project): Promise<ApiSession | undefined> {
  try {
    return await services.openApi(project, 'work', { makesFolder: true });
  } catch (error) {
    if (error instanceof NebulaError && error.code === 'STORE_LOCKED') return undefined;
    throw error;
  }
}

/** Says who acts on a recorded request: the server, a running engine, or else `nebula resume`. */
export function recordedLines(
  context: Context,
  project: Project,
  executionId: string | undefined,
  words: string,
): string[] {
  const { out } = context.io;
  const { colors } = out;
  const resume = commandWriter(context, project, executionId)('resume');
  if (project.server !== undefined) return wrap(`${words}. The server acts on it.`, readingWidth(out));
  const said = wrap(`${words}. A running engine picks it up; otherwise run`, readingWidth(out));
  return [...said, `  ${colors.bold(resume)}`];
}

export function printRecorded(
  context: Context,
  project: Project,
  executionId: string | undefined,
  words: string,
): void {
  writeLines(context.io.out, recordedLines(context, project, executionId, words));
}

export function ended({ executionId, status, isFinished }: Target): NebulaError | undefined {
  if (!isFinished) return undefined;
  return new NebulaError('ALREADY_FINISHED', `${executionId} has ended already: ${status}`);
}
