/** Edges with the keyboard: drawing one from the current node, and going through those of a node. */
import type { Graph, GraphEdge } from '../model/graph.ts';
import type { Scene } from '../view/scene.ts';
import type { GraphWords } from '../view/words.ts';
import { Connecting } from './connecting.ts';

/** The part of the view that is used. */
export interface EdgedView {
  readonly graph: Graph;
  readonly scene: Scene;
  readonly words: GraphWords;
  readonly selectedEdges: readonly string[];
  select(ids: Iterable<string>, edges: Iterable<string>): void;
  connect(edge: Omit<GraphEdge, 'id'>): void;
  reveal(id: string): void;
  redrawOverlay(): void;
  announce(text: string): void;
}

export class EdgeKeys {
  readonly #view: EdgedView;
  #connecting: Connecting | undefined;

  constructor(view: EdgedView) {
    this.#view = view;
  }

  /** The edge that is being drawn. */
  get connecting(): Connecting | undefined {
    return this.#connecting;
  }

  /** The graph has changed. */
  forget(): void {
    this.#connecting = undefined;
  }

  start(from: string): void {
    const view = this.#view;
    this.#connecting = new Connecting(view.graph, view.scene, from);
    if (this.#connecting.edge === undefined) {
      this.#connecting = undefined;
      view.announce(view.words.noTarget);
    } else this.#announce();
    view.redrawOverlay();
  }

  step(by: number | 'outlet'): void {
    if (by === 'outlet') this.#connecting?.nextOutlet();
    else this.#connecting?.step(by);
    const to = this.#connecting?.edge?.to;
    if (to !== undefined) this.#view.reveal(to);
    this.#announce();
    this.#view.redrawOverlay();
  }

  end(isWanted: boolean): void {
    const edge = this.#connecting?.edge;
    this.#connecting = undefined;
    this.#view.redrawOverlay();
    if (isWanted && edge !== undefined) this.#view.connect(edge);
  }

  /** Selects the next edge of a node. */
  selectNext(id: string): void {
    const { scene, selectedEdges, words } = this.#view;
    const own = scene.edges.filter(({ from, to }) => from === id || to === id);
    const at = own.findIndex((edge) => selectedEdges.includes(edge.id));
    const next = own[(at + 1) % Math.max(1, own.length)];
    if (next === undefined) return;
    this.#view.select([], [next.id]);
    this.#view.announce(words.edge(this.#nameOf(next.from), this.#nameOf(next.to)));
  }

  #announce(): void {
    const edge = this.#connecting?.edge;
    if (edge !== undefined)
      this.#view.announce(this.#view.words.connecting(this.#nameOf(edge.from), this.#nameOf(edge.to)));
  }

  #nameOf(id: string): string {
    return this.#view.graph.nodes.get(id)?.label ?? id;
  }
}
