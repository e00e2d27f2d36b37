/** Loads what the editor needs: the text of a workflow or its draft, and what the server knows. */
import type { AnswerOf } from '@nebula/client';
import type { Json, WorkflowDefinition } from '@nebula/core';
import { api, isNotFound } from '../../data/api.ts';
import type { ActionInfo } from '../../language/catalog.ts';
import { blockLines } from '../../language/edits/rendering.ts';

/** The workflow as it is opened. */
export interface Opened {
  /** Undefined: it is new. */
  readonly workflowId: string | undefined;
  readonly project: string;
  readonly version: number | null;
  /** The text of that version. */
  readonly baseText: string;
  /** The draft, if there is one, else the text of the version. */
  readonly text: string;
  readonly revision: number;
  readonly filename: string | undefined;
  readonly format: 'yaml' | 'json' | 'typescript';
  readonly origin: AnswerOf<'getWorkflow'>['origin'];
  readonly actions: readonly ActionInfo[];
  readonly workflowIds: readonly string[];
}

const newText = (id: string): string => `id: ${id}
name: My workflow

nodes:
  hello:
    action: core.log@1
    with:
      message: "Hello {{ $input.name ?? 'world' }}"
`;

/** The draft of a workflow that does not exist yet. */
export const NEW_DRAFT = 'new';

export async function openWorkflow(workflowId: string | undefined, project: string): Promise<Opened> {
  const [actions, workflows] = await Promise.all([
    allActions(),
    api.call('listWorkflows', { query: { project, limit: 200 } }),
  ]);
  const workflowIds = workflows.items.map((one) => one.workflowId);
  const common = { actions, workflowIds };
  if (workflowId === undefined) {
    const draft = await draftOf(NEW_DRAFT, project);
    const baseText = newText(freeWorkflowId(workflowIds, 'my-workflow'));
    return {
      ...common,
      workflowId,
      project,
      version: null,
      baseText,
      text: draft?.text ?? baseText,
      revision: draft?.revision ?? 0,
      filename: undefined,
      format: 'yaml',
      origin: { kind: 'api' },
    };
  }
  const workflow = await api.call('getWorkflow', { params: { workflowId } });
  const [stored, draft] = await Promise.all([
    api.call('getWorkflowVersion', { params: { workflowId, version: 'newest' } }),
    draftOf(workflowId, workflow.project),
  ]);
  const format = stored.source?.format ?? 'yaml';
  const baseText = stored.source?.text ?? `${blockLines(stored.definition as Json, 0, '\n')}\n`;
  return {
    ...common,
    workflowId,
    project: workflow.project,
    version: stored.version,
    baseText,
    text: draft?.text ?? baseText,
    revision: draft?.revision ?? 0,
    filename: stored.source?.filename ?? undefined,
    format,
    origin: workflow.origin,
  };
}

/** The id, or the next one with a number that no workflow has. */
function freeWorkflowId(taken: readonly string[], id: string): string {
  if (!taken.includes(id)) return id;
  for (let count = 2; ; count++) if (!taken.includes(`${id}-${count}`)) return `${id}-${count}`;
}

/** Most workflows have no draft, which the list tells without an error. */
async function draftOf(draftId: string, project: string): Promise<AnswerOf<'getDraft'> | undefined> {
  const { items } = await api.call('listDrafts', { query: { project, limit: 200 } });
  if (!items.some(({ workflowId }) => workflowId === draftId)) return undefined;
  return api.call('getDraft', { params: { draftId }, query: { project } }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}

async function allActions(): Promise<ActionInfo[]> {
  const actions: ActionInfo[] = [];
  let cursor: string | null = null;
  do {
    const page: AnswerOf<'listActions'> = await api.call('listActions', {
      query: { limit: 200, ...(cursor !== null && { cursor }) },
    });
    actions.push(...page.items);
    cursor = page.next;
  } while (cursor !== null);
  return actions;
}

/** The workflows that a definition runs, so that it can be compiled with them. */
export async function usedWorkflows(ids: readonly string[]): Promise<Record<string, WorkflowDefinition>> {
  const found = await Promise.all(
    ids.map(async (workflowId) => {
      const version = await api
        .call('getWorkflowVersion', { params: { workflowId, version: 'newest' } })
        .catch(() => undefined);
      return version === undefined ? [] : [[workflowId, version.definition as WorkflowDefinition] as const];
    }),
  );
  return Object.fromEntries(found.flat());
}
