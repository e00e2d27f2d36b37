/** Requests to change an execution. A request is durable when the response is sent; an engine acts on it. */
import type { AnswerOf, BodyOf } from '@nebula/client/contract';
import { type Json, NebulaError } from '@nebula/core';
import type { ReopenPreview } from '@nebula/engine';
import type { ExecutionRow } from '@nebula/ports';
import { type Handlers, type Reply, reply } from '../http/handler.ts';
import { DEFAULT_PROJECT, unknownExecution } from '../http/subject.ts';
import { isAtLeast, type Principal } from '../identity/principal.ts';
import type { Parts } from '../parts.ts';

export function executionRequests(parts: Parts) {
  const { executions } = parts;
  return {
    async cancelExecution({ params: { executionId }, body: { reason, node, compensate }, who }) {
      await rejectNoop(parts, executionId, 'cancel');
      const options = { ...(node !== undefined && { node }), ...(compensate !== undefined && { compensate }) };
      const why = reason ?? `cancelled by ${who.name}`;
      return accepted(executionId, executions.requestCancel(executionId, why, options));
    },
    async pauseExecution({ params: { executionId }, body: { reason } }) {
      await rejectNoop(parts, executionId, 'pause');
      return accepted(executionId, executions.requestPause(executionId, reason));
    },
    async resumeExecution({ params: { executionId } }) {
      await rejectNoop(parts, executionId, 'resume');
      return accepted(executionId, executions.requestResume(executionId));
    },
    async signalExecution({ params: { executionId }, body: { signal, key, payload } }) {
      await rejectNoop(parts, executionId, 'signal');
      const request = { signal, ...(key !== undefined && { key }), payload: (payload ?? null) as Json };
      return accepted(executionId, executions.requestSignal(executionId, request));
    },
    answerApproval: ({ params: { executionId }, body: { node, approved, by, comment, form }, who }) =>
      accepted(
        executionId,
        executions.requestAnswer(executionId, node, {
          approved,
          by: answering(who, by),
          ...(comment !== undefined && { comment }),
          ...(form !== undefined && { form: form as Json }),
        }),
      ),
    callBack: ({ params: { executionId }, body: { node, payload } }) =>
      accepted(executionId, executions.requestCallback(executionId, node, (payload ?? null) as Json)),
    async retryExecution({ params: { executionId }, body: { dryRun } }) {
      await rejectNoop(parts, executionId, 'retry');
      if (dryRun === true) return preview(executionId, await executions.previewReopen(executionId));
      return accepted(executionId, executions.requestRetry(executionId));
    },

    async replayExecution({ params: { executionId }, body: { node, input, fork, dryRun }, who, isLocal, project }) {
      const edited = input as Json | undefined;
      if (dryRun === true) {
        return preview(executionId, await executions.previewReopen(executionId, { node, input: edited }));
      }
      if (edited !== undefined)
        await requireEditor({ who, project }, () => executions.secretsBehind(executionId, node, 'input'));
      if (!fork) return accepted(executionId, executions.requestReplay(executionId, node, edited));
      const principal = isLocal ? undefined : who.name;
      return reply(202, { executionId: await executions.fork(executionId, node, edited, principal), accepted: true });
    },

    async settleNode({
      params: { executionId },
      body: { node, happened, output, then = 'retry', attempt },
      who,
      project,
    }) {
      if (happened) await requireEditor({ who, project }, () => executions.secretsBehind(executionId, node, 'output'));
      const settlement = happened
        ? ({ happened: true, output: (output ?? null) as Json } as const)
        : ({ happened: false, then } as const);
      return accepted(executionId, executions.requestSettle(executionId, node, settlement, attempt));
    },
  } satisfies Partial<Handlers>;
}

/**
 * Requires the role editor for other parameters, or another graph, of a node that uses secrets: they could send the
 * secret to another host or action, as a change of the workflow could.
 */
async function requireEditor(
  { who, project = DEFAULT_PROJECT }: { readonly who: Principal; readonly project: string | undefined },
  secrets: () => Promise<readonly string[]>,
): Promise<void> {
  const role = Object.hasOwn(who.roles, project) ? who.roles[project] : undefined;
  if (who.isAdmin || (role !== undefined && isAtLeast(role, 'editor'))) return;
  const names = await secrets();
  if (names.length === 0) return;
  throw new NebulaError(
    'NOT_ALLOWED',
    `The node uses secrets (${names.join(', ')}): only an editor may give it other data.`,
    {
      hint: 'Leave `input` and `output` out, or ask an editor of the project.',
    },
  );
}

/** Nodes of each list of a preview. */
const MAX_PREVIEWED = 10_000;

function preview(executionId: string, found: ReopenPreview | undefined): Reply<AnswerOf<'retryExecution'>> {
  if (found === undefined) throw unknownExecution(executionId);
  const cut = (paths: readonly string[]): string[] => paths.slice(0, MAX_PREVIEWED);
  const { again, continues, kept } = found;
  return reply(200, {
    executionId,
    accepted: false,
    again: cut(again),
    continues: cut(continues),
    kept: cut(kept),
    more: [again, continues, kept].some(({ length }) => length > MAX_PREVIEWED),
  });
}

async function accepted(
  executionId: string,
  requested: Promise<boolean>,
): Promise<Reply<{ executionId: string; accepted: true }>> {
  if (!(await requested)) throw unknownExecution(executionId);
  return reply(202, { executionId, accepted: true });
}

/** A key answers for its owner, also if `by` is the name of the key. Only an administrator may answer on behalf of another user. */
function answering(who: Principal, by: string | undefined): string {
  const self = who.owner ?? who.name;
  if (by === undefined || by === self || by === who.name) return self;
  if (who.isAdmin) return by;
  throw new NebulaError('NOT_ALLOWED', `${who.name} may not answer as ${by}.`, { hint: 'Leave `by` out.' });
}

type Change = BodyOf<'bulkExecutions'>['operation'];

/**
 * Rejects no-op requests with 409, so that 202 means a state change. Accepts the request if an earlier one is still in
 * the inbox: a pending retry, for example, may make it effective.
 */
export async function rejectNoop({ store }: Parts, executionId: string, change: Change): Promise<void> {
  const row = await store.execution(executionId);
  const refusal = row && refusalOf(row, change);
  if (refusal !== undefined && (await store.inbox(executionId)).length === 0) throw refusal;
}

const CODES = new Set(['ALREADY_FINISHED', 'NOT_FINISHED', 'NOTHING_TO_RETRY', 'SAME_VERSION', 'OTHER_VERSION']);

export const isNoop = ({ code }: NebulaError): boolean => CODES.has(code);

function refusalOf({ executionId, status, finishedAt }: ExecutionRow, change: Change): NebulaError | undefined {
  const isEnded = finishedAt !== null;
  switch (change) {
    case 'cancel':
    case 'pause':
    case 'resume':
    case 'signal':
      if (!isEnded) return undefined;
      return new NebulaError('ALREADY_FINISHED', `${executionId} has ended already: ${status}.`, {
        hint: 'To continue it, retry the failed nodes, replay it from a node, or relaunch it.',
      });
    case 'retry':
      if (!isEnded) {
        return new NebulaError('NOT_FINISHED', `${executionId} is ${status}: only an ended run can be retried.`, {
          hint: 'Wait for its end, or cancel it first.',
        });
      }
      if (status !== 'completed') return undefined;
      return new NebulaError('NOTHING_TO_RETRY', `${executionId} has completed: there is nothing to retry.`, {
        hint: 'Replay it from a node, or relaunch it.',
      });
    case 'migrate':
    case 'delete':
      return undefined;
  }
}
