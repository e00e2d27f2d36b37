/**
 * A graph on the screen: holds the scene, the camera and the selection, and redraws what has changed. It changes no
 * graph: it asks by events.
 */

import type { Direction, LayoutResult } from '../layout/layout.ts';
import { LayoutRunner } from '../layout/runner.ts';
import { copyText } from '../model/clipboard.ts';
import { refusalOf } from '../model/connect.ts';
import { EMPTY_GRAPH, type Graph, type GraphEdge, groupsAround, type Point, pathThrough } from '../model/graph.ts';
import type { NodeRunState } from '../model/run-state.ts';
import { type Camera, fitted, toWorld, zoomAt } from '../view/camera.ts';
import { MINIMAP, minimapCamera, type Overlay, paintOverlay } from '../view/overlay-painter.ts';
import { Painter } from '../view/painter.ts';
import type { Highlight, Painting } from '../view/painting.ts';
import { type Box, Scene, type SceneGraph, visibleOf } from '../view/scene.ts';
import { Stage } from '../view/stage.ts';
import { THEMES, type ThemeName } from '../view/theme.ts';
import type { Dispatch } from './events.ts';
import { type Drag, distance, Gestures } from './gestures.ts';
import { type Arrow, neighbour } from './navigation.ts';

export interface ViewParts {
  readonly host: HTMLElement;
  readonly stageHost: HTMLElement;
  readonly workerUrl: string | URL;
  readonly dispatch: Dispatch;
  /** Nodes or their states have changed, for the tree of screen readers. */
  changed(): void;
}

/** The distance at which the pointer catches an outlet, in pixels of the screen. */
const CATCH = 12;
const ZOOM_STEP = 1.3;

export class GraphView {
  readonly #parts: ViewParts;
  readonly #stage: Stage;
  readonly #painter: Painter;
  readonly #runner: LayoutRunner;
  readonly #gestures: Gestures;
  #sceneGraph: SceneGraph = { graph: EMPTY_GRAPH, direction: 'right', collapsed: new Set() };
  #scene: Scene;
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
  #hovered: number | undefined;
  #highlighted: Highlight | undefined;
  #area: Box | undefined;
  #connection: Overlay['connection'];
  #targets: ReadonlySet<number> | undefined;
  isEditable = false;
  hasMinimap = true;

  constructor(parts: ViewParts) {
    this.#parts = parts;
    this.#placed = EMPTY_LAYOUT;
    this.#scene = new Scene(this.#sceneGraph, EMPTY_LAYOUT, this.#moved);
    this.#stage = new Stage(parts.stageHost, {
      paintGraph: () => this.#painter.paint(this.#painting()),
      paintOverlay: (now) => paintOverlay(this.#stage.overlay, this.#painting(), this.#overlay(), now),
      resized: () => {
        if (this.#isFitted) this.#fitNow();
      },
    });
    this.#painter = new Painter(this.#stage.graph);
    this.#runner = new LayoutRunner(parts.workerUrl);
    this.#gestures = new Gestures(parts.host, {
      pressAt: (point, event) => this.#press(point, event),
      hoverAt: (point) => this.#hover(point),
      panBy: (dx, dy) => this.panBy(dx, dy),
      zoomAt: (point, factor) => this.#zoom(point, factor),
      doubleAt: (point) => this.#double(point),
    });
  }

  close(): void {
    this.#gestures.close();
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
    this.#zoom({ x: width / 2, y: height / 2 }, factor);
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

  /** Handles a key; returns whether it meant something. */
  key(event: KeyboardEvent): boolean {
    const { key } = event;
    const hasCtrl = event.ctrlKey || event.metaKey;
    const current = this.#focused ?? this.selected[0];
    if (key.startsWith('Arrow') && !hasCtrl) {
      const next = neighbour(this.#sceneGraph, this.#scene, current, key as Arrow);
      if (next !== undefined) {
        this.focusNode(next);
        this.select(event.shiftKey ? [...this.#selected, next] : [next]);
      }
      return true;
    }
    if (hasCtrl) return this.#ctrlKey(key.toLowerCase(), event.shiftKey);
    switch (key) {
      case '+':
      case '=':
        this.zoomBy(ZOOM_STEP);
        return true;
      case '-':
        this.zoomBy(1 / ZOOM_STEP);
        return true;
      case 'f':
        this.fit();
        return true;
      case '0':
        this.setCamera({ ...this.#camera, zoom: 1 });
        return true;
      case ' ':
        if (current !== undefined) this.toggle(current);
        return current !== undefined;
      case 'Enter':
        if (current !== undefined) this.#parts.dispatch('nebula-open', { node: current });
        return current !== undefined;
      case 'Escape':
        return this.#escape();
      default:
        return this.isEditable && this.#editKey(key, current);
    }
  }

  #ctrlKey(key: string, hasShift: boolean): boolean {
    if (key === 'a') {
      this.select(this.#scene.nodes.map(({ id }) => id));
      return true;
    }
    if (key === 'c' && this.#selected.size > 0) {
      void navigator.clipboard.writeText(copyText(this.graph, this.#selected));
      return true;
    }
    if (!this.isEditable) return false;
    if (key === 'z' || key === 'y') {
      this.#parts.dispatch('nebula-undo', { isRedo: key === 'y' || hasShift });
      return true;
    }
    if (key === 'v') {
      const into = this.#focused === undefined ? undefined : this.graph.nodes.get(this.#focused)?.parent;
      void navigator.clipboard.readText().then((text) => this.#parts.dispatch('nebula-paste', { text, into }));
      return true;
    }
    return false;
  }

  #editKey(key: string, current: string | undefined): boolean {
    if (key === 'Delete' || key === 'Backspace') {
      if (this.#selected.size > 0) this.#parts.dispatch('nebula-remove', { nodes: this.selected, edges: [] });
      return true;
    }
    if (key === 'a') {
      this.#parts.dispatch('nebula-add', { after: current });
      return true;
    }
    if (key === 'F2' && current !== undefined) {
      this.#parts.dispatch('nebula-rename', { node: current });
      return true;
    }
    if (key === 'c' && this.selected.length === 2) {
      const [from, to] = this.selected as [string, string];
      this.#connect({ from, to, kind: 'success' });
      return true;
    }
    return false;
  }

  #escape(): boolean {
    const isBusy = this.#selected.size > 0 || this.#connection !== undefined || this.#highlighted !== undefined;
    this.#gestures.interrupt();
    this.select([]);
    this.highlight(undefined);
    return isBusy;
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
      hovered: this.#hovered,
      focused,
      area: this.#area,
      connection: this.#connection,
      targets: this.#targets,
      hasMinimap: this.#showsMinimap(),
      isStill: globalThis.matchMedia('(prefers-reduced-motion: reduce)').matches,
    };
  }

  /** A graph that is seen whole needs no map. */
  #showsMinimap(): boolean {
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
    const { input } = visibleOf(this.#sceneGraph);
    this.#runner.run(input, (placed) => {
      this.#placed = placed;
      this.#rebuild();
    });
  }

  #rebuild(): void {
    if (visibleOf(this.#sceneGraph).nodes.length !== this.#placed.x.length) return;
    this.#scene = new Scene(this.#sceneGraph, this.#placed, this.#moved);
    for (const { id } of this.#scene.nodes) this.#scene.setState(id, this.#states.get(id));
    this.#hovered = undefined;
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

  #zoom(point: Point, factor: number): void {
    this.#isFitted = false;
    this.#camera = zoomAt(this.#camera, point, factor);
    this.#stage.redraw();
  }

  #nodeAt(point: Point): number | undefined {
    const { x, y } = toWorld(this.#camera, point);
    return this.#scene.nodeAt(x, y);
  }

  #hover(point: Point | undefined): void {
    const node = point === undefined ? undefined : this.#nodeAt(point);
    if (node === this.#hovered) return;
    this.#hovered = node;
    this.#parts.host.toggleAttribute('data-over', node !== undefined);
    this.#parts.dispatch('nebula-hover', { node: node === undefined ? null : this.#scene.nodes[node]!.id });
    this.#stage.redrawOverlay();
  }

  #double(point: Point): void {
    const node = this.#nodeAt(point);
    if (node === undefined) return;
    const { id, isGroup } = this.#scene.nodes[node]!;
    if (isGroup === true) this.toggle(id);
    else this.#parts.dispatch('nebula-open', { node: id });
  }

  #press(point: Point, event: PointerEvent): Drag {
    if (this.#isOnMinimap(point)) return this.#minimapDrag(point);
    const node = this.#nodeAt(point);
    const outlet = this.isEditable ? this.#outletAt(point) : undefined;
    if (outlet !== undefined) return this.#connectDrag(outlet);
    if (node !== undefined && event.button === 0) return this.#nodeDrag(node);
    return event.shiftKey && event.button === 0 ? this.#areaDrag(point) : this.#panDrag();
  }

  #panDrag(): Drag {
    const { host } = this.#parts;
    return {
      move: (_, delta) => {
        host.toggleAttribute('data-dragging', true);
        this.panBy(delta.x, delta.y);
      },
      end: () => host.toggleAttribute('data-dragging', false),
      click: () => this.select([]),
    };
  }

  #nodeDrag(node: number): Drag {
    const { id } = this.#scene.nodes[node]!;
    const before = this.#camera;
    let hasMoved = false;
    const moved = (): number[] => {
      const ids = this.#selected.has(id) ? this.selected : [id];
      const chosen = ids.filter((one) => !groupsAround(this.graph, one).some((group) => ids.includes(group)));
      return chosen.flatMap((one) => this.#scene.indexOf.get(one) ?? []);
    };
    return {
      move: (_, delta) => {
        if (!this.isEditable) {
          this.panBy(delta.x, delta.y);
          return;
        }
        hasMoved = true;
        for (const one of moved()) this.#scene.move(one, delta.x / before.zoom, delta.y / before.zoom);
        this.#isFitted = false;
        this.#stage.redraw();
      },
      end: (point) => {
        if (!hasMoved) return;
        if (point === undefined) {
          this.#rebuild();
          return;
        }
        const nodes: Record<string, Point> = {};
        for (const one of moved()) {
          const at = { x: this.#scene.x[one]!, y: this.#scene.y[one]! };
          nodes[this.#scene.nodes[one]!.id] = at;
          this.#moved.set(this.#scene.nodes[one]!.id, at);
        }
        this.#parts.dispatch('nebula-move', { nodes });
      },
      click: ({ shiftKey, ctrlKey, metaKey }) => {
        this.#focused = id;
        if (!shiftKey && !ctrlKey && !metaKey) this.select([id]);
        else this.select(this.#selected.has(id) ? this.selected.filter((one) => one !== id) : [...this.#selected, id]);
        this.#parts.changed();
      },
    };
  }

  #areaDrag(start: Point): Drag {
    const from = toWorld(this.#camera, start);
    return {
      move: (point) => {
        const to = toWorld(this.#camera, point);
        this.#area = {
          left: Math.min(from.x, to.x),
          top: Math.min(from.y, to.y),
          right: Math.max(from.x, to.x),
          bottom: Math.max(from.y, to.y),
        };
        this.#stage.redrawOverlay();
      },
      end: (point) => {
        const nodes = point === undefined || this.#area === undefined ? [] : this.#scene.nodesIn(this.#area);
        this.#area = undefined;
        this.select(nodes.map((node) => this.#scene.nodes[node]!.id));
        this.#stage.redrawOverlay();
      },
      click: () => this.select([]),
    };
  }

  #outletAt(point: Point): Pick<GraphEdge, 'from' | 'kind' | 'port'> | undefined {
    const at = toWorld(this.#camera, point);
    const reach = CATCH / this.#camera.zoom;
    const near =
      this.#scene.nodeAt(at.x, at.y) ??
      this.#scene.nodeAt(at.x - reach, at.y) ??
      this.#scene.nodeAt(at.x, at.y - reach);
    if (near === undefined) return undefined;
    const { id, ports } = this.#scene.nodes[near]!;
    const outlets: Pick<GraphEdge, 'from' | 'kind' | 'port'>[] =
      ports === undefined
        ? [
            { from: id, kind: 'success' },
            { from: id, kind: 'error' },
          ]
        : ports.map((port) => ({ from: id, kind: 'case', port: port.id }));
    return outlets.find(({ port, kind }) => distance(this.#scene.outlet(near, port, kind), at) <= reach);
  }

  #connectDrag(outlet: Pick<GraphEdge, 'from' | 'kind' | 'port'>): Drag {
    const from = this.#scene.outlet(this.#scene.indexOf.get(outlet.from)!, outlet.port, outlet.kind);
    const edgeTo = (node: number) => ({ ...outlet, to: this.#scene.nodes[node]!.id });
    this.#targets = new Set(
      [...this.#scene.nodes.keys()].filter((node) => refusalOf(this.graph, edgeTo(node)) === undefined),
    );
    const over = (): void => {
      this.#connection = undefined;
      this.#targets = undefined;
      this.#stage.redrawOverlay();
    };
    return {
      move: (point) => {
        const node = this.#nodeAt(point);
        const isAllowed = node === undefined ? undefined : refusalOf(this.graph, edgeTo(node)) === undefined;
        const to = isAllowed === true ? this.#scene.inlet(node!) : toWorld(this.#camera, point);
        this.#connection = { from, to, isAllowed };
        this.#stage.redrawOverlay();
      },
      end: (point) => {
        const node = point === undefined ? undefined : this.#nodeAt(point);
        over();
        if (node !== undefined) this.#connect(edgeTo(node));
      },
      click: () => {
        over();
        this.select([outlet.from]);
      },
    };
  }

  #connect(edge: Omit<GraphEdge, 'id'>): void {
    if (refusalOf(this.graph, edge) !== undefined) return;
    const { from, to, kind, port } = edge;
    this.#parts.dispatch('nebula-connect', { from, to, kind, port });
  }

  #isOnMinimap({ x, y }: Point): boolean {
    const { width, height } = this.#stage.size;
    return (
      this.#showsMinimap() && x > width - MINIMAP.width - MINIMAP.margin && y > height - MINIMAP.height - MINIMAP.margin
    );
  }

  #minimapDrag(start: Point): Drag {
    const own = minimapCamera(this.#scene, this.#stage.size)!;
    const centre = (point: Point): void => {
      const { x, y } = toWorld(own, point);
      const { width, height } = this.#stage.size;
      const { zoom } = this.#camera;
      this.setCamera({ zoom, x: width / 2 - x * zoom, y: height / 2 - y * zoom });
    };
    return { move: (point) => centre(point), end: () => undefined, click: () => centre(start) };
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
