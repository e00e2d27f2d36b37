/** Waiting for runs: the one place where commands do, by the one operation that waits. */
import { NebulaError, type RunDocument } from '@nebula/core';
import type { Explanation, WaitResult } from '@nebula/engine';
import type { ApiSession } from './services.ts';

export type { WaitResult };

/** One call waits so long; then the next one does. */
const WAIT_SECONDS = 30;
/** So long a server may be away, for example to be started again. */
const PATIENCE_MS = 120_000;
const PAUSE_MS = 1_000;

/** Until the run has ended, or nothing but a person, a signal or a far time moves it. */
export async function waitForRun(session: ApiSession, executionId: string, signal: AbortSignal): Promise<WaitResult> {
  let patienceMs = PATIENCE_MS;
  for (;;) {
    try {
      const query = { wait: `${WAIT_SECONDS}s` };
      const waiting = { params: { executionId }, query, waitMs: WAIT_SECONDS * 1_000, signal };
      const { execution, parked, waitingFor, inside } = await session.api.call('awaitRest', waiting);
      patienceMs = PATIENCE_MS;
      if (execution === null) continue;
      const document = execution as RunDocument;
      if (!parked) return { parked: false, document };
      const others = await Promise.all(inside.map((one) => waitForRun(session, one, signal)));
      return { parked: true, document, waitingFor: waitingFor as Explanation[], inside: others };
    } catch (error) {
      patienceMs -= PAUSE_MS;
      const mayComeBack = session.server !== undefined && error instanceof NebulaError && error.retryable;
      if (!mayComeBack || signal.aborted || patienceMs < 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

/** The newest document, as soon as it is as wished, or after this time: an engine of another process acts soon. */
export async function untilSeen(
  { api }: ApiSession,
  executionId: string,
  isThere: (document: RunDocument) => boolean,
  waitMs = ACTS_MS,
): Promise<RunDocument> {
  const until = performance.now() + waitMs;
  for (;;) {
    const document = (await api.call('getExecution', { params: { executionId } })) as RunDocument;
    if (isThere(document) || performance.now() > until) return document;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

const ACTS_MS = 2_000;
const LOOK_MS = 50;
