/** The selected node as a form: every field is an edit of the text. */
import { type DocumentPath, isJsonObject, type Json, type JsonObject, type JsonSchema } from '@nebula/core';
import { type ReactElement, type ReactNode, useState } from 'react';
import { fieldsOf } from '../../editor/parameter-fields.ts';
import { type ActionInfo, findAction, newestActions, referenceOf } from '../../language/catalog.ts';
import type { TextProblem } from '../../language/checking.ts';
import { duplicateNodes } from '../../language/edits/fragments.ts';
import { splitPath } from '../../language/edits/graph-places.ts';
import { removeNodes, renameNode, setValue } from '../../language/edits/nodes.ts';
import { valueAt } from '../../language/edits/source-tree.ts';
import type { ExpressionFacts } from '../../language/expression-completion.ts';
import type { RunValues } from '../../language/run-values.ts';
import { placeIn } from '../../language/scope-types.ts';
import { useText } from '../../text/use-text.ts';
import { Button, Field, IconButton, Select, TextInput } from '../../ui/controls.tsx';
import { Icon } from '../../ui/icons.tsx';
import { editorText } from './editor-text.ts';
import { ExpressionField } from './expression-field.tsx';
import type { Editor } from './use-editor.ts';

interface InspectorProps {
  readonly editor: Editor;
  /** The path of the node. */
  readonly node: string;
  readonly data: Json;
  readonly actions: readonly ActionInfo[];
  readonly run: RunValues | undefined;
  readonly isReadOnly: boolean;
  /** Shown below: the output in the last run. */
  readonly extra?: ReactNode;
  onClose(): void;
}

/** The document path of a node. */
function placeOfNode(data: Json, node: string): DocumentPath {
  let place: DocumentPath = [];
  for (const id of node.split('/')) {
    if (place.length > 0) place = [...place, isJsonObject(valueAt(data, [...place, 'group'])) ? 'group' : 'do'];
    place = [...place, 'nodes', id];
  }
  return place;
}

export function Inspector({
  editor,
  node,
  data,
  actions,
  run,
  isReadOnly,
  extra,
  onClose,
}: InspectorProps): ReactElement | null {
  const { inspector: words } = useText(editorText);
  const place = placeOfNode(data, node);
  const value = valueAt(data, place);
  const definition: JsonObject = isJsonObject(value) ? value : {};
  const facts: ExpressionFacts = { data, actions, run, place: placeIn(place) };
  const isDisabled = isReadOnly || editor.isBroken;
  const action = typeof definition.action === 'string' ? findAction(actions, definition.action) : undefined;
  const problems = (editor.check?.problems ?? []).filter((problem) => problem.node === node);
  const set = (keys: DocumentPath, next: Json | undefined): void => {
    if (editor.code === undefined) return;
    editor.edit(setValue(editor.code.text, node, keys, next), undefined, `input.form.${keys.join('.')}`);
  };
  return (
    <section className="node-form-panel" aria-label={node}>
      <header className="node-form-head">
        <span className="spring truncate">
          <strong>{typeof definition.name === 'string' ? definition.name : splitPath(node).id}</strong>
          <span className="muted"> {kindOf(definition)}</span>
        </span>
        <IconButton icon="copy" label={words.duplicate} disabled={isDisabled} onClick={() => duplicate(editor, node)} />
        <IconButton
          icon="trash"
          label={words.remove}
          disabled={isDisabled}
          onClick={() => editor.code && editor.edit(removeNodes(editor.code.text, [node]), [])}
        />
        <IconButton icon="close" label={words.close} onClick={onClose} />
      </header>
      <div className="node-form-body">
        {problems.length > 0 && <Problems problems={problems} editor={editor} />}
        <NodeNames key={node} editor={editor} node={node} definition={definition} isDisabled={isDisabled} set={set} />
        {typeof definition.action === 'string' && (
          <ActionPart
            action={action}
            actions={actions}
            definition={definition}
            facts={facts}
            isDisabled={isDisabled}
            nodeKey={node}
            set={set}
          />
        )}
        <KindPart definition={definition} facts={facts} isDisabled={isDisabled} nodeKey={node} set={set} />
        <Settings definition={definition} facts={facts} isDisabled={isDisabled} nodeKey={node} set={set} />
        {extra}
      </div>
    </section>
  );
}

function duplicate(editor: Editor, node: string): void {
  if (editor.code === undefined) return;
  const result = duplicateNodes(editor.code.text, [node]);
  editor.edit(result, 'paths' in result ? result.paths : undefined);
}

const KINDS = [
  'branch',
  'forEach',
  'while',
  'retryUntil',
  'workflow',
  'dynamic',
  'wait',
  'set',
  'terminate',
  'split',
  'merge',
  'group',
];

function kindOf(definition: JsonObject): string {
  if (typeof definition.action === 'string') return definition.action;
  return KINDS.find((kind) => definition[kind] !== undefined) ?? '';
}

function Problems({
  problems,
  editor,
}: {
  readonly problems: readonly TextProblem[];
  readonly editor: Editor;
}): ReactElement {
  return (
    <ul className="node-form-problems">
      {problems.map(({ severity, message, hint, from, to, code }) => (
        <li key={`${code}-${from}`}>
          <button
            type="button"
            className={`problem problem-${severity}`}
            onClick={() => {
              editor.code?.show(from, to, true);
              editor.code?.focus();
            }}
          >
            <Icon name="warning" size={14} />
            <span>
              {message}
              {hint !== undefined && <span className="muted"> {hint}</span>}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

interface PartProps {
  readonly definition: JsonObject;
  readonly facts: ExpressionFacts;
  readonly isDisabled: boolean;
  readonly nodeKey: string;
  set(keys: DocumentPath, value: Json | undefined): void;
}

interface NodeNamesProps extends Pick<PartProps, 'definition' | 'isDisabled' | 'set'> {
  readonly editor: Editor;
  readonly node: string;
}

function NodeNames({ editor, node, definition, isDisabled, set }: NodeNamesProps): ReactElement {
  const { inspector: words } = useText(editorText);
  const { graph, id } = splitPath(node);
  const [typed, setTyped] = useState<string>();
  const rename = (next: string): void => {
    setTyped(undefined);
    if (next === id || next === '' || editor.code === undefined) return;
    editor.edit(renameNode(editor.code.text, node, next), [graph === '' ? next : `${graph}/${next}`]);
  };
  return (
    <div className="node-form-pair">
      <Field label={words.id}>
        {(ids) => (
          <TextInput
            {...ids}
            className="mono"
            data-rename
            disabled={isDisabled}
            value={typed ?? id}
            onChange={({ target }) => setTyped(target.value)}
            onBlur={({ target }) => rename(target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter') event.currentTarget.blur();
              else if (event.key === 'Escape') setTyped(undefined);
            }}
          />
        )}
      </Field>
      <Field label={words.name}>
        {(ids) => (
          <LazyText
            ids={ids}
            disabled={isDisabled}
            value={typeof definition.name === 'string' ? definition.name : ''}
            onText={(text) => set(['name'], text === '' ? undefined : text)}
          />
        )}
      </Field>
    </div>
  );
}

/** A text field that changes the text when it is left. */
function LazyText({
  ids,
  value,
  onText,
  disabled,
}: {
  readonly ids: { readonly id: string };
  readonly value: string;
  readonly disabled: boolean;
  onText(text: string): void;
}): ReactElement {
  const [typed, setTyped] = useState<string>();
  return (
    <TextInput
      {...ids}
      disabled={disabled}
      value={typed ?? value}
      onChange={({ target }) => setTyped(target.value)}
      onBlur={({ target }) => {
        setTyped(undefined);
        if (target.value !== value) onText(target.value);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter') event.currentTarget.blur();
      }}
    />
  );
}

interface ActionPartProps extends PartProps {
  readonly action: ActionInfo | undefined;
  readonly actions: readonly ActionInfo[];
}

function ActionPart({ action, actions, definition, facts, isDisabled, nodeKey, set }: ActionPartProps): ReactElement {
  const { inspector: words } = useText(editorText);
  const reference = String(definition.action);
  const schema = isJsonObject(action?.input) ? (action.input as JsonSchema) : undefined;
  const fields = fieldsOf(schema, definition.with);
  const known = newestActions(actions).map(referenceOf);
  return (
    <>
      <section className="node-form-section">
        <h3>{words.action}</h3>
        <Select
          aria-label={words.action}
          disabled={isDisabled}
          value={reference}
          onChange={({ target }) => set(['action'], target.value)}
        >
          {!known.includes(reference) && <option>{reference}</option>}
          {known.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </Select>
        {action?.description != null && <p className="field-hint">{action.description}</p>}
      </section>
      <section className="node-form-section">
        <h3>{words.parameters}</h3>
        {fields.length === 0 && <p className="muted">{words.noParameters}</p>}
        {fields.map(({ name, kind, type, doc, isRequired, choices, placeholder }) => (
          <ExpressionField
            key={`${nodeKey}:${name}`}
            label={name}
            type={type}
            isRequired={isRequired}
            hint={doc}
            placeholder={placeholder}
            kind={kind}
            choices={choices}
            value={isJsonObject(definition.with) ? definition.with[name] : undefined}
            facts={facts}
            isDisabled={isDisabled}
            onValue={(value) => set(['with', name], value)}
          />
        ))}
      </section>
    </>
  );
}

/** The main settings of the kinds that have no action: paths below the node, and whether they are bare expressions. */
const KIND_FIELDS: Readonly<
  Record<
    string,
    readonly { readonly path: DocumentPath; readonly isBare?: true; readonly kind?: 'number' | 'boolean' }[]
  >
> = {
  forEach: [
    { path: ['forEach', 'in'], isBare: true },
    { path: ['forEach', 'parallel'], kind: 'boolean' },
    { path: ['forEach', 'maxConcurrency'], kind: 'number' },
  ],
  while: [
    { path: ['while', 'condition'], isBare: true },
    { path: ['while', 'maxIterations'], kind: 'number' },
  ],
  retryUntil: [
    { path: ['retryUntil', 'until'], isBare: true },
    { path: ['retryUntil', 'attempts'], kind: 'number' },
  ],
  branch: [{ path: ['branch', 'on'], isBare: true }],
  wait: [
    { path: ['wait', 'for'] },
    { path: ['wait', 'until'], isBare: true },
    { path: ['wait', 'signal'] },
    { path: ['wait', 'approval', 'title'] },
    { path: ['wait', 'deadline'] },
  ],
  workflow: [{ path: ['workflow', 'id'] }, { path: ['workflow', 'mode'] }],
  terminate: [{ path: ['terminate'] }],
};

function KindPart({ definition, facts, isDisabled, nodeKey, set }: PartProps): ReactElement | null {
  const { inspector: words } = useText(editorText);
  const kind = KINDS.find((one) => definition[one] !== undefined);
  if (kind === undefined) return null;
  const variables =
    kind === 'set' && isJsonObject(definition.set)
      ? Object.keys(definition.set).map((name) => ({ path: ['set', name] as DocumentPath }))
      : [];
  const fields = [...(KIND_FIELDS[kind] ?? []), ...variables];
  return (
    <section className="node-form-section">
      <h3>{kind}</h3>
      {fields.map((field) => {
        const value = valueAt(definition, field.path);
        const isBare = 'isBare' in field && field.isBare === true;
        // A wait has one of its forms; the others are added in the text.
        if (kind === 'wait' && value === undefined && field.path[1] !== 'deadline') return null;
        return (
          <ExpressionField
            key={`${nodeKey}:${field.path.join('.')}`}
            label={String(field.path.at(-1))}
            kind={'kind' in field && field.kind !== undefined ? field.kind : isBare ? 'expression' : 'text'}
            isBare={isBare && (value === undefined || typeof value === 'string')}
            value={value}
            facts={facts}
            isDisabled={isDisabled}
            onValue={(next) => set(field.path, next)}
          />
        );
      })}
      <p className="field-hint">{words.asText}</p>
    </section>
  );
}

function Settings({ definition, facts, isDisabled, nodeKey, set }: PartProps): ReactElement {
  const { inspector: words } = useText(editorText);
  const { retry, timeout } = definition;
  return (
    <section className="node-form-section">
      <h3>{words.settings}</h3>
      <ExpressionField
        key={`${nodeKey}:when`}
        label={words.when}
        kind="expression"
        isBare
        value={definition.when}
        facts={facts}
        isDisabled={isDisabled}
        onValue={(value) => set(['when'], value)}
      />
      <div className="node-form-pair">
        <ExpressionField
          key={`${nodeKey}:timeout`}
          label={words.timeout}
          kind="text"
          placeholder="10s"
          value={isJsonObject(timeout) ? (timeout.attempt ?? undefined) : timeout}
          facts={facts}
          isDisabled={isDisabled}
          onValue={(value) => set(isJsonObject(timeout) ? ['timeout', 'attempt'] : ['timeout'], value)}
        />
        {!Array.isArray(retry) && (
          <ExpressionField
            key={`${nodeKey}:attempts`}
            label={words.attempts}
            kind="number"
            placeholder="1"
            value={isJsonObject(retry) ? retry.attempts : undefined}
            facts={facts}
            isDisabled={isDisabled}
            onValue={(value) => set(['retry', 'attempts'], value)}
          />
        )}
      </div>
      <div className="node-form-pair">
        <Field label={words.onError}>
          {(ids) => (
            <Select
              {...ids}
              disabled={isDisabled}
              value={typeof definition.onError === 'string' ? definition.onError : ''}
              onChange={({ target }) => set(['onError'], target.value === '' ? undefined : target.value)}
            >
              <option value="">{words.none}</option>
              {['halt', 'ignore', 'branch'].map((one) => (
                <option key={one}>{one}</option>
              ))}
            </Select>
          )}
        </Field>
        <label className="node-form-check">
          <input
            type="checkbox"
            disabled={isDisabled}
            checked={definition.enabled !== false}
            onChange={({ target }) => set(['enabled'], target.checked ? undefined : false)}
          />
          {words.enabled}
        </label>
      </div>
    </section>
  );
}

export function SeveralNodes({
  nodes,
  editor,
  isDisabled,
  onWrap,
}: {
  readonly nodes: readonly string[];
  readonly editor: Editor;
  readonly isDisabled: boolean;
  onWrap(kind: 'group' | 'forEach'): void;
}): ReactElement {
  const { inspector: words } = useText(editorText);
  return (
    <section className="node-form-panel" aria-label={words.several(nodes.length)}>
      <header className="node-form-head">
        <strong className="spring">{words.several(nodes.length)}</strong>
        <IconButton icon="close" label={words.close} onClick={() => editor.select([])} />
      </header>
      <div className="node-form-body node-form-actions">
        <Button disabled={isDisabled} onClick={() => onWrap('group')}>
          {words.wrapGroup}
        </Button>
        <Button disabled={isDisabled} onClick={() => onWrap('forEach')}>
          {words.wrapLoop}
        </Button>
        <Button
          disabled={isDisabled}
          icon="copy"
          onClick={() => {
            if (editor.code === undefined) return;
            const result = duplicateNodes(editor.code.text, nodes);
            editor.edit(result, 'paths' in result ? result.paths : undefined);
          }}
        >
          {words.duplicate}
        </Button>
        <Button
          disabled={isDisabled}
          icon="trash"
          kind="danger"
          onClick={() => editor.code && editor.edit(removeNodes(editor.code.text, nodes), [])}
        >
          {words.remove}
        </Button>
      </div>
    </section>
  );
}
