import { NebulaError } from '@nebula/core';
import { commandWriter, writeLines } from '../conclude.ts';
import { documentOf, unknownExecution, withDesk } from '../desk.ts';
import type { CommandOptions, Context, EngineSession, Project } from '../services.ts';
import { jsonDocument } from '../views/json.ts';
import { resumeSome } from './resume.ts';

/** Leaves the request, then continues the run here, unless an engine works on the folder already. */
export async function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const executionId = args[0] as string;
  const project = await request(context, executionId, options);
  if (options.run === false) return leftForLater(context, project, executionId, options);
  let session: EngineSession;
  try {
    session = await context.services.openEngine(project);
  } catch (error) {
    if (isHeldByAnother(error)) return leftForLater(context, project, executionId, options);
    throw error;
  }
  try {
    return await resumeSome(context, project, session, [executionId], options);
  } finally {
    await session.close();
  }
}

function request(context: Context, executionId: string, options: CommandOptions): Promise<Project> {
  return withDesk(context, options, async (session, project) => {
    const document = await documentOf(session, project, executionId);
    if (document.finishedAt === null) {
      throw new NebulaError(
        'NOT_FINISHED',
        `${executionId} is ${document.status}: only a run that has ended is retried`,
        {
          hint: commandWriter(context, project, executionId)('resume'),
        },
      );
    }
    if (document.status === 'completed') {
      throw new NebulaError('NOTHING_TO_RETRY', `${executionId} has completed: there is nothing to retry`);
    }
    if (!(await session.desk.requestRetry(executionId))) unknownExecution(project, executionId);
    return project;
  });
}

function leftForLater(context: Context, project: Project, executionId: string, options: CommandOptions): number {
  const { out } = context.io;
  if (options.json === true) out.write(jsonDocument({ executionId, requested: true }));
  else {
    const resume = commandWriter(context, project, executionId)('resume');
    writeLines(out, [
      'the request is kept; an engine that runs on this folder acts on it, else',
      `  ${out.colors.bold(resume)}`,
    ]);
  }
  return 0;
}

function isHeldByAnother(error: unknown): boolean {
  return error instanceof NebulaError && error.code === 'STORE_LOCKED';
}
