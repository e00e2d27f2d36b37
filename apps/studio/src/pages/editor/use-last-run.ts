/** The values of the newest run of the workflow: examples while one types, and the state of the nodes. */
import type { AnswerOf } from '@nebula/client';
import type { Json, JsonObject } from '@nebula/core';
import { useMemo } from 'react';
import { useRead } from '../../data/queries.ts';
import type { NodeValues, RunValues } from '../../language/run-values.ts';

/** `executionId`: a run that was just made here, which is shown before any other. */
export function useLastRun(workflowId: string | undefined, executionId: string | undefined): RunValues | undefined {
  const list = useRead(
    'listExecutions',
    { query: { workflowId: workflowId ?? '', limit: 1 } },
    { enabled: workflowId !== undefined && executionId === undefined },
  );
  const id = executionId ?? list.data?.items[0]?.executionId;
  const run = useRead('getExecution', { params: { executionId: id ?? '' } }, { enabled: id !== undefined });
  return useMemo(() => (run.data === undefined ? undefined : valuesOf(run.data)), [run.data]);
}

function valuesOf(run: AnswerOf<'getExecution'>): RunValues {
  const nodes = Object.entries(run.nodes).map(([path, node]): [string, NodeValues] => {
    const { status, output, input, error, attempts } = node as unknown as NodeValues;
    return [
      path,
      {
        status,
        output: output ?? null,
        input: input ?? null,
        error: (error ?? null) as JsonObject | null,
        attempts: attempts ?? 0,
      },
    ];
  });
  const { input, variables } = run as unknown as { input?: Json; variables?: JsonObject };
  return {
    executionId: run.executionId,
    workflowId: run.workflowId,
    version: run.version,
    startedAt: run.startedAt ?? '',
    input: input ?? null,
    trigger: (run.trigger ?? null) as Json,
    variables: variables ?? {},
    nodes: Object.fromEntries(nodes),
  };
}
