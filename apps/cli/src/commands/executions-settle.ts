import type { BodyOf } from '@nebula/client';
import { idsInOrder, type Json, NebulaError } from '@nebula/core';
import { withApi } from '../api.ts';
import { textOption } from '../command-options.ts';
import { readJson } from '../input.ts';
import { printRecorded } from '../recorded-requests.ts';
import { commandWriter } from '../report-runs.ts';
import { requested, runNamed } from '../runs.ts';
import type { CommandOptions, Context } from '../services.ts';
import { jsonDocument } from '../views/json.ts';
import { unknownNode } from './executions-explain.ts';

export async function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const { out } = context.io;
  const [executionId = '', node = ''] = args;
  const settlement = await settlementOf(context, options);
  return withApi(context, options, 'look', async (session, project) => {
    const document = await runNamed(session, project, executionId);
    const seen = Object.hasOwn(document.nodes, node) ? document.nodes[node] : undefined;
    if (seen === undefined) return unknownNode(node, idsInOrder(document));
    if (seen.status !== 'unknown') {
      throw new NebulaError('NOT_UNKNOWN', `${node} is ${seen.status}: only an unknown outcome can be settled`, {
        hint: commandWriter(context, project, executionId)('executions explain', node),
      });
    }
    const call = session.api.call('settleNode', { params: { executionId }, body: { node, ...settlement } });
    await requested(project, executionId, call);
    if (options.json === true) out.write(jsonDocument({ executionId, node, requested: true }));
    else printRecorded(context, project, executionId, `Recorded: ${node} ${wordsOf(settlement)}`);
    return 0;
  });
}

type Settlement = Omit<BodyOf<'settleNode'>, 'node'>;

async function settlementOf({ io }: Context, options: CommandOptions): Promise<Settlement> {
  const chosen = (['happened', 'retry', 'fail'] as const).filter((name) => options[name] === true);
  const outputText = textOption(options, 'output');
  if (chosen.length !== 1) {
    throw new NebulaError('USAGE', 'give exactly one of --happened, --retry, --fail');
  }
  if (chosen[0] !== 'happened') {
    if (outputText !== undefined) throw new NebulaError('USAGE', '--output needs --happened');
    return { happened: false, then: chosen[0] as 'retry' | 'fail' };
  }
  const output: Json = outputText === undefined ? null : await readJson(io, outputText, '--output');
  return { happened: true, output };
}

function wordsOf(settlement: Settlement): string {
  if (settlement.happened) return 'took effect';
  return settlement.then === 'retry' ? 'will run again' : 'will fail';
}
