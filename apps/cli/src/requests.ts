/** What is said after a durable request: whether it has taken effect, or what makes it so. */
import { NebulaError, type RunDocument } from '@nebula/core';
import type { Target } from './bulk.ts';
import { commandWriter, writeLines } from './conclude.ts';
import type { Context, DeskSession, Project } from './services.ts';

/** An engine that runs beside us acts within this time; without one the request waits. */
const WAIT_MS = 2_000;
const POLL_MS = 50;

/** The newest document, as soon as it is as wished, or when an engine would have acted long ago. */
export async function waitUntil(
  { desk }: DeskSession,
  executionId: string,
  isThere: (document: RunDocument) => boolean,
): Promise<RunDocument | undefined> {
  const until = performance.now() + WAIT_MS;
  for (;;) {
    const document = await desk.document(executionId);
    if (document === undefined || isThere(document) || performance.now() > until) return document;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** The command that acts on what was asked for. */
export function keptLines(
  context: Context,
  project: Project,
  executionId: string | undefined,
  words: string,
): string[] {
  const { colors } = context.io.out;
  const resume = commandWriter(context, project, executionId)('resume');
  return [`${words}; an engine that runs here acts on it, else`, `  ${colors.bold(resume)}`];
}

export function tellKept(context: Context, project: Project, executionId: string | undefined, words: string): void {
  writeLines(context.io.out, keptLines(context, project, executionId, words));
}

export function ended({ executionId, status, isFinished }: Target): NebulaError | undefined {
  if (!isFinished) return undefined;
  return new NebulaError('ALREADY_FINISHED', `${executionId} has ended already: ${status}`);
}
