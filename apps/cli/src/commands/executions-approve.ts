import { type Json, NebulaError } from '@nebula/core';
import { withApi } from '../api.ts';
import { textOption } from '../command-options.ts';
import { readJson } from '../input.ts';
import { printRecorded } from '../recorded-requests.ts';
import { requested, runNamed } from '../runs.ts';
import type { ApiSession, CommandOptions, Context } from '../services.ts';
import { jsonDocument } from '../views/json.ts';

export function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  return answer(context, args, options, true);
}

/** Shared with `executions reject`. */
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
  return await withApi(context, options, 'look', async (session, project) => {
    const { finishedAt, status } = await runNamed(session, project, executionId);
    if (finishedAt !== null) throw new NebulaError('ALREADY_FINISHED', `${executionId} has ended already: ${status}`);
    const by = textOption(options, 'by') ?? (await nameOf(context, session));
    const body = { node, approved, by, ...(comment !== undefined && { comment }), ...(form !== undefined && { form }) };
    const call = session.api.call('answerApproval', { params: { executionId }, body });
    await requested(project, executionId, call);
    if (options.json === true) io.out.write(jsonDocument({ executionId, node, approved, by, requested: true }));
    else
      printRecorded(
        context,
        project,
        executionId,
        `Recorded: ${node} is ${approved ? 'approved' : 'rejected'} by ${by}`,
      );
    return 0;
  });
}

/** The caller's name at the server. The owner of a data folder or a desktop server has none, so the OS user is taken. */
async function nameOf({ io }: Context, { api }: ApiSession): Promise<string> {
  const { kind, user } = await api.call('getMe');
  return kind === 'token' ? io.user() : user;
}
