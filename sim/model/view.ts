/** The edges of one scope at one moment, as functions of the outcomes of its nodes. */
import type { Edge, Graph } from './graph.ts';
import { type Decision, decisionOf, type Evaluate, type Fact, type Join, joinOf, sourceOf } from './meaning.ts';

export class View {
  private readonly graph: Graph;
  private readonly factOf: (id: string) => Fact;
  private readonly evaluate: Evaluate;

  constructor(graph: Graph, factOf: (id: string) => Fact, evaluate: Evaluate) {
    this.graph = graph;
    this.factOf = factOf;
    this.evaluate = evaluate;
  }

  decision(edge: Edge): Decision {
    return decisionOf(edge, this.factOf(edge.from), this.evaluate);
  }

  takes(edge: Edge): boolean {
    return this.decision(edge) === 'taken';
  }

  /** The decision of each source of a node; `without`: a source that counts as undecided. */
  sources(id: string, without?: string): Decision[] {
    return Array.from(this.graph.incoming(id), ([from, edges]) => {
      if (from === without) return 'open';
      const decision = sourceOf(edges.map((edge) => this.decision(edge)));
      return decision === 'taken' && this.factOf(from).isDeferred === true ? 'open' : decision;
    });
  }

  join(id: string): Join {
    return joinOf(this.factOf(id).keys.join, this.sources(id));
  }

  get hasBrokenEdge(): boolean {
    return this.graph.edges.some((edge) => this.decision(edge) === 'broken');
  }

  /** The targets of matching error edges. */
  handlers(id: string): string[] {
    return this.graph
      .outgoing(id)
      .filter((edge) => edge.on === 'error' && this.takes(edge))
      .map(({ to }) => to);
  }

  /**
   * Targets of taken `always` edges, and nodes that follow them along taken edges. A node keeps the part with which it
   * began.
   */
  cleanup(): Set<string> {
    const taken = this.graph.edges.filter((edge) => this.takes(edge) && this.factOf(edge.to).isFollower !== false);
    const always = taken.filter(({ on }) => on === 'always').map(({ to }) => to);
    const begun = Object.keys(this.graph.nodes).filter((id) => this.factOf(id).isFollower === true);
    const found = new Set([...begun, ...always]);
    for (const id of found) for (const edge of taken) if (edge.from === id) found.add(edge.to);
    return found;
  }

  /** Also the nodes that may still follow them. */
  mayClean(): Set<string> {
    return this.graph.closure(this.cleanup());
  }
}
