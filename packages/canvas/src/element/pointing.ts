/** Turns gestures into actions on a graph: the pointer hovers, selects, moves nodes and the view, connects and picks. */
import { refusalOf } from '../model/connect.ts';
import { type Graph, type GraphEdge, groupsAround, type Point } from '../model/graph.ts';
import { type Iterations, iterationAt } from '../model/iterations.ts';
import { NODE_STATUSES } from '../model/run-state.ts';
import { type Camera, type Size, toWorld } from '../view/camera.ts';
import { edgeAt, middleOf } from '../view/edge-curves.ts';
import { partAt } from '../view/group-parts.ts';
import { MINIMAP, minimapCamera } from '../view/minimap.ts';
import type { Overlay } from '../view/overlay-painter.ts';
import { LEVELS } from '../view/painting.ts';
import type { Scene } from '../view/scene.ts';
import type { GraphWords } from '../view/words.ts';
import { type Outlet, outletsOf } from './connecting.ts';
import type { Dispatch } from './events.ts';
import { type Drag, distance, Gestures } from './gestures.ts';

/** The part of the view that the pointer uses. */
export interface PointedView {
  readonly scene: Scene;
  readonly graph: Graph;
  readonly camera: Camera;
  readonly size: Size;
  readonly selected: readonly string[];
  readonly isEditable: boolean;
  readonly showsMinimap: boolean;
  readonly words: GraphWords;
  select(ids: Iterable<string>, edges?: Iterable<string>): void;
  toggle(id: string): void;
  iterationsOf(loop: string): Iterations | undefined;
  pickIteration(loop: string, iteration: number | undefined): void;
  stepIteration(loop: string, step: 1 | -1): void;
  panBy(dx: number, dy: number): void;
  zoomAt(point: Point, factor: number): void;
  setCamera(camera: Camera): void;
  dragNodes(ids: readonly string[], dx: number, dy: number): void;
  dropNodes(ids: readonly string[]): void;
  undrag(): void;
  connect(edge: Omit<GraphEdge, 'id'>): void;
  focusQuietly(id: string): void;
  redrawOverlay(): void;
}

/** The distance at which the pointer catches an outlet or an edge, in pixels of the screen; a finger needs more. */
const CATCH = { mouse: 12, touch: 24, edge: 6 } as const;

export class Pointing {
  readonly #host: HTMLElement;
  readonly #view: PointedView;
  readonly #dispatch: Dispatch;
  readonly #gestures: Gestures;
  hovered: Overlay['hovered'];
  hoveredEdge: Overlay['hoveredEdge'];
  area: Overlay['area'];
  connection: Overlay['connection'];
  targets: Overlay['targets'];
  hint: Overlay['hint'];

  constructor(host: HTMLElement, view: PointedView, dispatch: Dispatch) {
    this.#host = host;
    this.#view = view;
    this.#dispatch = dispatch;
    this.#gestures = new Gestures(host, {
      pressAt: (point, event) => this.#press(point, event),
      longPressAt: (point) => this.#longPress(point),
      hoverAt: (point) => this.#hover(point),
      panBy: (dx, dy) => view.panBy(dx, dy),
      zoomAt: (point, factor) => view.zoomAt(point, factor),
      doubleAt: (point) => this.#double(point),
      menuAt: (point) => this.#menu(point),
    });
  }

  close(): void {
    this.#gestures.close();
  }

  interrupt(): void {
    this.#gestures.interrupt();
  }

  /** The numbers of nodes have changed. */
  forget(): void {
    this.hovered = undefined;
    this.hoveredEdge = undefined;
    this.hint = undefined;
  }

  #nodeAt(point: Point): number | undefined {
    const { x, y } = toWorld(this.#view.camera, point);
    return this.#view.scene.nodeAt(x, y);
  }

  #edgeAt(point: Point): number | undefined {
    const { camera, scene } = this.#view;
    if (camera.zoom < LEVELS.label) return undefined;
    const { x, y } = toWorld(camera, point);
    return edgeAt(scene, x, y, CATCH.edge / camera.zoom);
  }

  #hover(point: Point | undefined): void {
    const isOnMap = point !== undefined && this.#isOnMinimap(point);
    const node = point === undefined || isOnMap ? undefined : this.#nodeAt(point);
    const edge = point === undefined || isOnMap || node !== undefined ? undefined : this.#edgeAt(point);
    const hadHint = this.hint !== undefined;
    this.hint = point === undefined || node === undefined ? undefined : this.#stripHint(node, point);
    if (node === this.hovered && edge === this.hoveredEdge) {
      if (hadHint || this.hint !== undefined) this.#view.redrawOverlay();
      return;
    }
    const hasChanged = node !== this.hovered;
    this.hovered = node;
    this.hoveredEdge = edge;
    this.#host.toggleAttribute('data-over', node !== undefined || edge !== undefined);
    if (hasChanged)
      this.#dispatch('nebula-hover', { node: node === undefined ? null : this.#view.scene.nodes[node]!.id });
    this.#view.redrawOverlay();
  }

  /** Names the iteration under the pointer. */
  #stripHint(node: number, point: Point): Overlay['hint'] {
    const { scene, words } = this.#view;
    const found = this.#iterationAt(node, point);
    if (found === undefined) return undefined;
    const iterations = this.#view.iterationsOf(scene.nodes[node]!.id);
    const code = iterations instanceof Uint8Array ? iterations[found] : undefined;
    const status = code === undefined ? undefined : NODE_STATUSES[code];
    const text = status === undefined ? words.iteration(found) : `${words.iteration(found)} · ${words.status[status]}`;
    return { text, at: point, isBad: status === 'failed' };
  }

  #iterationAt(node: number, point: Point): number | undefined {
    const { scene, camera } = this.#view;
    if (scene.nodes[node]!.kind !== 'loop') return undefined;
    const { x, y } = toWorld(camera, point);
    const part = partAt(scene, node, x, y);
    const iterations = part.part === 'strip' ? this.#view.iterationsOf(scene.nodes[node]!.id) : undefined;
    return part.part === 'strip' && iterations !== undefined
      ? iterationAt(iterations, part.share, part.columns)
      : undefined;
  }

  #double(point: Point): void {
    const node = this.#nodeAt(point);
    if (node === undefined || this.#iterationAt(node, point) !== undefined) return;
    const { id, isGroup } = this.#view.scene.nodes[node]!;
    if (isGroup === true) this.#view.toggle(id);
    else this.#dispatch('nebula-open', { node: id });
  }

  /** Returns whether the page shows a menu of its own. */
  #menu(point: Point): boolean {
    const { scene } = this.#view;
    const node = this.#nodeAt(point);
    const edge = node === undefined ? this.#edgeAt(point) : undefined;
    const id = node === undefined ? null : scene.nodes[node]!.id;
    if (id !== null && !this.#view.selected.includes(id)) this.#view.select([id]);
    return this.#dispatch('nebula-menu', {
      node: id,
      edge: edge === undefined ? null : scene.edges[edge]!.id,
      at: point,
    });
  }

  /** Of a node: its menu, or it joins the selection. Of the background: selects an area. */
  #longPress(point: Point): Drag | undefined {
    const node = this.#nodeAt(point);
    if (node === undefined) return this.#selectArea(point);
    const { id } = this.#view.scene.nodes[node]!;
    const { selected } = this.#view;
    if (this.#dispatch('nebula-menu', { node: id, edge: null, at: point })) return undefined;
    this.#view.select(selected.includes(id) ? selected.filter((one) => one !== id) : [...selected, id]);
    return undefined;
  }

  #press(point: Point, event: PointerEvent): Drag {
    if (this.#isOnMinimap(point)) return this.#moveMinimap(point);
    const reach = event.pointerType === 'touch' ? CATCH.touch : CATCH.mouse;
    const outlet = this.#view.isEditable ? this.#outletAt(point, reach) : undefined;
    if (outlet !== undefined) return this.#drawConnection(outlet);
    const node = this.#nodeAt(point);
    if (node !== undefined && event.button === 0) return this.#moveNode(node, point);
    if (event.shiftKey && event.button === 0) return this.#selectArea(point);
    const edge = node === undefined ? this.#edgeAt(point) : undefined;
    return edge === undefined ? this.#moveView() : { ...this.#moveView(), click: () => this.#clickEdge(edge, point) };
  }

  #clickEdge(edge: number, point: Point): void {
    const { scene, camera, isEditable } = this.#view;
    const drawn = scene.edges[edge]!;
    const { x, y } = toWorld(camera, point);
    const isOnPlus = isEditable && camera.zoom >= LEVELS.full && distance(middleOf(scene, edge), { x, y }) <= 11;
    if (isOnPlus) this.#dispatch('nebula-add', { after: drawn.from, edge: drawn.id, at: middleOf(scene, edge) });
    else this.#view.select([], [drawn.id]);
  }

  #moveView(): Drag {
    return {
      move: (_, delta) => {
        this.#host.toggleAttribute('data-dragging', true);
        this.#view.panBy(delta.x, delta.y);
      },
      end: () => {
        this.#host.toggleAttribute('data-dragging', false);
      },
      click: () => this.#view.select([]),
    };
  }

  /** Without the right to edit, the view moves instead. */
  #moveNode(node: number, start: Point): Drag {
    const view = this.#view;
    const { id } = view.scene.nodes[node]!;
    const click = (event: PointerEvent): void => this.#clickNode(node, start, event);
    if (!view.isEditable) return { ...this.#moveView(), click };
    const chosen = view.selected.includes(id) ? view.selected : [id];
    // A node in a group that moves, moves with it.
    const ids = chosen.filter((one) => !groupsAround(view.graph, one).some((group) => chosen.includes(group)));
    const moving = ids.filter((one) => view.scene.indexOf.has(one));
    return {
      move: (_, delta) => view.dragNodes(moving, delta.x / view.camera.zoom, delta.y / view.camera.zoom),
      end: (point) => (point === undefined ? view.undrag() : view.dropNodes(moving)),
      click,
    };
  }

  #clickNode(node: number, point: Point, { shiftKey, ctrlKey, metaKey }: PointerEvent): void {
    const { selected, scene, camera } = this.#view;
    const { id, isGroup } = scene.nodes[node]!;
    this.#view.focusQuietly(id);
    if (isGroup === true) {
      const { x, y } = toWorld(camera, point);
      const { part } = partAt(scene, node, x, y);
      const iteration = this.#iterationAt(node, point);
      if (iteration !== undefined) return this.#view.pickIteration(id, iteration);
      if (part === 'previous' || part === 'next') return this.#view.stepIteration(id, part === 'next' ? 1 : -1);
      if (part === 'chevron' && scene.isOpen[node] === 1) return this.#view.toggle(id);
    }
    if (!shiftKey && !ctrlKey && !metaKey) this.#view.select([id]);
    else this.#view.select(selected.includes(id) ? selected.filter((one) => one !== id) : [...selected, id]);
  }

  #selectArea(start: Point): Drag {
    const view = this.#view;
    const from = toWorld(view.camera, start);
    const choose = (): void => {
      if (this.area === undefined) return;
      view.select(view.scene.nodesIn(this.area).map((node) => view.scene.nodes[node]!.id));
    };
    const before = view.selected;
    return {
      move: (point) => {
        const to = toWorld(view.camera, point);
        this.area = {
          left: Math.min(from.x, to.x),
          top: Math.min(from.y, to.y),
          right: Math.max(from.x, to.x),
          bottom: Math.max(from.y, to.y),
        };
        choose();
        view.redrawOverlay();
      },
      end: (point) => {
        if (point === undefined) view.select(before);
        else choose();
        this.area = undefined;
        view.redrawOverlay();
      },
      click: () => view.select([]),
    };
  }

  #outletAt(point: Point, pixels: number): Outlet | undefined {
    const { scene, camera, graph } = this.#view;
    const at = toWorld(camera, point);
    const reach = pixels / camera.zoom;
    const near = scene.nodeAt(at.x, at.y) ?? scene.nodeAt(at.x - reach, at.y) ?? scene.nodeAt(at.x, at.y - reach);
    if (near === undefined) return undefined;
    return outletsOf(graph, scene.nodes[near]!.id).find(
      ({ port, kind }) => distance(scene.outlet(near, port, kind), at) <= reach,
    );
  }

  #drawConnection(outlet: Outlet): Drag {
    const view = this.#view;
    const { scene, graph, words } = view;
    const from = scene.outlet(scene.indexOf.get(outlet.from)!, outlet.port, outlet.kind);
    const edgeTo = (node: number): Omit<GraphEdge, 'id'> => ({ ...outlet, to: scene.nodes[node]!.id });
    const refusalAt = (node: number) => refusalOf(graph, edgeTo(node));
    this.targets = new Set([...scene.nodes.keys()].filter((node) => refusalAt(node) === undefined));
    const over = (): void => {
      this.connection = undefined;
      this.targets = undefined;
      this.hint = undefined;
      view.redrawOverlay();
    };
    return {
      move: (point) => {
        const node = this.#nodeAt(point);
        const refusal = node === undefined ? undefined : refusalAt(node);
        const isAllowed = node === undefined ? undefined : refusal === undefined;
        const to = isAllowed === true ? scene.inlet(node!) : toWorld(view.camera, point);
        this.connection = { from, to, isAllowed };
        this.hint = refusal === undefined ? undefined : { text: words.refusal[refusal], at: point, isBad: true };
        view.redrawOverlay();
      },
      end: (point) => {
        const node = point === undefined ? undefined : this.#nodeAt(point);
        over();
        if (node !== undefined) view.connect(edgeTo(node));
        else if (point !== undefined) {
          const { from: after, kind, port } = outlet;
          const at = toWorld(view.camera, point);
          this.#dispatch('nebula-add', { after, at, kind, ...(port === undefined ? {} : { port }) });
        }
      },
      click: () => {
        over();
        view.select([outlet.from]);
      },
    };
  }

  #isOnMinimap({ x, y }: Point): boolean {
    const { width, height } = this.#view.size;
    const isInCorner = x > width - MINIMAP.width - MINIMAP.margin && y > height - MINIMAP.height - MINIMAP.margin;
    return isInCorner && this.#view.showsMinimap;
  }

  #moveMinimap(start: Point): Drag {
    const view = this.#view;
    const own = minimapCamera(view.scene, view.size)!;
    const centre = (point: Point): void => {
      const { x, y } = toWorld(own, point);
      const { zoom } = view.camera;
      view.setCamera({ zoom, x: view.size.width / 2 - x * zoom, y: view.size.height / 2 - y * zoom });
    };
    return { move: (point) => centre(point), end: () => undefined, click: () => centre(start) };
  }
}
