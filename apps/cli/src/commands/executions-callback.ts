import { idsInOrder, type Json, NebulaError } from '@nebula/core';
import { documentOf, textOption, unknownExecution, withDesk } from '../desk.ts';
import { readJson } from '../input.ts';
import { nodeIn } from '../live/shown-run.ts';
import { tellKept } from '../requests.ts';
import type { CommandOptions, Context } from '../services.ts';
import { jsonDocument } from '../views/json.ts';
import { unknownNode } from './executions-explain.ts';

/** Makes the call for which a node waits. */
export async function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const { out } = context.io;
  const [executionId = '', node = ''] = args;
  const text = textOption(options, 'payload');
  const payload: Json = text === undefined ? null : await readJson(context.io, text, '--payload');
  return await withDesk(context, options, async (session, project) => {
    const document = await documentOf(session, project, executionId);
    const state = nodeIn(document, node);
    if (state === undefined) return unknownNode(node, idsInOrder(document));
    const { waitsFor } = state;
    if (waitsFor?.kind !== 'event' || !waitsFor.events.some(({ kind }) => kind === 'callback')) {
      throw new NebulaError('NOT_WAITING', `${node} does not wait for a call`, {
        hint: `${context.program} executions explain ${executionId} ${node}`,
      });
    }
    if (!(await session.desk.requestCallback(executionId, node, payload))) unknownExecution(project, executionId);
    if (options.json === true) out.write(jsonDocument({ executionId, node, requested: true }));
    else tellKept(context, project, executionId, `kept: the call for ${node}`);
    return 0;
  });
}
