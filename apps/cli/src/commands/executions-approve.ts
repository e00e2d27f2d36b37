import { type Json, NebulaError } from '@nebula/core';
import { documentOf, textOption, unknownExecution, withDesk } from '../desk.ts';
import { readJson } from '../input.ts';
import { tellKept } from '../requests.ts';
import type { CommandOptions, Context } from '../services.ts';
import { jsonDocument } from '../views/json.ts';

export function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  return answer(context, args, options, true);
}

/** Also what `executions reject` does. */
export async function answer(
  context: Context,
  [executionId = '', node = '']: readonly string[],
  options: CommandOptions,
  approved: boolean,
): Promise<number> {
  const { io } = context;
  const comment = textOption(options, 'comment');
  const text = textOption(options, 'form');
  const form: Json | undefined = text === undefined ? undefined : await readJson(io, text, '--form');
  return await withDesk(context, options, async (session, project) => {
    const { finishedAt, status } = await documentOf(session, project, executionId);
    if (finishedAt !== null) throw new NebulaError('ALREADY_FINISHED', `${executionId} has ended already: ${status}`);
    const by = textOption(options, 'by') ?? (await session.me?.()) ?? io.user();
    const given = { approved, by, ...(comment !== undefined && { comment }), ...(form !== undefined && { form }) };
    const isKnown = await session.desk.requestAnswer(executionId, node, given);
    if (!isKnown) unknownExecution(project, executionId);
    if (options.json === true) io.out.write(jsonDocument({ executionId, node, approved, by, requested: true }));
    else tellKept(context, project, executionId, `kept: ${node} is ${approved ? 'approved' : 'rejected'} by ${by}`);
    return 0;
  });
}
