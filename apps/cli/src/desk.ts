/** What commands that look at runs have in common: open the data folder, find the run, close it again. */
import { NebulaError, type RunDocument } from '@nebula/core';
import type { CommandOptions, Context, DeskSession, Project } from './services.ts';

export async function withDesk<Result>(
  { services }: Context,
  options: CommandOptions,
  work: (session: DeskSession, project: Project) => Promise<Result>,
): Promise<Result> {
  const dataDir = textOption(options, 'dataDir');
  const project = await services.openProject(dataDir === undefined ? {} : { dataDir });
  const session = await services.openDesk(project);
  try {
    return await work(session, project);
  } finally {
    await session.close();
  }
}

export async function documentOf(session: DeskSession, project: Project, executionId: string): Promise<RunDocument> {
  return (await session.desk.document(executionId)) ?? unknownExecution(project, executionId);
}

export function unknownExecution(project: Project, executionId: string): never {
  throw new NebulaError('UNKNOWN_EXECUTION', `there is no run ${executionId} in ${project.dataDir}`, {
    hint: '`nebula executions list` shows the runs; --data-dir looks in another folder',
  });
}

export function textOption(options: CommandOptions, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

export function countOption(options: CommandOptions, name: string, fallback: number): number {
  const text = textOption(options, name);
  if (text === undefined) return fallback;
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  throw new NebulaError('USAGE', `--${name} ${text}: not a whole number above 0`);
}
