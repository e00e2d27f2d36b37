/**
 * Child executions. The journal of the parent names a child before it exists, so a second start has no effect, and an
 * engine that reads the parent starts the children that are missing. A start may be late by any time, for example by an
 * engine that stalled: the store creates no child that was deleted meanwhile.
 */

import { type ExecutionId, NebulaError } from '@nebula/core';
import {
  type ChildCancel,
  type ChildStart,
  childAuthority,
  endingOf,
  isFinished,
  type OpenChild,
  openChild,
  openChildren,
  type Parent,
  type Stimulus,
} from '@nebula/core/run';
import type { EngineOptions, LaunchPlanStart } from '../api.ts';
import type { EngineContext } from '../context.ts';
import { RETRY_MS, untilDone } from '../lifecycle.ts';
import type { StoreExecutionService } from '../requests/execution-service.ts';
import type { LiveRun } from '../turn/live-run.ts';
import { cancelMessage, receivedMessage } from '../turn/messages.ts';
import { ChildGone } from '../turn/recovery.ts';
import type { Starts } from './starts.ts';

export interface ChildrenParts {
  readonly starts: Starts;
  readonly executions: StoreExecutionService;
  readonly launchPlan: EngineOptions['launchPlan'];
}

export class Children {
  private readonly context: EngineContext;
  private readonly parts: ChildrenParts;
  /** The number of children of a run that are being started. */
  private readonly starting = new Map<ExecutionId, number>();

  constructor(context: EngineContext, parts: ChildrenParts) {
    this.context = context;
    this.parts = parts;
  }

  /** Starts a child. A child that cannot be started has failed. */
  start(run: LiveRun, child: ChildStart): void {
    const { executionId: parentId, project } = run;
    if (child.again) return untilDone(this.context, () => this.retryChild(parentId, child));
    const { clock, lifecycle, mailbox, effects, tracing } = this.context;
    const { node, executionId, depth, attempt } = child;
    const parent = { executionId: parentId, node, depth, ...aboveOf(run.state.parent) };
    const trigger = { type: 'workflow', executionId: parentId, node };
    const traceparent = tracing.ofAttempt(run.state, node, attempt);
    const authority = childAuthority(run.state, child.bound);
    const more = { ...(traceparent !== undefined && { traceparent }), ...(authority && { authority }) };
    run.childrenInDoubt++;
    this.count(parentId, 1);
    const started = this.planned(child, project).then(({ workflowId, version, input, slot }) => {
      const withSlot = slot === undefined ? {} : { slot };
      const options = { executionId, input, trigger, parent, project, ...withSlot, ...more };
      return this.parts.starts.start(workflowId, version, options);
    });
    const concluded = (): void => {
      run.childrenInDoubt--;
      this.count(parentId, -1);
    };
    started.then(
      () => untilDone(this.context, () => this.cancelUnlessWanted(parent, executionId).then(concluded)),
      (error: unknown) => {
        if (error instanceof ChildGone)
          return untilDone(this.context, () => this.failIfAwaited(parentId, child).then(concluded));
        const isLost = error instanceof NebulaError && !error.retryable;
        // The message is sent before the parent may leave memory: a parent that is read again would start the child
        // again.
        if (isLost && lifecycle.isOpen) {
          mailbox.send(parentId, childLost(child, { code: error.code, message: error.message }, true));
        }
        concluded();
        if (isLost || !lifecycle.isOpen) return;
        effects.trouble(error);
        clock.timer(RETRY_MS, () => this.start(run, child));
      },
    );
  }

  /** Resolves the launch plan, as it is now. */
  private async planned(
    { workflowId, launchPlan, version, input }: ChildStart,
    project: string,
  ): Promise<LaunchPlanStart> {
    if (launchPlan === undefined) return { workflowId: workflowId as string, version, input };
    if (this.parts.launchPlan !== undefined) return await this.parts.launchPlan(launchPlan, { project, input });
    throw new NebulaError('NO_LAUNCH_PLANS', `Nothing here knows the launch plan '${launchPlan}'.`, {
      hint: 'Launch plans belong to a server or a data folder.',
    });
  }

  /**
   * Continues a child. The frame of the parent has sent its retry. A child that was deleted meanwhile is not run again.
   */
  private async retryChild(parentId: ExecutionId, child: ChildStart): Promise<void> {
    const { executionId } = child;
    const { selection, store } = this.context;
    selection.include(executionId);
    if (!(await store.known([executionId])).has(executionId)) this.failAsGone(parentId, child);
  }

  /**
   * The store does not create a child that was deleted. It had ended then, so the journal or the inbox of the parent has
   * its result; a parent without the result must not wait for it.
   */
  private async failIfAwaited(parentId: ExecutionId, child: ChildStart): Promise<void> {
    if ((await this.awaitedOf(parentId, [child])).has(child.executionId)) this.failAsGone(parentId, child);
  }

  private failAsGone(parentId: ExecutionId, child: ChildStart): void {
    const message = `It has been deleted, so nothing in it can continue. To run it anew, replay '${child.node}'.`;
    this.context.mailbox.send(parentId, childLost(child, { code: 'CHILD_GONE', message }, false));
  }

  /**
   * Completes what another engine may have left undone before it died: starts missing children of a run that was read
   * from the store, and cancels the run if its parent gave it up.
   */
  adoption(run: LiveRun): () => Promise<void> {
    const { parent, phase, stopping, reopened } = run.state;
    const isEnding = isFinished(phase.status) || stopping !== null || endingOf(run.state) !== null;
    // A run that was retried or replayed is independent of its parent.
    const mayBeGivenUp = parent !== null && reopened === 0 && !isEnding;
    // Of the journal: when this is tried again, a draft may have named a child that no frame will.
    const named = new Set(openChildren(run.state).map(({ executionId }) => executionId));
    return async () => {
      if (mayBeGivenUp) await this.cancelUnlessWanted(parent, run.executionId);
      if (named.size > 0) await this.startMissing(run, named);
    };
  }

  private async startMissing(run: LiveRun, named: ReadonlySet<ExecutionId>): Promise<void> {
    const { store, values, selection } = this.context;
    const { executionId: parentId } = run;
    const open = openChildren(run.state).filter(({ executionId }) => named.has(executionId));
    // One query for all of them: a run with 10,000 children is read whenever one of them has ended.
    const known = await store.known(open.map(({ executionId }) => executionId));
    const missing = open.filter(({ executionId }) => !known.has(executionId));
    // The store has no id of a child that an earlier version deleted, and would create it again.
    const awaited = missing.length === 0 ? known : await this.awaitedOf(parentId, missing);
    for (const { stop, input, ...child } of open) {
      if (stop !== null) await this.cancel(parentId, { ...child, ...stop });
      selection.include(child.executionId);
      if (known.has(child.executionId) || !awaited.has(child.executionId)) continue;
      this.start(run, { ...child, input: await values.read(parentId, input) });
    }
  }

  /**
   * Returns the children that have not ended: the node waits for them, and no result is in the inbox. Journal and inbox
   * are read at one moment: the frame that journals a result takes it from the inbox.
   */
  private async awaitedOf(
    parentId: ExecutionId,
    children: readonly Pick<ChildStart, 'node' | 'executionId'>[],
  ): Promise<ReadonlySet<ExecutionId>> {
    const loaded = await this.parts.executions.loaded(parentId);
    if (loaded === undefined) return new Set();
    const { state, inbox } = loaded;
    const ended = new Set(
      inbox
        .map(({ body }) => receivedMessage(body))
        .map((one) => (one?.type === 'child' ? one.executionId : undefined)),
    );
    const isAwaited = ({ node, executionId }: Pick<ChildStart, 'node' | 'executionId'>): boolean =>
      openChild(state, node, executionId) !== undefined && !ended.has(executionId);
    return new Set(children.filter(isAwaited).map(({ executionId }) => executionId));
  }

  private count(parentId: ExecutionId, change: 1 | -1): void {
    const left = (this.starting.get(parentId) ?? 0) + change;
    if (left > 0) this.starting.set(parentId, left);
    else if (this.starting.delete(parentId)) this.context.effects.released(parentId);
  }

  /**
   * Returns whether children of the run are in memory. Then the parent stays too, because its journal would be read
   * again at the end of each child. If engines share a store, another engine may run the children.
   */
  areHere({ state, executionId }: LiveRun): boolean {
    const { store, runs } = this.context;
    if (!store.exclusive) return false;
    if (this.starting.has(executionId)) return true;
    for (const { phase } of state.children) {
      if (phase.status === 'child' && runs.get(phase.executionId) !== undefined) return true;
    }
    return false;
  }

  /** Cancels a child that the parent gave up while it was being started. */
  private async cancelUnlessWanted(parent: Parent, executionId: ExecutionId): Promise<void> {
    const child = await this.asWaitedFor(parent, executionId);
    if (child !== undefined && child.stop === null) return;
    const { attempt = 0, stop } = child ?? {};
    await this.cancel(parent.executionId, { executionId, attempt, compensate: stop?.compensate ?? true });
  }

  /** Returns undefined if the parent does not wait for the child. */
  private async asWaitedFor(
    { executionId: parentId, node }: Parent,
    executionId: ExecutionId,
  ): Promise<OpenChild | undefined> {
    const { store, runs } = this.context;
    const live = runs.get(parentId);
    if (live !== undefined && live.mode !== 'reading') {
      const { state, draft } = live;
      const child = openChild(state, node, executionId);
      // A draft may be refused, but it can only give up a child, not request it again.
      const isCertain = draft === null || child?.stop === null;
      if (isCertain && (store.exclusive || ((await store.heads([parentId])).get(parentId) ?? 0) <= state.seq))
        return child;
    }
    const state = await this.parts.executions.state(parentId);
    return state && openChild(state, node, executionId);
  }

  private async cancel(parentId: ExecutionId, cancel: ChildCancel): Promise<void> {
    const { store, clock, effects } = this.context;
    await store.send(cancelMessage(cancel, parentId), clock.now());
    effects.wake(clock.now());
  }
}

/** The parents of the parent of a child. */
function aboveOf(parent: Parent | null): Pick<Parent, 'above'> {
  return parent === null ? {} : { above: [parent.executionId, ...(parent.above ?? [])] };
}

/** The end of a child that could not be started, or was deleted. */
function childLost(
  { node, executionId }: ChildStart,
  error: { readonly code: string; readonly message: string },
  notStarted: boolean,
): Stimulus {
  const failure = { ...error, kind: 'USER' as const };
  const result = { status: 'failed' as const, output: null, error: failure, notStarted };
  return { type: 'child', node, executionId, result, jitter: 1 };
}
