/**
 * Reports a durable request. The engine that owns the data folder acts on it, and gets a little time to do so; without
 * one, the command itself is the engine. The text says whether the request has taken effect, or which command does it.
 */

import { NebulaError } from '@nebula/core';
import { print } from './print.ts';
import { commandWriter } from './report-runs.ts';
import type { ApiSession, ProjectCall } from './services.ts';
import { readingWidth } from './terminal/io.ts';
import { wrap } from './terminal/width.ts';

/** Returns undefined when the engine of another process owns the data folder, which acts on requests itself. */
export async function engineHere({ services, project }: ProjectCall): Promise<ApiSession | undefined> {
  try {
    return await services.openApi(project, 'work', { makesFolder: true });
  } catch (error) {
    if (error instanceof NebulaError && error.code === 'STORE_LOCKED') return undefined;
    throw error;
  }
}

/** Says who acts on a recorded request: the server, a running engine, or else `nebula resume`. */
export function recordedLines(call: ProjectCall, executionId: string | undefined, words: string): string[] {
  const { out } = call.io;
  if (call.project.server !== undefined) return wrap(`${words}. The server acts on it.`, readingWidth(out));
  const said = wrap(`${words}. A running engine picks it up; otherwise run`, readingWidth(out));
  return [...said, `  ${out.colors.bold(commandWriter(call, executionId)('resume'))}`];
}

/** Prints the document, or words about the request of a run. */
export function printRecorded(
  call: ProjectCall,
  document: { readonly executionId: string; [member: string]: unknown },
  words: string,
): number {
  return print(call, document, () => recordedLines(call, document.executionId, words));
}
