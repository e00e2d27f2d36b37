/** Turns gestures into actions on a graph: the pointer hovers, selects, moves nodes and the view, and connects. */
import { refusalOf } from '../model/connect.ts';
import { type Graph, type GraphEdge, groupsAround, type Point } from '../model/graph.ts';
import { type Camera, type Size, toWorld } from '../view/camera.ts';
import { MINIMAP, minimapCamera, type Overlay } from '../view/overlay-painter.ts';
import type { Scene } from '../view/scene.ts';
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
  select(ids: Iterable<string>): void;
  toggle(id: string): void;
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

type Outlet = Pick<GraphEdge, 'from' | 'kind' | 'port'>;

/** The distance at which the pointer catches an outlet, in pixels of the screen. */
const CATCH = 12;

export class Pointing {
  readonly #host: HTMLElement;
  readonly #view: PointedView;
  readonly #dispatch: Dispatch;
  readonly #gestures: Gestures;
  hovered: Overlay['hovered'];
  area: Overlay['area'];
  connection: Overlay['connection'];
  targets: Overlay['targets'];

  constructor(host: HTMLElement, view: PointedView, dispatch: Dispatch) {
    this.#host = host;
    this.#view = view;
    this.#dispatch = dispatch;
    this.#gestures = new Gestures(host, {
      pressAt: (point, event) => this.#press(point, event),
      hoverAt: (point) => this.#hover(point),
      panBy: (dx, dy) => view.panBy(dx, dy),
      zoomAt: (point, factor) => view.zoomAt(point, factor),
      doubleAt: (point) => this.#double(point),
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
  }

  #nodeAt(point: Point): number | undefined {
    const { x, y } = toWorld(this.#view.camera, point);
    return this.#view.scene.nodeAt(x, y);
  }

  #hover(point: Point | undefined): void {
    const node = point === undefined ? undefined : this.#nodeAt(point);
    if (node === this.hovered) return;
    this.hovered = node;
    this.#host.toggleAttribute('data-over', node !== undefined);
    this.#dispatch('nebula-hover', { node: node === undefined ? null : this.#view.scene.nodes[node]!.id });
    this.#view.redrawOverlay();
  }

  #double(point: Point): void {
    const node = this.#nodeAt(point);
    if (node === undefined) return;
    const { id, isGroup } = this.#view.scene.nodes[node]!;
    if (isGroup === true) this.#view.toggle(id);
    else this.#dispatch('nebula-open', { node: id });
  }

  #press(point: Point, event: PointerEvent): Drag {
    if (this.#isOnMinimap(point)) return this.#moveMinimap(point);
    const outlet = this.#view.isEditable ? this.#outletAt(point) : undefined;
    if (outlet !== undefined) return this.#drawConnection(outlet);
    const node = this.#nodeAt(point);
    if (node !== undefined && event.button === 0) return this.#moveNode(node);
    return event.shiftKey && event.button === 0 ? this.#selectArea(point) : this.#moveView();
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
  #moveNode(node: number): Drag {
    const view = this.#view;
    const { id } = view.scene.nodes[node]!;
    if (!view.isEditable) return { ...this.#moveView(), click: (event) => this.#clickNode(id, event) };
    const chosen = view.selected.includes(id) ? view.selected : [id];
    // A node in a group that moves, moves with it.
    const ids = chosen.filter((one) => !groupsAround(view.graph, one).some((group) => chosen.includes(group)));
    const moving = ids.filter((one) => view.scene.indexOf.has(one));
    return {
      move: (_, delta) => view.dragNodes(moving, delta.x / view.camera.zoom, delta.y / view.camera.zoom),
      end: (point) => (point === undefined ? view.undrag() : view.dropNodes(moving)),
      click: (event) => this.#clickNode(id, event),
    };
  }

  #clickNode(id: string, { shiftKey, ctrlKey, metaKey }: PointerEvent): void {
    const { selected } = this.#view;
    this.#view.focusQuietly(id);
    if (!shiftKey && !ctrlKey && !metaKey) this.#view.select([id]);
    else this.#view.select(selected.includes(id) ? selected.filter((one) => one !== id) : [...selected, id]);
  }

  #selectArea(start: Point): Drag {
    const view = this.#view;
    const from = toWorld(view.camera, start);
    return {
      move: (point) => {
        const to = toWorld(view.camera, point);
        this.area = {
          left: Math.min(from.x, to.x),
          top: Math.min(from.y, to.y),
          right: Math.max(from.x, to.x),
          bottom: Math.max(from.y, to.y),
        };
        view.redrawOverlay();
      },
      end: (point) => {
        const nodes = point === undefined || this.area === undefined ? [] : view.scene.nodesIn(this.area);
        this.area = undefined;
        view.select(nodes.map((node) => view.scene.nodes[node]!.id));
        view.redrawOverlay();
      },
      click: () => view.select([]),
    };
  }

  #outletAt(point: Point): Outlet | undefined {
    const { scene, camera } = this.#view;
    const at = toWorld(camera, point);
    const reach = CATCH / camera.zoom;
    const near = scene.nodeAt(at.x, at.y) ?? scene.nodeAt(at.x - reach, at.y) ?? scene.nodeAt(at.x, at.y - reach);
    if (near === undefined) return undefined;
    const { id, ports } = scene.nodes[near]!;
    const outlets: Outlet[] =
      ports === undefined
        ? [
            { from: id, kind: 'success' },
            { from: id, kind: 'error' },
          ]
        : ports.map((port) => ({ from: id, kind: 'case', port: port.id }));
    return outlets.find(({ port, kind }) => distance(scene.outlet(near, port, kind), at) <= reach);
  }

  #drawConnection(outlet: Outlet): Drag {
    const view = this.#view;
    const { scene, graph } = view;
    const from = scene.outlet(scene.indexOf.get(outlet.from)!, outlet.port, outlet.kind);
    const edgeTo = (node: number): Omit<GraphEdge, 'id'> => ({ ...outlet, to: scene.nodes[node]!.id });
    const isAllowedAt = (node: number): boolean => refusalOf(graph, edgeTo(node)) === undefined;
    this.targets = new Set([...scene.nodes.keys()].filter(isAllowedAt));
    const over = (): void => {
      this.connection = undefined;
      this.targets = undefined;
      view.redrawOverlay();
    };
    return {
      move: (point) => {
        const node = this.#nodeAt(point);
        const isAllowed = node === undefined ? undefined : isAllowedAt(node);
        const to = isAllowed === true ? scene.inlet(node!) : toWorld(view.camera, point);
        this.connection = { from, to, isAllowed };
        view.redrawOverlay();
      },
      end: (point) => {
        const node = point === undefined ? undefined : this.#nodeAt(point);
        over();
        if (node !== undefined) view.connect(edgeTo(node));
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
