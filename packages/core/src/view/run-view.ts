/**
 * A run at one position of its journal, for every reader: the CLI, the server, the test kit, the Studio.
 *
 *  1 The state is that of the engine, folded by `evolve`: no reader interprets an entry a second time.
 *  2 An entry costs what `evolve` costs, plus a constant for its events and spans.
 *  3 An iteration that succeeds leaves the state. Its nodes stay here, as they were when they ended.
 */
import type { Plan } from '../plan/plan.ts';
import { countFrame, evolve } from '../run/evolve/evolve.ts';
import type { Entry } from '../run/journal/entry.ts';
import type { BlobLookup } from '../run/journal/stored-value.ts';
import { newRunState } from '../run/state/new-state.ts';
import { isFinal, nodeAt } from '../run/state/selectors.ts';
import type { NodeState, PlanOf, RunState } from '../run/state/state.ts';
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
  /** Nodes that ended in a scope below the root, by path. They are found here after their iteration was dropped. */
  private readonly ended = new Map<string, NodeState>();

  private readonly keeps: (path: string) => boolean;

  /**
   * `keeps`: selects the nodes of ended iterations that are looked up later; by default all. `planOf`: the versions to
   * which the journal migrates the run.
   */
  constructor(
    plan: Plan,
    executionId: string,
    { keeps = () => true, planOf }: { readonly keeps?: (path: string) => boolean; readonly planOf?: PlanOf } = {},
  ) {
    this.state = newRunState(plan, executionId, planOf);
    this.keeps = keeps;
  }

  apply(frame: ViewFrame): void {
    for (const entry of frame.entries) this.applyEntry(entry, frame.at);
    countFrame(this.state, frame.seq);
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

  /** Finds the node, even if its iteration was dropped. */
  node(path: string): NodeState | undefined {
    return nodeAt(this.state, path) ?? this.ended.get(path);
  }

  document(lookup: BlobLookup): RunDocument {
    return documentOf(this.state, lookup);
  }

  /** Nodes of dropped iterations, in the order of their end. */
  endedNodes(lookup: BlobLookup): Record<string, NodeDocument> {
    const gone: Record<string, NodeDocument> = Object.create(null);
    for (const [path, node] of this.ended) {
      if (nodeAt(this.state, path) === undefined) gone[path] = nodeDocument(node, lookup);
    }
    return gone;
  }

  /** The fold never changes a node after its scope is dropped, so the node itself is kept. */
  private keep(path: string): void {
    const node = nodeAt(this.state, path);
    if (node === undefined || !isFinal(node.phase.status)) return;
    this.ended.delete(path);
    this.ended.set(path, node);
  }
}
