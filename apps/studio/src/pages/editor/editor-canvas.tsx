/** The graph of the text. Every gesture becomes an edit of the text, and comes back as a new graph. */

import type { NebulaGraphElement } from '@nebula/canvas';
import { type Graph, type GraphEdge, type Mark, type NodeRunState, refusalOf } from '@nebula/canvas/model';
import { NebulaGraph } from '@nebula/canvas/react';
import { type ReactElement, type Ref, useMemo, useRef } from 'react';
import { useStudio } from '../../app/studio-context.ts';
import { addNode, connectNodes, removeSelected } from '../../editor/canvas-edits.ts';
import type { NodeTemplate } from '../../editor/node-templates.ts';
import { copyNodes, pasteNodes } from '../../language/edits/fragments.ts';
import { splitPath } from '../../language/edits/graph-places.ts';
import { useText } from '../../text/use-text.ts';
import { editorText } from './editor-text.ts';
import { TEMPLATE_TYPE } from './palette.tsx';
import type { Editor } from './use-editor.ts';
import type { Layout } from './use-layout.ts';
import type { Pins } from './use-pins.ts';

/** Where the next chosen entry of the palette goes. */
export interface AddPlace {
  readonly after: string | undefined;
  readonly edge?: string | undefined;
  readonly kind?: GraphEdge['kind'] | undefined;
  readonly port?: string | undefined;
}

interface EditorCanvasProps {
  readonly editor: Editor;
  readonly layout: Layout;
  readonly templates: readonly NodeTemplate[];
  readonly states: ReadonlyMap<string, NodeRunState>;
  readonly pins: Pins;
  readonly isReadOnly: boolean;
  readonly ref: Ref<NebulaGraphElement>;
  onAdd(place: AddPlace): void;
  onDropped(): void;
  onRename(): void;
}

export function EditorCanvas({
  editor,
  layout,
  templates,
  states,
  pins,
  isReadOnly,
  ref,
  onAdd,
  onDropped,
  onRename,
}: EditorCanvasProps): ReactElement {
  const words = useText(editorText);
  const { theme } = useStudio();
  const { graph, check, code } = editor;
  const isEditable = !isReadOnly && !editor.isBroken;
  const marks = useMemo(
    () => marksOf(check?.problems ?? [], graph, pins, editor.text),
    [check, graph, pins, editor.text],
  );
  const selection = useMemo(() => editor.selection.filter((node) => graph.nodes.has(node)), [editor.selection, graph]);
  const shown = useRef(selection);
  shown.current = selection;
  const parentOf = (node: string | undefined): string =>
    node === undefined ? '' : (graph.nodes.get(node)?.parent ?? '');
  return (
    <NebulaGraph
      ref={ref}
      graph={graph}
      states={states}
      marks={marks}
      selection={selection}
      positions={layout.nodes}
      collapsed={layout.collapsed}
      theme={theme}
      editable={isEditable}
      label={words.graph}
      empty={words.empty}
      onSelect={({ detail }) => {
        // The element also tells of selections that this page made.
        if (!isSame(detail.nodes, shown.current)) editor.select(detail.nodes);
      }}
      onConnect={(event) => {
        event.preventDefault();
        const { from, to, kind, port } = event.detail;
        if (
          code === undefined ||
          refusalOf(graph, { from, to, kind, ...(port !== undefined && { port }) }) !== undefined
        )
          return;
        editor.edit(connectNodes(code.text, { from, to, kind, port }));
      }}
      onRemove={(event) => {
        event.preventDefault();
        const { nodes, edges } = event.detail;
        if (code !== undefined) editor.edit(removeSelected(code.text, graph, nodes, edges), []);
      }}
      onDrop={(event) => {
        event.preventDefault();
        const { data, at, into, edge } = event.detail;
        const template = templates.find(({ key }) => key === data[TEMPLATE_TYPE]);
        if (template === undefined || code === undefined) return;
        onDropped();
        const divided = edge === undefined ? undefined : graph.edges.get(edge);
        const added = addNode(code.text, graph, {
          node: template.node,
          id: template.id,
          into: into ?? '',
          edge: divided,
        });
        if (!('path' in added)) return void editor.edit(added);
        // A node that is dropped on an empty place stays there; one in an edge is placed with its neighbours.
        if (divided === undefined) layout.move({ [added.path]: at });
        editor.edit(added, [added.path]);
      }}
      onAdd={(event) => {
        event.preventDefault();
        const { after, edge, kind, port } = event.detail;
        onAdd({ after, edge, kind, port });
      }}
      onRename={(event) => {
        event.preventDefault();
        editor.select([event.detail.node]);
        onRename();
      }}
      onUndo={(event) => {
        event.preventDefault();
        if (event.detail.isRedo) code?.redo();
        else code?.undo();
      }}
      onCopy={(event) => {
        const fragment = code === undefined ? undefined : copyNodes(code.text, event.detail.nodes);
        if (fragment === undefined) return;
        event.preventDefault();
        event.detail.clipboard.setData('text/plain', fragment);
      }}
      onPaste={(event) => {
        event.preventDefault();
        if (code === undefined) return;
        const last = selection.at(-1);
        const into = event.detail.into ?? parentOf(last);
        const result = pasteNodes(code.text, {
          graph: into,
          fragment: event.detail.text,
          ...(last !== undefined && splitPath(last).graph === into && { after: splitPath(last).id }),
        });
        editor.edit(result, 'paths' in result ? result.paths : undefined);
      }}
      onMove={({ detail }) => layout.move(detail.nodes)}
      onToggle={({ detail }) => layout.collapse(detail.group, detail.isCollapsed)}
    />
  );
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((node, index) => node === other[index]);
}

/** Problems inside of a group count for the group, too, which may be closed. */
function marksOf(
  problems: readonly { readonly node?: string; readonly severity: string }[],
  graph: Graph,
  pins: Pins,
  text: string,
): Map<string, Mark> {
  const marks = new Map<string, { errors: number; warnings: number }>();
  for (const { node, severity } of problems) {
    if (node === undefined || !graph.nodes.has(node)) continue;
    const mark = marks.get(node) ?? { errors: 0, warnings: 0 };
    if (severity === 'error') mark.errors++;
    else mark.warnings++;
    marks.set(node, mark);
  }
  const all = new Map<string, Mark>(marks);
  for (const node of Object.keys(pins.all)) {
    const pin = pins.stateOf(node, text);
    if (pin !== undefined && graph.nodes.has(node)) all.set(node, { ...all.get(node), pin });
  }
  return all;
}
