/** The keys of the element. Everything that a pointer does can be done with them. */
import { groupsAround } from '../model/graph.ts';
import type { Dispatch } from './events.ts';
import type { GraphView } from './graph-view.ts';
import { type Arrow, neighbour } from './navigation.ts';

const ZOOM_STEP = 1.3;
/** Pixels that a key moves the view, and a node: one step of the grid. */
const PAN_STEP = 80;
const MOVE_STEP = 8;

const DIRECTIONS: Readonly<Record<Arrow, readonly [x: number, y: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Handles a key; returns whether it meant something. */
export function handleKey(view: GraphView, event: KeyboardEvent, dispatch: Dispatch): boolean {
  const { key } = event;
  const hasCtrl = event.ctrlKey || event.metaKey;
  const current = view.focused ?? view.selected[0];
  if (view.edgeKeys.connecting !== undefined) return connectKey(view, event);
  if (Object.hasOwn(DIRECTIONS, key)) return arrowKey(view, key as Arrow, event, current);
  if (hasCtrl) return ctrlKey(view, key.toLowerCase(), event.shiftKey, dispatch);
  switch (key) {
    case '+':
    case '=':
      view.zoomBy(ZOOM_STEP);
      return true;
    case '-':
      view.zoomBy(1 / ZOOM_STEP);
      return true;
    case 'f':
      view.fit();
      return true;
    case '0':
      view.zoomBy(1 / view.camera.zoom);
      return true;
    case 'Escape':
      return view.escape();
    case 'ContextMenu':
      return menuKey(view, current, dispatch);
    case 'F10':
      return event.shiftKey && menuKey(view, current, dispatch);
    default:
      return current !== undefined && nodeKey(view, event, current, dispatch);
  }
}

function arrowKey(view: GraphView, key: Arrow, event: KeyboardEvent, current: string | undefined): boolean {
  const [x, y] = DIRECTIONS[key];
  if (event.ctrlKey || event.metaKey) {
    view.panBy(-x * PAN_STEP, -y * PAN_STEP);
    return true;
  }
  if (event.altKey) {
    const moving = view.selected.filter((id) => view.scene.indexOf.has(id));
    if (!view.isEditable || moving.length === 0) return false;
    view.dragNodes(moving, x * MOVE_STEP, y * MOVE_STEP);
    view.dropNodes(moving);
    return true;
  }
  const next = neighbour(view.sceneGraph, view.scene, current, key);
  if (next === undefined) return true;
  view.focusNode(next);
  view.select(event.shiftKey ? [...view.selected, next] : [next]);
  return true;
}

function ctrlKey(view: GraphView, key: string, hasShift: boolean, dispatch: Dispatch): boolean {
  if (key === 'a') {
    view.select(view.scene.nodes.map(({ id }) => id));
    return true;
  }
  if (!view.isEditable || (key !== 'z' && key !== 'y')) return false;
  dispatch('nebula-undo', { isRedo: key === 'y' || hasShift });
  return true;
}

/** Keys that mean the node with the focus. */
function nodeKey(view: GraphView, { key, shiftKey }: KeyboardEvent, current: string, dispatch: Dispatch): boolean {
  switch (key) {
    case ' ':
      view.toggle(current);
      return true;
    case 'Enter':
      dispatch('nebula-open', { node: current });
      return true;
    case 'h':
      view.toggleHighlight(current);
      return true;
    case 'e':
      view.edgeKeys.selectNext(current);
      return true;
    case 'PageUp':
    case 'PageDown': {
      const loop = loopOf(view, current);
      if (loop !== undefined) view.stepIteration(loop, key === 'PageDown' ? 1 : -1, shiftKey ? 'failed' : undefined);
      return loop !== undefined;
    }
    default:
      return view.isEditable && editKey(view, key, shiftKey, current, dispatch);
  }
}

/** The node itself, or the innermost loop around it. */
function loopOf(view: GraphView, id: string): string | undefined {
  return [id, ...groupsAround(view.graph, id)].find((one) => view.graph.nodes.get(one)?.kind === 'loop');
}

function menuKey(view: GraphView, current: string | undefined, dispatch: Dispatch): boolean {
  const box = current === undefined ? undefined : view.boxOf(current);
  const at = box === undefined ? { x: 0, y: 0 } : { x: box.x + box.width / 2, y: box.y + box.height };
  dispatch('nebula-menu', { node: current ?? null, edge: view.selectedEdges[0] ?? null, at });
  // Else the browser asks for a menu, too, at a place that means nothing.
  return true;
}

function editKey(view: GraphView, key: string, hasShift: boolean, current: string, dispatch: Dispatch): boolean {
  const { selected, selectedEdges } = view;
  switch (key) {
    case 'Delete':
    case 'Backspace':
      if (selected.length + selectedEdges.length > 0)
        dispatch('nebula-remove', { nodes: selected, edges: selectedEdges });
      return true;
    case 'a':
      dispatch('nebula-add', { after: current });
      return true;
    case 'Tab':
      // A page that adds nothing lets the focus go on; Escape ends the selection, and with it this meaning of the key.
      return !hasShift && dispatch('nebula-add', { after: current });
    case 'F2':
      dispatch('nebula-rename', { node: current });
      return true;
    case 'c':
      if (selected.length === 2) view.connect({ from: selected[0]!, to: selected[1]!, kind: 'success' });
      else view.edgeKeys.start(current);
      return true;
    default:
      return false;
  }
}

/** While an edge is drawn with the keyboard: arrows choose its end, `c` its outlet. */
function connectKey(view: GraphView, { key }: KeyboardEvent): boolean {
  switch (key) {
    case 'ArrowRight':
    case 'ArrowDown':
      view.edgeKeys.step(1);
      return true;
    case 'ArrowLeft':
    case 'ArrowUp':
      view.edgeKeys.step(-1);
      return true;
    case 'c':
      view.edgeKeys.step('outlet');
      return true;
    case 'Enter':
      view.edgeKeys.end(true);
      return true;
    default:
      view.edgeKeys.end(false);
      return key !== 'Tab';
  }
}
