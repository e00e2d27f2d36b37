/** What commands that look at runs have in common: open the data folder, find the run, close it again. */
import { NebulaError, type RunDocument } from '@nebula/core';
import type { CommandOptions, Context, DeskSession, Project, ProjectOptions } from './services.ts';

export async function withDesk<Result>(
  { services }: Context,
  options: CommandOptions,
  work: (session: DeskSession, project: Project) => Promise<Result>,
): Promise<Result> {
  const project = await services.openProject(placeOf(options));
  const session = await services.openDesk(project);
  try {
    return await work(session, project);
  } finally {
    await session.close();
  }
}

/** Where the runs are that a command is about, as its options say. */
export function placeOf(options: CommandOptions): ProjectOptions {
  const given = ['dataDir', 'server', 'token', 'context'].flatMap((name) => {
    const value = textOption(options, name);
    return value === undefined ? [] : [[name, value]];
  });
  return { mayBeServer: true, ...Object.fromEntries(given) };
}

/** How people would name that place. */
export function placeText({ server, dataDir }: Project): string {
  return server?.url ?? dataDir;
}

export async function documentOf(session: DeskSession, project: Project, executionId: string): Promise<RunDocument> {
  return (await session.desk.document(executionId)) ?? unknownExecution(project, executionId);
}

export function unknownExecution(project: Project, executionId: string): never {
  const place = project.server === undefined ? 'in' : 'at';
  throw new NebulaError('UNKNOWN_EXECUTION', `there is no run ${executionId} ${place} ${placeText(project)}`, {
    hint: '`nebula executions list` shows the runs; --data-dir looks in another folder, --server at a server',
  });
}

/** As `--project` says. */
export function inProject(options: CommandOptions): { readonly project?: string } {
  const project = textOption(options, 'project');
  return project === undefined ? {} : { project };
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
