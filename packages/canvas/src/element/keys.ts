/** The keys of the element. */
import { copyText } from '../model/clipboard.ts';
import type { Dispatch } from './events.ts';
import type { GraphView } from './graph-view.ts';
import { type Arrow, neighbour } from './navigation.ts';

const ZOOM_STEP = 1.3;

/** Handles a key; returns whether it meant something. */
export function handleKey(view: GraphView, event: KeyboardEvent, dispatch: Dispatch): boolean {
  const { key } = event;
  const hasCtrl = event.ctrlKey || event.metaKey;
  const current = view.focused ?? view.selected[0];
  if (hasCtrl) return ctrlKey(view, key.toLowerCase(), event.shiftKey, dispatch);
  if (key.startsWith('Arrow')) {
    const next = neighbour(view.sceneGraph, view.scene, current, key as Arrow);
    if (next === undefined) return true;
    view.focusNode(next);
    view.select(event.shiftKey ? [...view.selected, next] : [next]);
    return true;
  }
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
    case ' ':
      if (current !== undefined) view.toggle(current);
      return current !== undefined;
    case 'Enter':
      if (current !== undefined) dispatch('nebula-open', { node: current });
      return current !== undefined;
    case 'Escape':
      return view.escape();
    default:
      return view.isEditable && editKey(view, key, current, dispatch);
  }
}

function ctrlKey(view: GraphView, key: string, hasShift: boolean, dispatch: Dispatch): boolean {
  if (key === 'a') {
    view.select(view.scene.nodes.map(({ id }) => id));
    return true;
  }
  if (key === 'c' && view.selected.length > 0) {
    void navigator.clipboard.writeText(copyText(view.graph, view.selected));
    return true;
  }
  if (!view.isEditable) return false;
  if (key === 'z' || key === 'y') {
    dispatch('nebula-undo', { isRedo: key === 'y' || hasShift });
    return true;
  }
  if (key === 'v') {
    const into = view.focused === undefined ? undefined : view.graph.nodes.get(view.focused)?.parent;
    void navigator.clipboard.readText().then((text) => dispatch('nebula-paste', { text, into }));
    return true;
  }
  return false;
}

function editKey(view: GraphView, key: string, current: string | undefined, dispatch: Dispatch): boolean {
  const { selected } = view;
  switch (key) {
    case 'Delete':
    case 'Backspace':
      if (selected.length > 0) dispatch('nebula-remove', { nodes: selected, edges: [] });
      return true;
    case 'a':
      dispatch('nebula-add', { after: current });
      return true;
    case 'F2':
      if (current !== undefined) dispatch('nebula-rename', { node: current });
      return true;
    case 'c':
      if (selected.length === 2) view.connect({ from: selected[0]!, to: selected[1]!, kind: 'success' });
      return true;
    default:
      return false;
  }
}
