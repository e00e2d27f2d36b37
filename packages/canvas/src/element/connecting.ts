/** An edge that is drawn with the keyboard: from an outlet of the focused node to one of the nodes it may lead to. */
import { refusalOf } from '../model/connect.ts';
import type { Graph, GraphEdge } from '../model/graph.ts';
import type { Overlay } from '../view/overlay-painter.ts';
import type { Scene } from '../view/scene.ts';

export type Outlet = Pick<GraphEdge, 'from' | 'kind' | 'port'>;

/** The outlets of a node: one for each case of a branch, else one for success and one for errors. */
export function outletsOf(graph: Graph, id: string): Outlet[] {
  const ports = graph.nodes.get(id)?.ports ?? [];
  if (ports.length > 0) return ports.map((port) => ({ from: id, kind: 'case', port: port.id }));
  return [
    { from: id, kind: 'success' },
    { from: id, kind: 'error' },
  ];
}

export class Connecting {
  readonly #graph: Graph;
  readonly #scene: Scene;
  readonly #outlets: readonly Outlet[];
  #outlet = 0;
  #targets: readonly number[] = [];
  #at = 0;

  constructor(graph: Graph, scene: Scene, from: string) {
    this.#graph = graph;
    this.#scene = scene;
    this.#outlets = outletsOf(graph, from);
    this.#findTargets();
  }

  /** The edge as it would be made; undefined: there is no target. */
  get edge(): Omit<GraphEdge, 'id'> | undefined {
    const target = this.#targets[this.#at];
    return target === undefined ? undefined : { ...this.#outlets[this.#outlet]!, to: this.#scene.nodes[target]!.id };
  }

  get targets(): ReadonlySet<number> {
    return new Set(this.#targets);
  }

  get connection(): Overlay['connection'] {
    const { from, port, kind } = this.#outlets[this.#outlet]!;
    const node = this.#scene.indexOf.get(from);
    const target = this.#targets[this.#at];
    if (node === undefined || target === undefined) return undefined;
    return { from: this.#scene.outlet(node, port, kind), to: this.#scene.inlet(target), isAllowed: true };
  }

  step(by: number): void {
    const count = this.#targets.length;
    if (count > 0) this.#at = (this.#at + by + count) % count;
  }

  nextOutlet(): void {
    this.#outlet = (this.#outlet + 1) % this.#outlets.length;
    this.#findTargets();
  }

  /** The nearest one is first. */
  #findTargets(): void {
    const scene = this.#scene;
    const outlet = this.#outlets[this.#outlet]!;
    const own = scene.indexOf.get(outlet.from);
    if (own === undefined) return;
    const start = scene.outlet(own, outlet.port, outlet.kind);
    const far = (node: number): number => {
      const { x, y } = scene.inlet(node);
      const behind = (scene.direction === 'right' ? x < start.x : y < start.y) ? 1e6 : 0;
      return behind + Math.hypot(x - start.x, y - start.y);
    };
    const isAllowed = (node: number): boolean =>
      refusalOf(this.#graph, { ...outlet, to: scene.nodes[node]!.id }) === undefined;
    this.#targets = [...scene.nodes.keys()].filter(isAllowed).sort((a, b) => far(a) - far(b));
    this.#at = 0;
  }
}
