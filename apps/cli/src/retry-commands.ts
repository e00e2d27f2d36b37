/** The commands that continue a failed run, with the file of its workflow where one is found. */
import { type RunDocument, retrySteps } from '@nebula/core';
import { workflowFileHere } from './error-source.ts';
import { localCommand } from './local-command.ts';
import { findBareRun } from './runs.ts';
import type { OpenCall } from './services.ts';
import { shellWord } from './views/words.ts';

export async function retryCommands(
  open: OpenCall,
  { executionId, status, error }: Pick<RunDocument, 'executionId' | 'status' | 'error'>,
  folder?: string,
): Promise<string[]> {
  if (status !== 'failed' || error === null) return [];
  return Promise.all(retrySteps(executionId, error).map((step) => stepHere(open, step, folder)));
}

const WITH_FILE = /^(nebula executions retry (\S+) --to) FILE$/;

/** A command of an explanation so that it works in this shell and folder. */
export async function stepHere(open: OpenCall, step: string, folder?: string): Promise<string> {
  const [, start, executionId] = WITH_FILE.exec(step) ?? [];
  if (start === undefined || executionId === undefined) return localCommand(open, step);
  const run = await findBareRun(open.api, executionId);
  const found = run && (await workflowFileHere(open, run.workflowId, folder));
  return localCommand(open, found === undefined ? step : `${start} ${shellWord(found.file)}`);
}
