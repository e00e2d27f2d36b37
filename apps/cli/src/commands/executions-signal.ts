import { type Json, NebulaError } from '@nebula/core';
import { type Change, changeRuns, reportChange } from '../bulk.ts';
import { textOption } from '../command-options.ts';
import { readJson } from '../input.ts';
import { waitingIn } from '../live/shown-run.ts';
import { ended, printRecorded, recordedLines } from '../recorded-requests.ts';
import { requested, runNamed } from '../runs.ts';
import type { ApiSession, CommandOptions, Context, Project } from '../services.ts';
import { jsonDocument } from '../views/json.ts';

/** The last argument is the name of the signal. The arguments before it are runs, unless a filter selects them. */
export async function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const signal = args.at(-1) as string;
  const executionIds = args.slice(0, -1);
  if (executionIds.length === 0 && options.status === undefined && options.workflow === undefined) {
    throw new NebulaError('USAGE', 'a signal needs a run and a name', {
      hint: `${context.program} executions signal EXECUTION NAME`,
    });
  }
  const key = textOption(options, 'key');
  const text = textOption(options, 'payload');
  const payload: Json = text === undefined ? null : await readJson(context.io, text, '--payload');
  const isOne = executionIds.length === 1;
  let waits: readonly { readonly key: string }[] = [];
  const change: Change = {
    verb: `signal ${signal} to`,
    done: 'requested',
    refusal: ended,
    bulk: { operation: 'signal', signal: { signal, payload, ...(key !== undefined && { key }) } },
    async act({ executionId }, session, project) {
      if (isOne) waits = await waitsFor(session, project, executionId, signal);
      const given = { signal, payload, ...(key !== undefined && { key }) };
      const call = session.api.call('signalExecution', { params: { executionId }, body: given });
      await requested(project, executionId, call);
    },
  };
  const changed = await changeRuns(context, executionIds, options, change);
  if (!changed.one) {
    const after = recordedLines(context, changed.project, undefined, 'Signals recorded');
    return reportChange(context, options, change, changed, after);
  }
  const { project, target } = changed;
  const isAwaited = waits.some((wait) => wait.key === (key ?? ''));
  if (options.json === true) {
    context.io.out.write(
      jsonDocument({ executionId: target.executionId, signal, requested: true, awaited: isAwaited }),
    );
  } else {
    const other = waits.find((wait) => wait.key !== '');
    const early = other === undefined ? 'nothing waits for it yet' : `the run waits for it with --key ${other.key}`;
    const words = isAwaited ? `Signal ${signal} recorded` : `Signal ${signal} recorded, but ${early}`;
    printRecorded(context, project, target.executionId, words);
  }
  return 0;
}

async function waitsFor(
  session: ApiSession,
  project: Project,
  executionId: string,
  signal: string,
): Promise<{ readonly key: string }[]> {
  const waits = waitingIn(await runNamed(session, project, executionId)).flatMap(([, { waitsFor }]) =>
    waitsFor?.kind === 'event' ? waitsFor.events : [],
  );
  return waits.flatMap((wait) => (wait.kind === 'signal' && wait.signal === signal ? [{ key: wait.key }] : []));
}
