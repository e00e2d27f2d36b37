import { withApi } from '../api.ts';
import { inProject, textOption } from '../command-options.ts';
import { EXIT } from '../exit-code.ts';
import type { CommandOptions, Context } from '../services.ts';
import { listenForInterrupt } from '../terminal/interrupt.ts';
import { printableLine } from '../terminal/width.ts';
import { jsonLine } from '../views/json.ts';

/** Prints the events of all runs as they arrive, until Ctrl-C. */
export function execute(context: Context, _args: readonly string[], options: CommandOptions): Promise<number> {
  const { out } = context.io;
  const workflowId = textOption(options, 'workflow');
  const from = textOption(options, 'after') ?? 'now';
  const after = from === 'all' ? {} : { after: from };
  return withApi(context, options, 'look', async ({ api }) => {
    const stop = new AbortController();
    const interrupt = listenForInterrupt();
    void interrupt.happened.then(() => stop.abort());
    const which = { ...inProject(options), ...(workflowId !== undefined && { workflowId }) };
    try {
      for await (const event of api.allEvents({ ...which, ...after, signal: stop.signal })) {
        const { at, type, node, executionId } = event;
        const words = [at, executionId ?? '', type, ...(node === null ? [] : [node])].map(printableLine);
        out.write(options.json === true ? jsonLine(event) : `${words.join('  ')}\n`);
      }
    } finally {
      interrupt.release();
    }
    return EXIT.interrupted;
  });
}
