/** The newest run of the workflow, or the test run that was started here: its values are examples while one types. */
import type { AnswerOf } from '@nebula/client';
import type { Json, JsonObject } from '@nebula/core';
import { useEffect, useMemo, useState } from 'react';
import { useRead } from '../../data/queries.ts';
import type { NodeValues, RunValues } from '../../language/run-values.ts';

export type RunDocument = AnswerOf<'getExecution'>;

export interface LastRun {
  readonly document: RunDocument | undefined;
  readonly values: RunValues | undefined;
}

const REFRESH_MS = 400;

/** `testId`: a test run, which is shown before any other and is followed to its end. */
export function useLastRun(workflowId: string | undefined, testId: string | undefined): LastRun {
  const isListed = workflowId !== undefined && testId === undefined;
  const list = useRead('listExecutions', { query: { workflowId: workflowId ?? '', limit: 1 } }, { enabled: isListed });
  const executionId = testId ?? list.data?.items[0]?.executionId;
  const [endedId, setEndedId] = useState<string>();
  const isOpen = executionId !== undefined && executionId !== endedId;
  const run = useRead(
    'getExecution',
    { params: { executionId: executionId ?? '' } },
    { enabled: executionId !== undefined, ...(isOpen && { refetchMs: REFRESH_MS }) },
  );
  const document = run.data;
  useEffect(() => {
    if (document !== undefined && document.finishedAt !== null) setEndedId(document.executionId);
  }, [document]);
  const values = useMemo(() => (document === undefined ? undefined : valuesOf(document)), [document]);
  return { document, values };
}

function valuesOf(run: RunDocument): RunValues {
  const nodes = Object.entries(run.nodes).map(([path, node]): [string, NodeValues] => {
    const { status, output, input, error, attempts } = node as unknown as NodeValues;
    return [
      path,
      { status, output: output ?? null, input: input ?? null, error: error ?? null, attempts: attempts ?? 0 },
    ];
  });
  return {
    executionId: run.executionId,
    workflowId: run.workflowId,
    version: run.version,
    startedAt: run.startedAt ?? '',
    input: (run.input ?? null) as Json,
    trigger: (run.trigger ?? null) as Json,
    variables: (run.variables ?? {}) as JsonObject,
    nodes: Object.fromEntries(nodes),
  };
}
