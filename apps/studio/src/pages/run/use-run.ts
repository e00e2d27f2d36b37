/** Everything that the page of a run knows: its document, its graph, and its record of events as they arrive. */
import { type Graph, graphOfDefinition } from '@nebula/canvas/model';
import type { AnswerOf } from '@nebula/client';
import type { WorkflowDefinition } from '@nebula/core';
import { useEffect, useMemo, useRef, useState } from 'react';
import { refresh, useRead } from '../../data/queries.ts';
import { useLive } from '../../data/use-live.ts';
import { useThrottled } from '../../data/use-throttled.ts';
import { type RecordedEvent, RunRecord, recordOf } from './run-record.ts';
import { eventsOf, isTooLong } from './run-summary.ts';

export type RunDocument = AnswerOf<'getExecution'>;

export interface RunData {
  readonly document: RunDocument;
  readonly definition: WorkflowDefinition;
  readonly graph: Graph;
  readonly record: RunRecord;
  /** Grows with the record: what depends on events depends on it. */
  readonly revision: number;
  /** The record is made of the document, because the run has too many events. Its past cannot be shown. */
  readonly isSummary: boolean;
  /** Reports of running actions, by node. */
  readonly progress: ReadonlyMap<string, { readonly fraction: number; readonly message?: string }>;
}

/** Reads that live events outdate. */
const OUTDATED = [
  'getExecution',
  'getResult',
  'explainExecution',
  'getValues',
  'listAttempts',
  'listIterations',
] as const;
const REFRESH_MS = 500;

export function useRun(executionId: string): { readonly data: RunData | undefined; readonly error: unknown } {
  const params = { executionId };
  const document = useRead('getExecution', { params, query: { values: 'none' } });
  const version = document.data?.version;
  const definition = useRead('getDefinition', { params }, { enabled: version !== undefined });
  const record = useRef(new RunRecord());
  // Decided by the first document: a run that grows while it is watched keeps its events.
  const isKnown = document.data !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above.
  const isSummary = useMemo(() => document.data !== undefined && isTooLong(document.data), [isKnown]);
  const summary = useMemo(
    () => (isSummary && document.data !== undefined ? recordOf(eventsOf(document.data)) : undefined),
    [isSummary, document.data],
  );
  const [revision, setRevision] = useState(0);
  const [progress, setProgress] = useState<RunData['progress']>(new Map());
  const update = useThrottled(() => refresh(...OUTDATED), REFRESH_MS);
  const frame = useRef(0);
  useEffect(() => () => cancelAnimationFrame(frame.current), []);
  const ended = useFollowAgain(executionId, document.data, update);
  const start = isSummary ? 'now' : ended.after;
  useLive(isKnown && ended.isFollowed ? { executionId, ...(start !== undefined && { after: start }) } : null, {
    onEvents: (events) => {
      if (isSummary) return update();
      record.current.note(events);
      cancelAnimationFrame(frame.current);
      frame.current = requestAnimationFrame(() => setRevision((before) => before + 1));
      update();
    },
    onProgress: ({ node, fraction, message }) =>
      setProgress((before) => new Map(before).set(node, { fraction, ...(message !== undefined && { message }) })),
    onEnd: () => {
      ended.onEnd(record.current.events.at(-1));
      update();
    },
  });
  const graph = useMemo(
    () =>
      definition.data === undefined ? undefined : graphOfDefinition(definition.data.definition as WorkflowDefinition),
    [definition.data],
  );
  if (document.data === undefined || graph === undefined || definition.data === undefined) {
    return { data: undefined, error: document.error ?? definition.error };
  }
  return {
    data: {
      document: document.data,
      definition: definition.data.definition as WorkflowDefinition,
      graph,
      record: summary ?? record.current,
      revision,
      isSummary,
      progress,
    },
    error: null,
  };
}

interface Following {
  readonly isFollowed: boolean;
  /** The event to continue after. */
  readonly after: string | undefined;
  onEnd(last: RecordedEvent | undefined): void;
}

/**
 * The stream of a run ends with the run. A retry or replay, here or elsewhere, shows among the events of runs: the
 * document then has newer frames than the stream had, and the run is followed again.
 */
function useFollowAgain(executionId: string, document: RunDocument | undefined, update: () => void): Following {
  const [ended, setEnded] = useState<RecordedEvent | null>(null);
  const [after, setAfter] = useState<string>();
  const workflowId = document?.workflowId;
  useLive(ended === null || workflowId === undefined ? null : { workflowId, level: 'runs', after: 'now' }, {
    onEvents: (events) => events.some((event) => event.executionId === executionId) && update(),
    onGap: update,
  });
  if (ended !== null && document !== undefined && document.seq > ended.seq) {
    setAfter(ended.id);
    setEnded(null);
  }
  return { isFollowed: ended === null, after, onEnd: (last) => setEnded(last ?? null) };
}
