/**
 * After a durable request: the engine that has the data folder acts on it, and is given a little time; where there is
 * none, the command is the engine. What is said tells whether it has taken effect, or what makes it so.
 */

import { NebulaError } from '@nebula/core';
import type { Target } from './bulk.ts';
import { commandWriter, writeLines } from './report-runs.ts';
import type { ApiSession, Context, Project } from './services.ts';
import { readingWidth } from './terminal/io.ts';
import { wrap } from './terminal/width.ts';

/** Undefined when an engine of another process has the data folder: it acts on requests itself. */
export async function engineHere({ services }: Context, project: Project): Promise<ApiSession | undefined> {
  try {
    return await services.openApi(project, 'work', { makesFolder: true });
  } catch (error) {
    if (error instanceof NebulaError && error.code === 'STORE_LOCKED') return undefined;
    throw error;
  }
}

/** The command that acts on what was asked for. */
export function recordedLines(
  context: Context,
  project: Project,
  executionId: string | undefined,
  words: string,
): string[] {
  const { out } = context.io;
  const { colors } = out;
  const resume = commandWriter(context, project, executionId)('resume');
  if (project.server !== undefined) return wrap(`${words}; the server acts on it`, readingWidth(out));
  const said = wrap(`${words}; an engine that runs here acts on it, else`, readingWidth(out));
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
