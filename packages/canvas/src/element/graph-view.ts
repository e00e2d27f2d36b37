/**
 * A graph on the screen: holds the scene, the camera and the selection, and redraws what has changed. It changes no
 * graph: it asks by events.
 */

import { type Direction, EMPTY_LAYOUT, type LayoutResult } from '../layout/layout.ts';
import { LayoutRunner } from '../layout/runner.ts';
import { refusalOf } from '../model/connect.ts';
import { EMPTY_GRAPH, type Graph, type GraphEdge, groupsAround, type Point, pathThrough } from '../model/graph.ts';
import { type Iterations, nextIteration, type Scopes } from '../model/iterations.ts';
import type { Marks } from '../model/marks.ts';
import type { DrawnStatus, NodeRunState } from '../model/run-state.ts';
import type { Camera, Size } from '../view/camera.ts';
import { type Overlay, OverlayPainter } from '../view/overlay-painter.ts';
import { Painter } from '../view/painter.ts';
import type { EdgeState, Highlight, Painting } from '../view/painting.ts';
import { Scene } from '../view/scene.ts';
import { type SceneGraph, type Visible, visibleOf } from '../view/scene-graph.ts';
import { Stage } from '../view/stage.ts';
import { THEMES, type ThemeName } from '../view/theme.ts';
import { ENGLISH, type GraphWords } from '../view/words.ts';
import { type DropPlace, dropAt, dropPlace } from './dropping.ts';
import { EdgeKeys } from './edge-keys.ts';
import type { Dispatch } from './events.ts';
import { Pointing } from './pointing.ts';
import { RunLayer } from './run-layer.ts';
import { Selection } from './selection.ts';
import { Viewpoint } from './viewpoint.ts';

export interface ViewParts {
  readonly host: HTMLElement;
  readonly stageHost: HTMLElement;
  workerUrl(): string | URL;
  readonly dispatch: Dispatch;
  /** Nodes have changed, for the tree of screen readers; `states`: only the states of these nodes. */
  changed(states?: readonly string[]): void;
  /** Tells screen readers something at once. */
  announce(text: string): void;
}

export class GraphView {
  readonly #parts: ViewParts;
  readonly #stage: Stage;
  readonly #painter: Painter;
  readonly #overlayPainter: OverlayPainter;
  readonly #runner: LayoutRunner;
  readonly #pointing: Pointing;
  #sceneGraph: SceneGraph = { graph: EMPTY_GRAPH, direction: 'right', collapsed: new Set() };
  #scene: Scene;
  /** The nodes of the newest layout, and that layout. */
  #visible: Visible;
  #placed: LayoutResult;
  readonly #viewpoint: Viewpoint;
  #theme: ThemeName = 'light';
  readonly #run = new RunLayer();
  #marks: Marks = new Map();
  #edgeStates: ReadonlyMap<string, EdgeState> = new Map();
  #moved = new Map<string, Point>();
  readonly #selection = new Selection();
  #drop: Overlay['drop'];
  #version = 0;
  #focused: string | undefined;
  #hasFocus = false;
  #isFocusVisible = false;
  #highlighted: Highlight | undefined;
  readonly edgeKeys = new EdgeKeys(this);
  readonly #stillness = globalThis.matchMedia('(prefers-reduced-motion: reduce)');
  isEditable = false;
  hasMinimap = true;
  isPast = false;
  words: GraphWords = ENGLISH;

  constructor(parts: ViewParts) {
    this.#parts = parts;
    this.#placed = EMPTY_LAYOUT;
    this.#visible = visibleOf(this.#sceneGraph);
    this.#scene = new Scene(this.#visible, EMPTY_LAYOUT, this.#moved, this.#marks);
    this.#viewpoint = new Viewpoint(this);
    this.#stage = new Stage(parts.stageHost, {
      paintGraph: () => this.#painter.paint(this.#painting()),
      paintOverlay: (now) => this.#overlayPainter.paint(this.#painting(), this.#overlay(), now),
      resized: () => this.#viewpoint.follow(),
    });
    this.#painter = new Painter(this.#stage.graph);
    this.#overlayPainter = new OverlayPainter(this.#stage.overlay);
    this.#runner = new LayoutRunner(() => parts.workerUrl());
    this.#pointing = new Pointing(parts.host, this, parts.dispatch);
  }

  close(): void {
    this.#viewpoint.close();
    this.#pointing.close();
    this.#runner.close();
    this.#stage.close();
  }

  get graph(): Graph {
    return this.#sceneGraph.graph;
  }

  get collapsed(): ReadonlySet<string> {
    return this.#sceneGraph.collapsed;
  }

  get selected(): readonly string[] {
    return [...this.#selection.nodes];
  }

  get selectedEdges(): readonly string[] {
    return [...this.#selection.edges];
  }

  get states(): ReadonlyMap<string, NodeRunState> {
    return this.#run.states;
  }

  get scopes(): Scopes {
    return this.#run.scopes;
  }

  get focused(): string | undefined {
    return this.#focused;
  }

  get camera(): Camera {
    return this.#viewpoint.camera;
  }

  get scene(): Scene {
    return this.#scene;
  }

  get sceneGraph(): SceneGraph {
    return this.#sceneGraph;
  }

  get size(): Size {
    return this.#stage.size;
  }

  redrawOverlay(): void {
    this.#stage.redrawOverlay();
  }

  /** The camera has moved. */
  redraw(): void {
    this.#stage.redraw();
  }

  /** Ends what the pointer does, the selection and the highlight; returns whether there was one. */
  escape(): boolean {
    const isBusy =
      !this.#selection.isEmpty || this.#pointing.connection !== undefined || this.#highlighted !== undefined;
    this.#pointing.interrupt();
    this.select([]);
    this.#focused = undefined;
    this.highlight(undefined);
    return isBusy;
  }

  /** Moves nodes with the pointer, until they are dropped. */
  dragNodes(ids: readonly string[], dx: number, dy: number): void {
    for (const id of ids) this.#scene.move(this.#scene.indexOf.get(id)!, dx, dy);
    this.#viewpoint.hold();
    this.#redraw();
  }

  dropNodes(ids: readonly string[]): void {
    const nodes = Object.fromEntries(
      ids.map((id) => {
        const node = this.#scene.indexOf.get(id)!;
        return [id, { x: this.#scene.x[node]!, y: this.#scene.y[node]! }];
      }),
    );
    for (const [id, point] of Object.entries(nodes)) this.#moved.set(id, point);
    this.#parts.dispatch('nebula-move', { nodes });
  }

  /** Takes nodes back to where they were before they were dragged. */
  undrag(): void {
    this.#rebuild();
  }

  connect({ from, to, kind, port }: Omit<GraphEdge, 'id'>): void {
    const refusal = refusalOf(this.graph, { from, to, kind, ...(port === undefined ? {} : { port }) });
    if (refusal !== undefined) {
      this.#parts.announce(this.words.refusal[refusal]);
      return;
    }
    const isPrevented = this.#parts.dispatch('nebula-connect', { from, to, kind, port });
    if (!isPrevented) this.announce(this.words.connected(nameOf(this.graph, from), nameOf(this.graph, to)));
  }

  announce(text: string): void {
    this.#parts.announce(text);
  }

  /** Shows where something would be dropped; undefined: nothing is dragged over the element. */
  dragOver(point: Point | undefined): void {
    this.#drop = point === undefined ? undefined : dropAt(this.#scene, this.camera, point);
    this.#stage.redrawOverlay();
  }

  /** The focus of the keyboard follows a click. */
  focusQuietly(id: string): void {
    this.#focused = id;
    this.#parts.changed([]);
  }

  /** Where a node is on the screen, relative to the element. */
  boxOf(id: string): { x: number; y: number; width: number; height: number } | undefined {
    const node = this.#scene.indexOf.get(id);
    if (node === undefined) return undefined;
    const { x, y, zoom } = this.camera;
    const scene = this.#scene;
    return {
      x: scene.x[node]! * zoom + x,
      y: scene.y[node]! * zoom + y,
      width: scene.width[node]! * zoom,
      height: scene.height[node]! * zoom,
    };
  }

  /** A graph with the same nodes and edges keeps its layout: only nodes were moved. */
  showGraph(graph: Graph): void {
    const { nodes, edges } = this.graph;
    this.#moved = new Map(graph.positions);
    if (graph.nodes !== nodes || graph.edges !== edges) this.setGraph(graph);
    else {
      this.#sceneGraph = { ...this.#sceneGraph, graph };
      this.#rebuild();
    }
  }

  setGraph(graph: Graph): void {
    this.#sceneGraph = { ...this.#sceneGraph, graph };
    this.#selection.keep(graph);
    this.edgeKeys.forget();
    this.#run.chooseAgain(graph);
    if (this.#focused !== undefined && !graph.nodes.has(this.#focused)) this.#focused = undefined;
    this.#layOut();
  }

  setDirection(direction: Direction): void {
    if (direction === this.#sceneGraph.direction) return;
    this.#sceneGraph = { ...this.#sceneGraph, direction };
    this.#layOut();
  }

  setCollapsed(collapsed: ReadonlySet<string>): void {
    this.#sceneGraph = { ...this.#sceneGraph, collapsed };
    this.#layOut();
  }

  setTheme(theme: ThemeName): void {
    this.#theme = theme;
    this.#redraw();
  }

  /** A font was loaded. */
  fontsChanged(): void {
    this.#painter.forgetText();
    this.#stage.redraw();
  }

  setStates(states: ReadonlyMap<string, NodeRunState>): void {
    this.#run.setStates(states, this.graph);
    this.#fillRun();
  }

  /** Changes the states of some nodes: costs what they are many. */
  updateStates(changes: Iterable<readonly [string, NodeRunState]>): void {
    const all = [...changes];
    if (this.#run.update(all, this.#scene, this.graph)) {
      this.#fillRun();
      return;
    }
    this.#redraw();
    this.#parts.changed(
      all.flatMap(([path]) => {
        const node = this.#scene.nodeOfPath(path);
        return node === undefined ? [] : [this.#scene.nodes[node]!.id];
      }),
    );
  }

  stateOf(id: string): NodeRunState | undefined {
    return this.#run.stateOf(this.graph, id);
  }

  setIterations(all: Iterable<readonly [string, Iterations]>): void {
    this.#run.setIterations(all, this.graph);
    this.#fillRun();
  }

  setIterationsOf(path: string, iterations: Iterations): void {
    this.#run.setIterationsOf(path, iterations, this.#scene);
    this.#redraw();
  }

  iterationsOf(loop: string): Iterations | undefined {
    return this.#run.iterationsOf(this.graph, loop);
  }

  setScopes(scopes: Scopes): void {
    this.#run.setScopes(scopes);
    this.#fillRun();
  }

  /** A person chose an iteration. */
  pickIteration(loop: string, iteration: number | undefined): void {
    if (iteration === undefined || this.graph.nodes.get(loop)?.kind !== 'loop') return;
    if (this.#parts.dispatch('nebula-iteration', { group: loop, iteration })) return;
    this.setScopes({ ...this.scopes, [loop]: iteration });
    this.#parts.announce(this.words.iteration(iteration));
  }

  stepIteration(loop: string, step: 1 | -1, status?: DrawnStatus): void {
    this.pickIteration(loop, nextIteration(this.iterationsOf(loop), this.#run.iterationOf(loop), step, status));
  }

  setMarks(marks: Marks): void {
    this.#marks = marks;
    this.#rebuild();
  }

  setEdgeStates(edgeStates: ReadonlyMap<string, EdgeState>): void {
    this.#edgeStates = edgeStates;
    this.#redraw();
  }

  markOf(id: string) {
    return this.#marks.get(id);
  }

  #fillRun(): void {
    this.#run.fill(this.#scene, this.graph);
    this.#redraw();
    this.#parts.changed();
  }

  #redraw(): void {
    this.#version++;
    this.#stage.redraw();
  }

  /** Positions set by hand, by node. */
  setMoved(moved: ReadonlyMap<string, Point>): void {
    this.#moved = new Map(moved);
    this.#rebuild();
  }

  select(ids: Iterable<string>, edgeIds: Iterable<string> = []): void {
    const changed = this.#selection.set(this.graph, ids, edgeIds);
    if (changed === undefined) return;
    this.#stage.redrawOverlay();
    this.#parts.changed(changed);
    this.#parts.dispatch('nebula-select', { nodes: this.selected, edges: this.selectedEdges });
  }

  isSelected(id: string): boolean {
    return this.#selection.nodes.has(id);
  }

  /** Shows the path through a node, or everything if it is shown. */
  toggleHighlight(id: string): void {
    this.highlight(this.#highlighted === undefined ? id : undefined);
  }

  /** Dims everything that neither leads to the node nor follows from it; undefined: nothing. */
  highlight(id: string | undefined): void {
    this.#highlighted = id === undefined || !this.graph.nodes.has(id) ? undefined : pathThrough(this.graph, id);
    this.#redraw();
  }

  fit(ids?: Iterable<string>): void {
    this.#viewpoint.fit(ids === undefined ? undefined : [...ids].flatMap((id) => this.#scene.indexOf.get(id) ?? []));
  }

  panBy(dx: number, dy: number): void {
    this.#viewpoint.panBy(dx, dy);
  }

  zoomBy(factor: number): void {
    this.#viewpoint.zoomBy(factor);
  }

  zoomAt(point: Point, factor: number): void {
    this.#viewpoint.zoomAt(point, factor);
  }

  setCamera(camera: Camera): void {
    this.#viewpoint.move(camera);
  }

  /** Moves the keyboard's focus to a node, and the view if it is not seen. */
  focusNode(id: string | undefined): void {
    this.#focused = id;
    if (id !== undefined) {
      const hidden = groupsAround(this.graph, id).filter((group) => this.collapsed.has(group));
      if (hidden.length > 0) this.setCollapsed(new Set([...this.collapsed].filter((group) => !hidden.includes(group))));
      this.reveal(id);
    }
    this.#stage.redrawOverlay();
    this.#parts.changed([]);
  }

  /** `isVisible`: the focus came with the keyboard. */
  setFocus(hasFocus: boolean, isVisible: boolean): void {
    this.#hasFocus = hasFocus;
    this.#isFocusVisible = isVisible;
    this.#stage.redrawOverlay();
  }

  toggle(id: string): void {
    if (this.graph.nodes.get(id)?.isGroup !== true) return;
    const collapsed = new Set(this.collapsed);
    const isCollapsed = !collapsed.delete(id);
    if (isCollapsed) collapsed.add(id);
    this.setCollapsed(collapsed);
    this.#parts.dispatch('nebula-toggle', { group: id, isCollapsed });
  }

  /** Where a point of the element is in the graph: in which group, and on which edge. */
  placeAt(point: Point): DropPlace {
    return dropPlace(this.graph, this.#scene, this.camera, point);
  }

  #painting(): Painting {
    const { size, ratio } = this.#stage;
    return {
      scene: this.#scene,
      camera: this.camera,
      size,
      ratio,
      theme: THEMES[this.#theme],
      highlight: this.#highlighted,
      edgeStates: this.#edgeStates,
      isPast: this.isPast,
      isEditable: this.isEditable,
      isMoving: this.#viewpoint.isMoving,
      words: this.words,
      iterationOf: (loop) => this.#run.iterationOf(loop),
    };
  }

  #overlay(): Overlay {
    const focused = this.#hasFocus && this.#focused !== undefined ? this.#scene.indexOf.get(this.#focused) : undefined;
    return {
      selected: this.#selection.nodes,
      selectedEdges: this.#selection.edges,
      focused,
      isWholeFocused:
        this.#hasFocus && this.#isFocusVisible && focused === undefined && this.#selection.edges.size === 0,
      hasMinimap: this.showsMinimap,
      hovered: this.#pointing.hovered,
      hoveredEdge: this.#pointing.hoveredEdge,
      area: this.#pointing.area,
      connection: this.edgeKeys.connecting?.connection ?? this.#pointing.connection,
      targets: this.edgeKeys.connecting?.targets ?? this.#pointing.targets,
      drop: this.#drop,
      hint: this.#pointing.hint,
      isStill: this.#stillness.matches,
      version: this.#version,
    };
  }

  get showsMinimap(): boolean {
    const isUseful = this.hasMinimap && this.#stage.size.width >= 480 && this.#scene.nodes.length >= 2;
    return isUseful && !this.#viewpoint.seesAll;
  }

  #layOut(): void {
    const visible = visibleOf(this.#sceneGraph);
    this.#runner.run(visible.input, (placed) => {
      this.#visible = visible;
      this.#placed = placed;
      this.#rebuild();
    });
  }

  #rebuild(): void {
    this.#scene = new Scene(this.#visible, this.#placed, this.#moved, this.#marks);
    this.#run.fill(this.#scene, this.graph);
    this.#pointing.forget();
    this.edgeKeys.forget();
    this.#viewpoint.follow();
    this.#redraw();
    this.#parts.changed();
  }

  reveal(id: string): void {
    const box = this.boxOf(id);
    if (box !== undefined) this.#viewpoint.reveal(box);
  }
}

function nameOf({ nodes }: Graph, id: string): string {
  return nodes.get(id)?.label ?? id;
}
