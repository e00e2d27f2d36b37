/** Name and id of a new workflow. Until the id is changed by hand, it follows the name. */
import type { Json } from '@nebula/core';
import type { ReactElement } from 'react';
import { setValue } from '../../language/edits/nodes.ts';
import { useText } from '../../text/use-text.ts';
import { Field, TextInput } from '../../ui/controls.tsx';
import { idOf, nameOf } from './editor-hooks.ts';
import { editorText } from './editor-text.ts';
import type { Editor } from './use-editor.ts';

interface WorkflowNamesProps {
  readonly editor: Editor;
  readonly data: Json;
  /** Another workflow has the id. */
  readonly isTaken: boolean;
}

export function WorkflowNames({ editor, data, isTaken }: WorkflowNamesProps): ReactElement {
  const { saveDialog: words } = useText(editorText);
  const id = idOf(data) ?? '';
  const name = nameOf(data) ?? '';
  const set = (key: 'id' | 'name', value: string | undefined): void => {
    if (editor.code !== undefined)
      editor.edit(setValue(editor.code.text, '', [key], value), undefined, 'input.form.names');
  };
  return (
    <div className="inspector-pair">
      <Field label={words.name}>
        {(ids) => (
          <TextInput
            {...ids}
            value={name}
            onChange={({ target }) => {
              if (followsName(id, name) && idFrom(target.value) !== '') set('id', idFrom(target.value));
              set('name', target.value);
            }}
          />
        )}
      </Field>
      <Field label={words.id} hint={words.idHint} problem={isTaken ? words.idTaken : undefined}>
        {(ids) => <TextInput {...ids} className="mono" value={id} onChange={({ target }) => set('id', target.value)} />}
      </Field>
    </div>
  );
}

function idFrom(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** Also with the number that a new workflow gets. */
function followsName(id: string, name: string): boolean {
  return id.replace(/-\d+$/, '') === idFrom(name).replace(/-\d+$/, '') || name === '';
}
