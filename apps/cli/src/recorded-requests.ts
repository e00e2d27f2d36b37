/**
 * Reports a durable request. The engine that owns the data folder acts on it, and gets a little time to do so; without
 * one, the command itself is the engine. The text says whether the request has taken effect, or which command does it.
 */

import { NebulaError } from '@nebula/core';
import { print } from './print.ts';
import { readNote } from './remote/found-server.ts';
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

/** Says who acts on a recorded request: the server, the engine of another process, or else `nebula resume`. */
export async function recordedLines(
  call: ProjectCall,
  executionId: string | undefined,
  words: string,
): Promise<string[]> {
  const { out } = call.io;
  const actor = await actorOf(call);
  if (actor !== undefined) return wrap(`${words}. ${actor} acts on it.`, readingWidth(out));
  const said = wrap(`${words}. No engine is running here: continue with`, readingWidth(out));
  return [...said, `  ${out.colors.bold(commandWriter(call, executionId)('resume'))}`];
}

async function actorOf({ project, services }: ProjectCall): Promise<string | undefined> {
  if (project.server !== undefined) return 'The server';
  const holder = await services.engineHolder(project);
  if (holder === undefined) return undefined;
  const note = readNote(project.dataDir);
  return note?.pid === holder.pid ? `The server at ${note.url}` : `The engine of process ${holder.pid}`;
}

/** Prints the document, or words about the request of a run. */
export async function printRecorded(
  call: ProjectCall,
  document: { readonly executionId: string; [member: string]: unknown },
  words: string,
): Promise<number> {
  const lines = await recordedLines(call, document.executionId, words);
  return print(call, document, () => lines);
}
