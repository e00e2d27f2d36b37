/** A graph with its past: every change can be undone and done again. */
import { applyChange, type Change } from './changes.ts';
import { EMPTY_GRAPH, type Graph } from './graph.ts';

/** More steps than a person goes back; a step is as large as its change. */
const MAX_STEPS = 500;

export class GraphHistory {
  #graph: Graph;
  readonly #undo: Change[] = [];
  #redo: Change[] = [];

  constructor(graph: Graph = EMPTY_GRAPH) {
    this.#graph = graph;
  }

  get graph(): Graph {
    return this.#graph;
  }

  get canUndo(): boolean {
    return this.#undo.length > 0;
  }

  get canRedo(): boolean {
    return this.#redo.length > 0;
  }

  apply(change: Change): Graph {
    this.#undo.push(this.#step(change));
    if (this.#undo.length > MAX_STEPS) this.#undo.shift();
    this.#redo = [];
    return this.#graph;
  }

  /** Another graph without a step: the page set something that is no edit. */
  replace(graph: Graph): void {
    this.#graph = graph;
  }

  undo(): Graph {
    const change = this.#undo.pop();
    if (change !== undefined) this.#redo.push(this.#step(change));
    return this.#graph;
  }

  redo(): Graph {
    const change = this.#redo.pop();
    if (change !== undefined) this.#undo.push(this.#step(change));
    return this.#graph;
  }

  /** Applies the change and returns its inverse. */
  #step(change: Change): Change {
    const { graph, inverse } = applyChange(this.#graph, change);
    this.#graph = graph;
    return inverse;
  }
}
