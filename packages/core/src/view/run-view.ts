/**
 * A run at one position of its journal, for everybody who looks: the CLI, the server, the test kit, the Studio.
 *
 *  1 The state is that of the engine, folded by `evolve`: nobody works out a second time what an entry means.
 *  2 An entry costs what `evolve` costs, and a constant more: its events, and the spans that they begin and end.
 *  3 An iteration that went well leaves the state. Its nodes stay here, as they were when they ended.
 */
import type { Plan } from '../plan/plan.ts';
import { evolve } from '../run/evolve/evolve.ts';
import type { Entry } from '../run/journal/entry.ts';
import type { BlobLookup } from '../run/journal/stored-value.ts';
import { newRunState } from '../run/state/new-state.ts';
import { isFinal, nodeAt } from '../run/state/selectors.ts';
import type { NodeState, RunState } from '../run/state/state.ts';
import { documentOf, type NodeDocument, nodeDocument, type RunDocument } from './document.ts';
import { RunHistory } from './history.ts';
import { type TimelineEvent, timelineOf } from './timeline.ts';

export interface ViewFrame {
  readonly seq: number;
  readonly at: number;
  readonly entries: readonly Entry[];
}

export class RunView {
  readonly state: RunState;
  readonly timeline: TimelineEvent[] = [];
  readonly history = new RunHistory();
  /** Nodes that ended in a scope below the run, by path: they are found here when their iteration has gone. */
  private readonly ended = new Map<string, NodeState>();

  private readonly keeps: (path: string) => boolean;

  /** `keeps`: which nodes of iterations that end are looked for later; all of them, unless told. */
  constructor(plan: Plan, executionId: string, keeps: (path: string) => boolean = () => true) {
    this.state = newRunState(plan, executionId);
    this.keeps = keeps;
  }

  apply(frame: ViewFrame): void {
    for (const entry of frame.entries) this.applyEntry(entry, frame.at);
    this.state.seq = frame.seq;
  }

  applyEntry(entry: Entry, at: number): void {
    const { state } = this;
    evolve(state, entry, at);
    for (const event of timelineOf(entry, at)) {
      this.timeline.push(event);
      this.history.note(event);
      if (event.node?.includes('/') && this.keeps(event.node)) this.keep(event.node);
    }
  }

  /** Also where its iteration has ended. */
  node(path: string): NodeState | undefined {
    return nodeAt(this.state, path) ?? this.ended.get(path);
  }

  document(lookup: BlobLookup): RunDocument {
    return documentOf(this.state, lookup);
  }

  /** Nodes of iterations that have ended well, in the order in which they ended. */
  endedNodes(lookup: BlobLookup): Record<string, NodeDocument> {
    const gone: Record<string, NodeDocument> = Object.create(null);
    for (const [path, node] of this.ended) {
      if (nodeAt(this.state, path) === undefined) gone[path] = nodeDocument(node, lookup);
    }
    return gone;
  }

  /** The fold never changes a node again after its scope has gone, so the node itself is kept. */
  private keep(path: string): void {
    const node = nodeAt(this.state, path);
    if (node === undefined || !isFinal(node.phase.status)) return;
    this.ended.delete(path);
    this.ended.set(path, node);
  }
}
