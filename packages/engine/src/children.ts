/**
 * Executions that run for nodes of others. The parent's journal has asked for them before they exist: starting one
 * twice is starting it once, and whoever reads the parent starts what is missing.
 */
import {
  type ChildCancel,
  type ChildStart,
  childAuthority,
  isFinished,
  NebulaError,
  type OpenChild,
  openChild,
  openChildren,
  type Parent,
  type RunState,
  type Stimulus,
} from '@nebula/core';
import type { Clock, Store } from '@nebula/ports';
import type { Engine, EngineOptions, PlannedStart } from './api.ts';
import type { LiveRun } from './live-run.ts';
import { cancelMessage } from './messages.ts';
import type { Runs } from './runs.ts';
import type { Tracing } from './tracing.ts';
import type { TurnsParts } from './turns.ts';
import type { Values } from './values.ts';

/** How soon to try again what the store did not do. */
const AGAIN_MS = 1_000;

export interface ChildrenParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly runs: Runs;
  readonly values: Values;
  readonly tracing: Tracing;
  readonly start: Engine['start'];
  readonly launchPlan: EngineOptions['launchPlan'];
  isOpen(): boolean;
  stateOf(executionId: string): Promise<RunState | undefined>;
  readonly report: (executionId: string, stimulus: LiveRun['mailbox'][number]) => void;
  /** What the store does not do now is tried again. */
  untilDone(work: () => Promise<void>): void;
  /** A child is cared for here. */
  onChild(executionId: string): void;
  readonly onTrouble: TurnsParts['onTrouble'];
  /** The children that a run asked for have been started, or cannot be. */
  onStarted(parentId: string): void;
  /** Somebody has a message. */
  onSent(): void;
}

export class Children {
  private readonly parts: ChildrenParts;
  /** How many children of a run are being started. */
  private readonly starting = new Map<string, number>();

  constructor(parts: ChildrenParts) {
    this.parts = parts;
  }

  /** One that cannot be started has failed. */
  start(run: LiveRun, child: ChildStart): void {
    const { executionId: parentId, project } = run;
    if (child.again) return this.parts.untilDone(() => this.goOn(parentId, child));
    const { clock, isOpen, report, onTrouble, tracing, untilDone } = this.parts;
    const { node, executionId, depth, attempt } = child;
    const parent = { executionId: parentId, node, depth };
    const trigger = { type: 'workflow', executionId: parentId, node };
    const traceparent = tracing.ofAttempt(run.state, node, attempt);
    const authority = childAuthority(run.state, child.bound);
    const more = { ...(traceparent !== undefined && { traceparent }), ...(authority && { authority }) };
    this.count(parentId, 1);
    const started = this.planned(child, project).then(({ workflowId, version, input, place }) => {
      const placed = place === undefined ? {} : { place };
      const options = { executionId, input, trigger, parent, project, ...placed, ...more };
      return this.parts.start(workflowId, version, options);
    });
    started.then(
      () =>
        untilDone(async () => {
          await this.cancelUnlessWanted(parent, executionId);
          this.count(parentId, -1);
        }),
      (error: unknown) => {
        const isLost = error instanceof NebulaError && !error.retryable;
        // Before the parent may leave the memory: whoever reads it again would start the child again.
        if (isLost && isOpen()) report(parentId, childLost(child, { code: error.code, message: error.message }, true));
        this.count(parentId, -1);
        if (isLost || !isOpen()) return;
        onTrouble(error);
        clock.timer(AGAIN_MS, () => this.start(run, child));
      },
    );
  }

  /** A launch plan is looked up when its run is started, so that it is the plan of that moment. */
  private async planned(
    { workflowId, launchPlan, version, input }: ChildStart,
    project: string,
  ): Promise<PlannedStart> {
    if (launchPlan === undefined) return { workflowId: workflowId as string, version, input };
    if (this.parts.launchPlan !== undefined) return await this.parts.launchPlan(launchPlan, { project, input });
    throw new NebulaError('NO_LAUNCH_PLANS', `Nothing here knows the launch plan '${launchPlan}'.`, {
      hint: 'Launch plans belong to a server or a data folder.',
    });
  }

  /** It has been told with the frame that asks for it. Nobody knows what one that has been deleted did: it is not done again. */
  private async goOn(parentId: string, child: ChildStart): Promise<void> {
    const { node, executionId } = child;
    this.parts.onChild(executionId);
    if ((await this.parts.store.known([executionId])).has(executionId)) return;
    const message = `It has been deleted, so nothing can go on in it. To run it anew, replay '${node}'.`;
    this.parts.report(parentId, childLost(child, { code: 'CHILD_GONE', message }, false));
  }

  /**
   * A run was read from the store: whoever wrote its last frame may have died before its children were started, and
   * whoever started it, before it was told that nobody wants it any more.
   */
  async adopt(run: LiveRun): Promise<void> {
    const { store, values, onChild } = this.parts;
    const { parent, status, stopping, ending, children, reopened } = run.state;
    const isEnding = isFinished(status) || stopping !== null || ending !== null;
    // One that somebody retried, or replayed, is theirs.
    if (parent !== null && reopened === 0 && !isEnding) await this.cancelUnlessWanted(parent, run.executionId);
    if (children.size === 0) return;
    const { executionId: parentId } = run;
    const open = openChildren(run.state);
    // Of all at once: a run with 10,000 children is read whenever one of them has ended.
    const known = await store.known(open.map(({ executionId }) => executionId));
    for (const { stop, input, ...child } of open) {
      if (stop !== null) await this.cancel(parentId, { ...child, ...stop });
      onChild(child.executionId);
      if (known.has(child.executionId)) continue;
      if (input.blob !== undefined) await values.fetch(parentId, [input.blob]);
      const value = input.blob === undefined ? (input.value ?? {}) : values.lookup(input.blob);
      this.start(run, { ...child, input: value });
    }
  }

  private count(parentId: string, change: 1 | -1): void {
    const left = (this.starting.get(parentId) ?? 0) + change;
    if (left > 0) this.starting.set(parentId, left);
    else if (this.starting.delete(parentId)) this.parts.onStarted(parentId);
  }

  /**
   * Some of its children are in memory, and so will its next news be: it stays, too, since its journal would be read
   * again for each of them. Where engines share a store, others may hear the news.
   */
  areHere({ state, executionId }: LiveRun): boolean {
    const { store, runs } = this.parts;
    if (!store.exclusive) return false;
    if (this.starting.has(executionId)) return true;
    for (const { phase } of state.children) {
      if (phase.status === 'child' && runs.get(phase.executionId) !== undefined) return true;
    }
    return false;
  }

  /** A parent that ended, or gave it up, while the child was being started could not tell it so. */
  private async cancelUnlessWanted(parent: Parent, executionId: string): Promise<void> {
    const child = await this.asWaitedFor(parent, executionId);
    if (child !== undefined && child.stop === null) return;
    const { attempt = 0, stop } = child ?? {};
    await this.cancel(parent.executionId, { executionId, attempt, compensate: stop?.compensate ?? true });
  }

  /** Undefined: its parent does not wait for it any more. */
  private async asWaitedFor(
    { executionId: parentId, node }: Parent,
    executionId: string,
  ): Promise<OpenChild | undefined> {
    const { store, runs, stateOf } = this.parts;
    const live = runs.get(parentId);
    if (live !== undefined && !live.isBusy) {
      const { state, draft } = live;
      const child = openChild(state, node, executionId);
      // What is being decided on may still be refused; but it only ever gives a child up.
      const isCertain = draft === null || child?.stop === null;
      if (isCertain && (store.exclusive || ((await store.heads([parentId])).get(parentId) ?? 0) <= state.seq))
        return child;
    }
    const state = await stateOf(parentId);
    return state && openChild(state, node, executionId);
  }

  private async cancel(parentId: string, cancel: ChildCancel): Promise<void> {
    const { store, clock, onSent } = this.parts;
    await store.send(cancelMessage(cancel, parentId), clock.now());
    onSent();
  }
}

/** What its parent is told of a child that is not there. */
function childLost(
  { node, executionId }: ChildStart,
  error: { readonly code: string; readonly message: string },
  notStarted: boolean,
): Stimulus {
  const failure = { ...error, kind: 'USER' as const };
  const result = { status: 'failed' as const, output: { value: null }, error: failure, notStarted };
  return { type: 'child', node, executionId, result, jitter: 1 };
}
