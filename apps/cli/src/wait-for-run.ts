/** Waits for runs. All commands wait here, through one operation. */
import { setTimeout as sleep } from 'node:timers/promises';
import { NebulaError, type RunDocument } from '@nebula/core';
import type { Explanation, WaitResult } from '@nebula/engine';
import type { ApiSession } from './services.ts';

export type { WaitResult };

/** The duration of one waiting call; the next call follows it. */
const WAIT_SECONDS = 30;
/** How long a server may be unreachable, e.g. during a restart. */
const PATIENCE_MS = 120_000;
const PAUSE_MS = 1_000;

/** Waits until the run has ended or is parked. */
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
      await sleep(PAUSE_MS);
    }
  }
}

/** Polls for the document until it passes the test or the time is over: another process's engine acts on the request. */
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
    await sleep(LOOK_MS);
  }
}

const ACTS_MS = 2_000;
const LOOK_MS = 50;
