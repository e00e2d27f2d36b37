/**
 * A graph on the screen: holds the scene, the camera and the selection, and redraws what has changed. It changes no
 * graph: it asks by events.
 */

import type { Direction, LayoutResult } from '../layout/layout.ts';
import { LayoutRunner } from '../layout/runner.ts';
import { refusalOf } from '../model/connect.ts';
import { EMPTY_GRAPH, type Graph, type GraphEdge, groupsAround, type Point, pathThrough } from '../model/graph.ts';
import type { NodeRunState } from '../model/run-state.ts';
import { type Camera, fitted, type Size, toWorld, zoomAt } from '../view/camera.ts';
import { type Overlay, paintOverlay } from '../view/overlay-painter.ts';
import { Painter } from '../view/painter.ts';
import type { Highlight, Painting } from '../view/painting.ts';
import { Scene, type SceneGraph, type Visible, visibleOf } from '../view/scene.ts';
import { Stage } from '../view/stage.ts';
import { THEMES, type ThemeName } from '../view/theme.ts';
import type { Dispatch } from './events.ts';
import { Pointing } from './pointing.ts';

export interface ViewParts {
  readonly host: HTMLElement;
  readonly stageHost: HTMLElement;
  workerUrl(): string | URL;
  readonly dispatch: Dispatch;
  /** Nodes or their states have changed, for the tree of screen readers. */
  changed(): void;
}

export class GraphView {
  readonly #parts: ViewParts;
  readonly #stage: Stage;
  readonly #painter: Painter;
  readonly #runner: LayoutRunner;
  readonly #pointing: Pointing;
  #sceneGraph: SceneGraph = { graph: EMPTY_GRAPH, direction: 'right', collapsed: new Set() };
  #scene: Scene;
  /** The nodes of the newest layout, and that layout. */
  #visible: Visible;
  #placed: LayoutResult;
  #camera: Camera = { x: 0, y: 0, zoom: 1 };
  /** The view follows the graph until a person moves it. */
  #isFitted = true;
  #theme: ThemeName = 'light';
  #states: ReadonlyMap<string, NodeRunState> = new Map();
  #moved = new Map<string, Point>();
  #selected = new Set<string>();
  #focused: string | undefined;
  #hasFocus = false;
  #highlighted: Highlight | undefined;
  isEditable = false;
  hasMinimap = true;

  constructor(parts: ViewParts) {
    this.#parts = parts;
    this.#placed = EMPTY_LAYOUT;
    this.#visible = visibleOf(this.#sceneGraph);
    this.#scene = new Scene(this.#visible, EMPTY_LAYOUT, this.#moved);
    this.#stage = new Stage(parts.stageHost, {
      paintGraph: () => this.#painter.paint(this.#painting()),
      paintOverlay: (now) => paintOverlay(this.#stage.overlay, this.#painting(), this.#overlay(), now),
      resized: () => {
        if (this.#isFitted) this.#fitNow();
      },
    });
    this.#painter = new Painter(this.#stage.graph);
    this.#runner = new LayoutRunner(() => parts.workerUrl());
    this.#pointing = new Pointing(parts.host, this, parts.dispatch);
  }

  close(): void {
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
    return [...this.#selected];
  }

  get focused(): string | undefined {
    return this.#focused;
  }

  get camera(): Camera {
    return this.#camera;
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

  /** Ends what the pointer does, the selection and the highlight; returns whether there was one. */
  escape(): boolean {
    const isBusy =
      this.#selected.size > 0 || this.#pointing.connection !== undefined || this.#highlighted !== undefined;
    this.#pointing.interrupt();
    this.select([]);
    this.highlight(undefined);
    return isBusy;
  }

  /** Moves nodes with the pointer, until they are dropped. */
  dragNodes(ids: readonly string[], dx: number, dy: number): void {
    for (const id of ids) this.#scene.move(this.#scene.indexOf.get(id)!, dx, dy);
    this.#isFitted = false;
    this.#stage.redraw();
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
    if (refusalOf(this.graph, { from, to, kind, ...(port === undefined ? {} : { port }) }) !== undefined) return;
    this.#parts.dispatch('nebula-connect', { from, to, kind, port });
  }

  /** The focus of the keyboard follows a click. */
  focusQuietly(id: string): void {
    this.#focused = id;
    this.#parts.changed();
  }

  /** Where a node is on the screen, relative to the element. */
  boxOf(id: string): { x: number; y: number; width: number; height: number } | undefined {
    const node = this.#scene.indexOf.get(id);
    if (node === undefined) return undefined;
    const { x, y, zoom } = this.#camera;
    const scene = this.#scene;
    return {
      x: scene.x[node]! * zoom + x,
      y: scene.y[node]! * zoom + y,
      width: scene.width[node]! * zoom,
      height: scene.height[node]! * zoom,
    };
  }

  setGraph(graph: Graph): void {
    this.#sceneGraph = { ...this.#sceneGraph, graph };
    this.#selected = new Set([...this.#selected].filter((id) => graph.nodes.has(id)));
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
    this.#stage.redraw();
  }

  /** A font was loaded. */
  fontsChanged(): void {
    this.#painter.forgetText();
    this.#stage.redraw();
  }

  setStates(states: ReadonlyMap<string, NodeRunState>): void {
    this.#states = states;
    for (const { id } of this.#scene.nodes) this.#scene.setState(id, states.get(id));
    this.#stage.redraw();
    this.#parts.changed();
  }

  /** Changes the states of some nodes: costs what they are many. */
  updateStates(changes: Iterable<readonly [string, NodeRunState]>): void {
    const states = this.#states instanceof Map ? this.#states : new Map(this.#states);
    for (const [id, state] of changes) {
      states.set(id, state);
      this.#scene.setState(id, state);
    }
    this.#states = states;
    this.#stage.redraw();
    this.#parts.changed();
  }

  stateOf(id: string): NodeRunState | undefined {
    return this.#states.get(id);
  }

  /** Positions set by hand, by node. */
  setMoved(moved: ReadonlyMap<string, Point>): void {
    this.#moved = new Map(moved);
    this.#rebuild();
  }

  select(ids: Iterable<string>): void {
    const selected = new Set([...ids].filter((id) => this.graph.nodes.has(id)));
    if (selected.size === this.#selected.size && [...selected].every((id) => this.#selected.has(id))) return;
    this.#selected = selected;
    this.#stage.redrawOverlay();
    this.#parts.dispatch('nebula-select', { nodes: this.selected });
  }

  /** Dims everything that neither leads to the node nor follows from it; undefined: nothing. */
  highlight(id: string | undefined): void {
    this.#highlighted = id === undefined || !this.graph.nodes.has(id) ? undefined : pathThrough(this.graph, id);
    this.#stage.redraw();
  }

  fit(ids?: Iterable<string>): void {
    this.#isFitted = ids === undefined;
    if (ids === undefined) this.#fitNow();
    else {
      const nodes = [...ids].flatMap((id) => this.#scene.indexOf.get(id) ?? []);
      const box = this.#scene.bounds(nodes);
      if (box !== undefined) this.#camera = fitted(box, this.#stage.size, 1);
    }
    this.#stage.redraw();
  }

  panBy(dx: number, dy: number): void {
    this.#isFitted = false;
    this.#camera = { ...this.#camera, x: this.#camera.x + dx, y: this.#camera.y + dy };
    this.#stage.redraw();
  }

  zoomBy(factor: number): void {
    const { width, height } = this.#stage.size;
    this.zoomAt({ x: width / 2, y: height / 2 }, factor);
  }

  setCamera(camera: Camera): void {
    this.#isFitted = false;
    this.#camera = camera;
    this.#stage.redraw();
  }

  /** Moves the keyboard's focus to a node, and the view if it is not seen. */
  focusNode(id: string | undefined): void {
    this.#focused = id;
    if (id !== undefined) {
      const hidden = groupsAround(this.graph, id).filter((group) => this.collapsed.has(group));
      if (hidden.length > 0) this.setCollapsed(new Set([...this.collapsed].filter((group) => !hidden.includes(group))));
      this.#reveal(id);
    }
    this.#stage.redrawOverlay();
    this.#parts.changed();
  }

  setFocus(hasFocus: boolean): void {
    this.#hasFocus = hasFocus;
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

  /** Where a point of the element is in the graph, and in which group. */
  placeAt(point: Point): { readonly at: Point; readonly into: string | undefined } {
    const at = toWorld(this.#camera, point);
    const group = this.#scene.groupAt(at.x, at.y);
    return { at, into: group === undefined ? undefined : this.#scene.nodes[group]!.id };
  }

  #painting(): Painting {
    const { size, ratio } = this.#stage;
    return {
      scene: this.#scene,
      camera: this.#camera,
      size,
      ratio,
      theme: THEMES[this.#theme],
      highlight: this.#highlighted,
    };
  }

  #overlay(): Overlay {
    const focused = this.#hasFocus && this.#focused !== undefined ? this.#scene.indexOf.get(this.#focused) : undefined;
    return {
      selected: this.#selected,
      focused,
      hasMinimap: this.showsMinimap,
      hovered: this.#pointing.hovered,
      area: this.#pointing.area,
      connection: this.#pointing.connection,
      targets: this.#pointing.targets,
      isStill: globalThis.matchMedia('(prefers-reduced-motion: reduce)').matches,
    };
  }

  /** A graph that is seen whole needs no map. */
  get showsMinimap(): boolean {
    if (!this.hasMinimap || this.#stage.size.width < 480 || this.#scene.nodes.length < 2) return false;
    const box = this.#scene.bounds()!;
    const { x, y, zoom } = this.#camera;
    const { width, height } = this.#stage.size;
    const isSeen =
      box.left * zoom + x >= 0 &&
      box.top * zoom + y >= 0 &&
      box.right * zoom + x <= width &&
      box.bottom * zoom + y <= height;
    return !isSeen;
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
    this.#scene = new Scene(this.#visible, this.#placed, this.#moved);
    for (const { id } of this.#scene.nodes) this.#scene.setState(id, this.#states.get(id));
    this.#pointing.forget();
    if (this.#isFitted) this.#fitNow();
    this.#stage.redraw();
    this.#parts.changed();
  }

  #fitNow(): void {
    const box = this.#scene.bounds();
    if (box !== undefined && this.#stage.size.width > 0) this.#camera = fitted(box, this.#stage.size);
  }

  #reveal(id: string): void {
    const box = this.boxOf(id);
    if (box === undefined) return;
    const { width, height } = this.#stage.size;
    const dx = box.x < 0 ? 24 - box.x : box.x + box.width > width ? width - 24 - box.x - box.width : 0;
    const dy = box.y < 0 ? 24 - box.y : box.y + box.height > height ? height - 24 - box.y - box.height : 0;
    if (dx !== 0 || dy !== 0) this.panBy(dx, dy);
  }

  zoomAt(point: Point, factor: number): void {
    this.#isFitted = false;
    this.#camera = zoomAt(this.#camera, point, factor);
    this.#stage.redraw();
  }
}

const EMPTY_LAYOUT: LayoutResult = {
  x: new Float64Array(),
  y: new Float64Array(),
  width: new Float64Array(),
  height: new Float64Array(),
  bendStart: new Int32Array(1),
  bends: new Float64Array(),
};
