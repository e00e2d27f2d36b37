/** Activates, deactivates and archives workflows. */
import type { AnswerOf } from '@nebula/client/contract';
import type { Call, Handlers, Reply } from '../http/handler.ts';
import { DEFAULT_PROJECT } from '../http/subject.ts';
import type { Parts } from '../parts.ts';
import { expectedRevision, putRecord, type WorkflowRecord } from '../records.ts';
import { setActive } from './workflow-registration.ts';
import { versionOf, type WorkflowSummaries } from './workflow-summaries.ts';

/** `onActivation` is called when the active version of a workflow changes or is removed. */
export function activationRoutes(parts: Parts, summaries: WorkflowSummaries, onActivation: () => void) {
  /** Changes the active version, or archives the workflow. */
  const change = async (
    { params: { workflowId }, headers }: Pick<Call<'deactivateWorkflow'>, 'params' | 'headers'>,
    how: { readonly active: number | null; readonly isArchived?: boolean },
  ): Promise<Reply<AnswerOf<'getWorkflow'>>> => {
    const ifMatch = expectedRevision(headers['if-match']);
    await setActive(parts, { workflowId, ...how, ifMatch }, onActivation);
    return await summaries.reply(workflowId);
  };
  return {
    async activateWorkflow({ params, body: { version }, headers }) {
      const row = await versionOf(parts, params.workflowId, version);
      return await change({ params, headers }, { active: row.version });
    },

    async deactivateWorkflow(call) {
      await versionOf(parts, call.params.workflowId);
      return await change(call, { active: null });
    },

    async archiveWorkflow(call) {
      await versionOf(parts, call.params.workflowId);
      return await change(call, { active: null, isArchived: true });
    },

    async unarchiveWorkflow({ params: { workflowId }, headers }) {
      await versionOf(parts, workflowId);
      const key = { kind: 'workflow', id: workflowId, ifMatch: headers['if-match'] };
      await putRecord<WorkflowRecord>(parts.records, key, (before) => {
        const { archived: _, ...rest } = before?.body ?? { project: DEFAULT_PROJECT, active: null };
        return rest;
      });
      return await summaries.reply(workflowId);
    },
  } satisfies Partial<Handlers>;
}
