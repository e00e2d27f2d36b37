/** The state of one execution, folded from its journal, and its coverage of the workflow. */
import { type Entry, type Json, type Plan, type RunDocument, RunView, type ViewFrame } from '@nebula/core';
import {
  countFrame,
  isFinished,
  isPaused,
  isTaken,
  type NodeState,
  type PlanOf,
  pathOf,
  type RunState,
  wakeTime,
} from '@nebula/core/run';
import type { Coverage, NodePaths } from './coverage.ts';
import type { ExternalWorld } from './external-world.ts';

export type Frame = ViewFrame;

/** An external event that could advance the run. */
export interface WaitingFor {
  readonly node: string;
  readonly kind: 'signal' | 'approval' | 'callback' | 'settling' | 'attempt';
  /** The name and the key of a signal. */
  readonly name?: string;
  readonly key?: string;
}

export class Chronicle {
  private readonly view: RunView;
  readonly frames: Frame[] = [];
  /** Paths of nodes that completed or failed, in the order in which they ended. */
  readonly path: string[] = [];
  readonly skipped: string[] = [];
  private readonly coverage: Coverage;
  private readonly paths: NodePaths;

  constructor(plan: Plan, executionId: string, coverage: Coverage, planOf: PlanOf) {
    this.view = new RunView(plan, executionId, { planOf });
    this.coverage = coverage;
    this.paths = coverage.survey(plan);
  }

  fold(frame: Frame): void {
    for (const entry of frame.entries) {
      this.view.applyEntry(entry, frame.at);
      this.note(entry);
    }
    countFrame(this.state, frame.seq);
    this.frames.push(frame);
  }

  get state(): RunState {
    return this.view.state;
  }

  get isOver(): boolean {
    return isFinished(this.state.phase.status);
  }

  get document(): RunDocument {
    const document = this.view.document(noBlobs);
    return { ...document, nodes: { ...document.nodes, ...this.view.endedNodes(noBlobs) } };
  }

  /** Whether the passing of time, or a running attempt, will advance the run without an external event. */
  movesByItself(now: number, externalWorld: ExternalWorld): boolean {
    const { state } = this;
    if (this.isOver || isPaused(state)) return false;
    if (state.delayedUntil !== null) return true;
    for (const scope of state.scopes.values()) {
      for (const node of scope.nodes) if (moves(state, node, now, externalWorld)) return true;
    }
    return false;
  }

  waitingFor(externalWorld: ExternalWorld): WaitingFor[] {
    const found: WaitingFor[] = [];
    for (const scope of this.state.scopes.values()) {
      for (const node of scope.nodes) found.push(...awaited(this.state, node, externalWorld));
    }
    return found;
  }

  private note(entry: Entry): void {
    switch (entry.type) {
      case 'node.completed':
      case 'node.failed':
        this.path.push(entry.node);
        this.end(entry.node);
        return;
      case 'node.skipped':
        this.skipped.push(...entry.nodes);
        for (const node of entry.nodes) this.end(node);
        return;
      case 'node.cancelled':
      // While its scope ends, an unknown outcome decides the edges of its node.
      case 'node.unknown':
        this.end(entry.node);
        return;
      case 'child.requested':
      case 'items.added':
      case 'node.answered':
      case 'node.compensating':
      case 'node.configured':
      case 'node.gated':
      case 'node.granted':
      case 'node.opened':
      case 'node.retrying':
      case 'node.returned':
      case 'node.scheduled':
      case 'node.settled':
      case 'node.started':
      case 'node.stopping':
      case 'node.unhandled':
      case 'node.waiting':
      case 'round.delayed':
      case 'run.begun':
      case 'run.checkpointed':
      case 'run.finished':
      case 'run.held':
      case 'run.migrated':
      case 'run.paused':
      case 'run.reopened':
      case 'run.resumed':
      case 'run.started':
      case 'run.stopping':
      case 'scope.closed':
      case 'scope.compensated':
      case 'scope.compensating':
      case 'scope.stopping':
      case 'scopes.opened':
      case 'signal.kept':
      case 'signal.refused':
      case 'signal.taken':
        return;
    }
  }

  private end(path: string): void {
    const node = this.view.node(path);
    if (node === undefined) return;
    const { phase, plan } = node;
    if (phase.status === 'completed' || phase.status === 'failed') this.coverage.ran(this.paths, plan);
    for (const edge of plan.outgoing) if (isTaken(edge, node)) this.coverage.taken(this.paths, edge);
  }
}

function moves(state: RunState, node: NodeState, now: number, externalWorld: ExternalWorld): boolean {
  const { phase, plan } = node;
  const { timeouts } = plan;
  switch (phase.status) {
    case 'queued':
    case 'waiting':
      return true;
    case 'running':
      // An attempt that is being stopped has the timer of its grace time.
      return externalWorld.endsByItself(state.executionId, pathOf(node)) || hasTimer(state, now);
    case 'gated':
      return phase.until !== null || timeouts.queuedMs !== null || timeouts.totalMs !== null;
    case 'listening':
      return phase.waits.every(({ kind }) => kind === 'time');
    case 'open':
      return phase.body.until !== null;
    case 'cancelled':
    case 'child':
    case 'completed':
    case 'failed':
    case 'pending':
    case 'skipped':
    case 'unknown':
      return false;
  }
}

function hasTimer(state: RunState, now: number): boolean {
  return Number.isFinite(wakeTime(state, now, Number.POSITIVE_INFINITY) ?? Number.POSITIVE_INFINITY);
}

function awaited(state: RunState, node: NodeState, externalWorld: ExternalWorld): WaitingFor[] {
  const { phase } = node;
  const path = pathOf(node);
  if (phase.status === 'unknown') return [{ node: path, kind: 'settling' }];
  if (phase.status === 'running' && !externalWorld.endsByItself(state.executionId, path))
    return [{ node: path, kind: 'attempt' }];
  if (phase.status !== 'listening') return [];
  return phase.waits.flatMap((wait): WaitingFor[] => {
    if (wait.kind === 'time') return [];
    if (wait.kind !== 'signal') return [{ node: path, kind: wait.kind }];
    return [{ node: path, kind: 'signal', name: wait.signal, ...(wait.key === '' ? {} : { key: wait.key }) }];
  });
}

/** The test kit stores all values inline. */
function noBlobs(): Json {
  throw new Error('invariant broken: a value of a test is in a blob');
}
