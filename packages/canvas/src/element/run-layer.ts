/**
 * The run that a graph shows: states by their paths in the run, strips of iterations, and which iteration each loop shows.
 *
 *  1 A loop shows the iteration that the page or a person chose; else the first failed one, else the newest known.
 *  2 An iteration that nobody chose stays until all states are replaced: the picture does not jump while a loop runs.
 */
import { type Graph, withContents } from '../model/graph.ts';
import { type Iterations, iterationCount, locate, pathInRun, type Scopes, statusCode } from '../model/iterations.ts';
import type { NodeRunState } from '../model/run-state.ts';
import type { Scene } from '../view/scene.ts';
import { type Strip, stripFrom } from '../view/strip.ts';

/** Paths of nodes in an iteration. */
const IN_ITERATION = /\/\d+\//;
/** Nodes of a collapsed group that its strip has. */
const MAX_SUMMED = 2_000;
const FAILED = statusCode('failed');

export class RunLayer {
  #states = new Map<string, NodeRunState>();
  #strips = new Map<string, Strip>();
  #chosen: Scopes = {};
  #automatic: Record<string, number> = {};

  get states(): ReadonlyMap<string, NodeRunState> {
    return this.#states;
  }

  get scopes(): Scopes {
    return { ...this.#automatic, ...this.#chosen };
  }

  iterationOf(loop: string): number | undefined {
    return this.#chosen[loop] ?? this.#automatic[loop];
  }

  /** Of the loop as the graph shows it. */
  iterationsOf(graph: Graph, loop: string): Iterations | undefined {
    return this.#strips.get(pathInRun(graph, loop, this.scopes))?.iterations;
  }

  stateOf(graph: Graph, id: string): NodeRunState | undefined {
    return this.#states.get(pathInRun(graph, id, this.scopes));
  }

  setStates(states: ReadonlyMap<string, NodeRunState>, graph: Graph): void {
    this.#states = new Map(states);
    this.chooseAgain(graph);
  }

  setIterations(all: Iterable<readonly [string, Iterations]>, graph: Graph): void {
    this.#strips = new Map([...all].map(([path, iterations]) => [path, stripFrom(iterations)]));
    this.chooseAgain(graph);
  }

  setScopes(scopes: Scopes): void {
    this.#chosen = { ...scopes };
  }

  /** Draws the run onto a scene whose states are out of date. */
  fill(scene: Scene, graph: Graph): void {
    const { scopes } = this;
    const hasLoops = Object.keys(scopes).length > 0;
    scene.setPaths(hasLoops ? (id) => pathInRun(graph, id, scopes) : (id) => id);
    for (let node = 0; node < scene.nodes.length; node++) {
      const path = scene.pathOf(node);
      scene.setState(node, this.#states.get(path));
      scene.strips[node] = this.#strips.get(path);
    }
    this.#sumUp(scene, graph);
  }

  /** A collapsed group that is no loop shows the nodes in it as its strip. */
  #sumUp(scene: Scene, graph: Graph): void {
    if (this.#states.size === 0) return;
    const { scopes } = this;
    for (const [node, { id, kind, isGroup }] of scene.nodes.entries()) {
      if (isGroup !== true || kind === 'loop' || scene.isOpen[node] === 1) continue;
      const contents = withContents(graph, id).slice(1, 1 + MAX_SUMMED);
      const codes = contents.map((inner) => this.#states.get(pathInRun(graph, inner.id, scopes))?.status ?? 'pending');
      scene.strips[node] = contents.length === 0 ? undefined : stripFrom(Uint8Array.from(codes, statusCode));
    }
  }

  /** Changes some states: costs what they are many. Returns whether the scene must be filled again. */
  update(changes: Iterable<readonly [string, NodeRunState]>, scene: Scene, graph: Graph): boolean {
    let isStale = false;
    let isHidden = false;
    for (const [path, state] of changes) {
      this.#states.set(path, state);
      const node = scene.nodeOfPath(path);
      if (node !== undefined) scene.setState(node, state);
      else {
        isHidden = true;
        isStale = this.#chooseFirst(path, graph) || isStale;
      }
    }
    if (isHidden && !isStale) this.#sumUp(scene, graph);
    return isStale;
  }

  setIterationsOf(path: string, iterations: Iterations, scene: Scene): void {
    const strip = stripFrom(iterations);
    this.#strips.set(path, strip);
    const node = scene.nodeOfPath(path);
    if (node !== undefined) scene.strips[node] = strip;
  }

  /** A loop that shows no iteration yet shows the first of which a state is known. */
  #chooseFirst(path: string, graph: Graph): boolean {
    if (!IN_ITERATION.test(path)) return false;
    let isNew = false;
    for (const [loop, iteration] of locate(graph, path)?.iterations ?? []) {
      if (this.iterationOf(loop) !== undefined) continue;
      this.#automatic[loop] = iteration;
      isNew = true;
    }
    return isNew;
  }

  chooseAgain(graph: Graph): void {
    const failed: Record<string, number> = {};
    const newest: Record<string, number> = {};
    for (const [path, { status }] of this.#states) {
      if (!IN_ITERATION.test(path)) continue;
      for (const [loop, iteration] of locate(graph, path)?.iterations ?? []) {
        newest[loop] = Math.max(newest[loop] ?? 0, iteration);
        if (status === 'failed') failed[loop] = Math.min(failed[loop] ?? Infinity, iteration);
      }
    }
    for (const [path, { iterations }] of this.#strips) {
      const loop = locate(graph, path)?.node;
      if (loop === undefined) continue;
      const at = iterations instanceof Uint8Array ? iterations.indexOf(FAILED) : -1;
      if (at >= 0) failed[loop] = Math.min(failed[loop] ?? Infinity, at);
      newest[loop] ??= Math.max(0, iterationCount(iterations) - 1);
    }
    this.#automatic = { ...newest, ...failed };
  }
}
