import { withApi } from '../api.ts';
import { definedMembers, inProject, textOption } from '../command-options.ts';
import { EXIT } from '../exit-code.ts';
import type { Command } from '../services.ts';
import { listenForInterrupt } from '../terminal/interrupt.ts';
import { printableLine } from '../terminal/width.ts';
import { jsonLine } from '../views/json.ts';

/** Prints the events of all runs as they arrive, until Ctrl-C. */
export const execute: Command = (call) => {
  const { io, options } = call;
  const from = textOption(options, 'after') ?? 'now';
  const after = from === 'all' ? undefined : from;
  return withApi(call, 'read', async ({ api }) => {
    const stop = new AbortController();
    const interrupt = listenForInterrupt();
    void interrupt.happened.then(() => stop.abort());
    const which = { ...inProject(options), ...definedMembers({ workflowId: textOption(options, 'workflow'), after }) };
    try {
      for await (const event of api.allEvents({ ...which, signal: stop.signal })) {
        const { at, type, node, executionId } = event;
        const words = [at, executionId ?? '', type, ...(node === null ? [] : [node])].map(printableLine);
        io.out.write(options.json === true ? jsonLine(event) : `${words.join('  ')}\n`);
      }
    } finally {
      interrupt.release();
    }
    return EXIT.interrupted;
  });
};
