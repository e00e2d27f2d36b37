/** The inspector of the selected nodes, and the text. */
import type { Json } from '@nebula/core';
import type { ReactElement } from 'react';
import type { ActionInfo } from '../../language/catalog.ts';
import { freeId, splitPath } from '../../language/edits/graph-places.ts';
import { wrapNodes } from '../../language/edits/wrap.ts';
import type { RunValues } from '../../language/run-values.ts';
import { Inspector, SeveralNodes } from './inspector.tsx';
import { LastOutput } from './last-output.tsx';
import type { Editor } from './use-editor.ts';
import type { Pins } from './use-pins.ts';

interface EditorSideProps {
  readonly editor: Editor;
  readonly data: Json;
  readonly actions: readonly ActionInfo[];
  readonly run: RunValues | undefined;
  readonly pins: Pins;
  readonly isReadOnly: boolean;
  readonly isTextShown: boolean;
}

export function EditorSide({
  editor,
  data,
  actions,
  run,
  pins,
  isReadOnly,
  isTextShown,
}: EditorSideProps): ReactElement {
  const wrap = (kind: 'group' | 'forEach'): void => {
    if (editor.code === undefined) return;
    const paths = editor.selection;
    const graph = splitPath(paths[0] ?? '').graph;
    const taken = [...editor.graph.nodes.keys()].map((path) => splitPath(path).id);
    const id = freeId(taken, kind === 'group' ? 'group' : 'each');
    editor.edit(
      wrapNodes(editor.code.text, { paths, id, kind, ...(kind === 'forEach' && { setting: { in: '$input.items' } }) }),
      [graph === '' ? id : `${graph}/${id}`],
    );
  };
  const selected = editor.selection.filter((one) => editor.graph.nodes.has(one));
  const [node] = selected;
  return (
    <div className="editor-side" hidden={!isTextShown && selected.length === 0}>
      {node !== undefined && selected.length === 1 && (
        <Inspector
          editor={editor}
          node={node}
          data={data}
          actions={actions}
          run={run}
          isReadOnly={isReadOnly}
          extra={<LastOutput node={node} run={run} pins={pins} text={editor.text} />}
          onClose={() => editor.select([])}
        />
      )}
      {selected.length > 1 && (
        <SeveralNodes nodes={selected} editor={editor} isDisabled={isReadOnly || editor.isBroken} onWrap={wrap} />
      )}
      <div className="editor-code" ref={editor.attach} hidden={!isTextShown} />
    </div>
  );
}
