import { idsInOrder, type Json, NebulaError } from '@nebula/core';
import { documentOf, textOption, unknownExecution, withDesk } from '../desk.ts';
import { readJson } from '../input.ts';
import { RunProgress } from '../live/progress.ts';
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
    if (!Object.hasOwn(document.nodes, node)) return unknownNode(node, idsInOrder(document));
    const progress = new RunProgress(executionId, '', []);
    progress.sync(document);
    progress.recall(await session.desk.timeline(executionId));
    const waits = progress.node(node)?.waiting?.waits ?? [];
    if (!waits.some(({ kind }) => kind === 'callback')) {
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
