/** Commands of `nebula executions` that answer a waiting node, or run a part of a run again. */
import type { BodyOf } from '@nebula/client';
import { idsInOrder, type Json, NebulaError } from '@nebula/core';
import { warnOfOldCode, withApi, withSession } from '../api.ts';
import { definedMembers, textOption, versionOf } from '../command-options.ts';
import { continueHere, continueRuns, reportRecorded, resumeSome, watchedRun } from '../continue-runs.ts';
import { jsonOption } from '../input.ts';
import { locationOf } from '../location.ts';
import { print } from '../print.ts';
import { printRecorded } from '../recorded-requests.ts';
import { commandWriter } from '../report-runs.ts';
import { requested, runNamed } from '../runs.ts';
import type { Call, Command, OpenCall, ProjectCall } from '../services.ts';
import { printableLine } from '../terminal/width.ts';
import { unknownNode } from './executions-read.ts';
import { inputOf, withWork } from './run.ts';

export const approve: Command = (call, args) => answer(call, args, true);
export const reject: Command = (call, args) => answer(call, args, false);

async function answer(
  call: Call,
  [executionId = '', node = '']: readonly string[],
  approved: boolean,
): Promise<number> {
  const { options } = call;
  const form = await jsonOption(call, 'form');
  return await withApi(call, 'read', async (open) => {
    const { finishedAt, status } = await runNamed(open, executionId);
    if (finishedAt !== null) throw new NebulaError('ALREADY_FINISHED', `${executionId} has ended already: ${status}`);
    const by = textOption(options, 'by') ?? (await nameOf(open));
    const body = { node, approved, by, ...definedMembers({ comment: textOption(options, 'comment'), form }) };
    await requested(open, executionId, open.api.call('answerApproval', { params: { executionId }, body }));
    const words = `Recorded: ${node} is ${approved ? 'approved' : 'rejected'} by ${by}`;
    return printRecorded(open, { executionId, node, approved, by, requested: true }, words);
  });
}

/**
 * The caller's name at the server: the user, also for a key, whose own name is `user/key`. The owner of a data folder or
 * a desktop server has none, so the OS user is taken.
 */
async function nameOf({ io, api }: OpenCall): Promise<string> {
  const { kind, user } = await api.call('getMe');
  if (kind === 'token') return io.user();
  return kind === 'key' ? user.replace(/\/[^/]*$/, '') : user;
}

/** Sends the callback that a node waits for. */
export const callback: Command = async (call, [executionId = '', node = '']) => {
  const payload = (await jsonOption(call, 'payload')) ?? null;
  return await withApi(call, 'read', async (open) => {
    const body = { node, payload };
    await requested(open, executionId, open.api.call('callBack', { params: { executionId }, body }));
    return printRecorded(open, { executionId, node, requested: true }, `Recorded: the callback of ${node}`);
  });
};

export const settle: Command = async (call, [executionId = '', node = '']) => {
  const settlement = await settlementOf(call);
  return await withApi(call, 'read', async (open) => {
    const document = await runNamed(open, executionId);
    const seen = Object.hasOwn(document.nodes, node) ? document.nodes[node] : undefined;
    if (seen === undefined) return unknownNode(node, idsInOrder(document));
    if (seen.status !== 'unknown') {
      throw new NebulaError('NOT_UNKNOWN', `${node} is ${seen.status}: only an unknown outcome can be settled`, {
        hint: commandWriter(open, executionId)('executions explain', node),
      });
    }
    const body = { node, ...settlement };
    await requested(open, executionId, open.api.call('settleNode', { params: { executionId }, body }));
    return printRecorded(open, { executionId, node, requested: true }, `Recorded: ${node} ${wordsOf(settlement)}`);
  });
};

type Settlement = Omit<BodyOf<'settleNode'>, 'node'>;

async function settlementOf(call: Call): Promise<Settlement> {
  const chosen = (['happened', 'retry', 'fail'] as const).filter((name) => call.options[name] === true);
  if (chosen.length !== 1) {
    throw new NebulaError('USAGE', 'give exactly one of --happened, --retry, --fail');
  }
  if (chosen[0] !== 'happened') {
    if (call.options.output !== undefined) throw new NebulaError('USAGE', '--output needs --happened');
    return { happened: false, then: chosen[0] as 'retry' | 'fail' };
  }
  return { happened: true, output: (await jsonOption(call, 'output')) ?? null };
}

function wordsOf(settlement: Settlement): string {
  if (settlement.happened) return 'took effect';
  return settlement.then === 'retry' ? 'will run again' : 'will fail';
}

/** Runs a node of an ended run and everything downstream again, in the same run or in a fork. */
export const replay: Command = async (call, [executionId = '', node = '']) => {
  const body = { node, ...definedMembers({ input: await jsonOption(call, 'input') }) };
  if (call.options.dryRun === true) return await previewReplay(call, executionId, body);
  const projectCall = await withApi(call, 'read', async (open): Promise<ProjectCall> => {
    await runNamed(open, executionId);
    if (call.options.fork !== true) {
      warnOfOldCode(open);
      await requested(open, executionId, open.api.call('replayExecution', { params: { executionId }, body }));
    }
    return { ...call, project: open.project };
  });
  return await (call.options.fork === true
    ? fork(projectCall, executionId, body)
    : continueHere(projectCall, [executionId]));
};

async function previewReplay(call: Call, executionId: string, body: { node: string; input?: Json }): Promise<number> {
  return await withApi(call, 'read', async (open) => {
    const answer = open.api.call('replayExecution', { params: { executionId }, body: { ...body, dryRun: true } });
    const preview = await requested(open, executionId, answer);
    return print(call, preview, () => {
      if (preview.accepted) return [];
      const line = (words: string, paths: readonly string[]): string[] =>
        paths.length === 0 ? [] : [`${words}: ${paths.map(printableLine).join(', ')}`];
      return [
        ...line('would run again', preview.again),
        ...line('would continue', preview.continues),
        ...line('would keep their results', preview.kept),
      ];
    });
  });
}

/** Only the engine that owns the data folder can create the fork: a run that does not exist yet has no inbox. */
async function fork(call: ProjectCall, executionId: string, body: { node: string; input?: Json }): Promise<number> {
  const opening = call.services.openApi(call.project, 'work', { makesFolder: true });
  const session = await opening.catch((error: unknown) => {
    throw forkRefusal(call, error, executionId, body.node);
  });
  return await withSession(call, session, async (open) => {
    const answered = await open.api.call('replayExecution', { params: { executionId }, body: { ...body, fork: true } });
    const forks = [answered.executionId];
    return call.options.run === false ? reportRecorded(call, forks) : await resumeSome(open, forks);
  });
}

function forkRefusal(call: ProjectCall, error: unknown, executionId: string, node: string): unknown {
  if (!(error instanceof NebulaError) || error.code !== 'STORE_LOCKED') return error;
  const again = commandWriter(call, executionId)('executions replay', node);
  return new NebulaError('STORE_LOCKED', `cannot fork while another engine owns the data folder: ${error.message}`, {
    hint: `fork after that engine has stopped, or replay in the same run, which works beside it: ${again}`,
    ...definedMembers({ details: error.details }),
    cause: error,
  });
}

/** Starts the workflow of a run again as a new run, with the same input or a new one. */
export const relaunch: Command = async (call, [executionId = '']) => {
  const { options } = call;
  const project = await call.services.openProject(locationOf(options));
  const text = textOption(options, 'workflowVersion');
  const version = text === 'active' || text === 'same' ? text : versionOf(text);
  const input = options.input === undefined && options.set === undefined ? undefined : await inputOf(call);
  return await withWork({ ...call, project }, {}, async (open) => {
    await open.session.work([]);
    const started = open.api.call('relaunchExecution', {
      params: { executionId },
      body: definedMembers({ version, input }),
    });
    const { executionId: again, workflowId } = await requested(open, executionId, started);
    if (options.wait === false) return print(call, { executionId: again, workflowId }, () => [again]);
    const run = await watchedRun(open.session, again);
    // The run is new, so all its events are shown.
    const runs = run === undefined ? [] : [{ ...run, document: undefined }];
    return await continueRuns(open, runs, async () => undefined);
  });
};
