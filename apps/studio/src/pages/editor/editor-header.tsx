/** The name of the workflow, the state of its draft, and what can be done with the text. */
import type { ReactElement, ReactNode } from 'react';
import { Link } from 'wouter';
import { PATHS, workflowPath } from '../../app/routes.ts';
import { useMay } from '../../app/studio-context.ts';
import { useText } from '../../text/use-text.ts';
import { Badge, Button, IconButton } from '../../ui/controls.tsx';
import { Icon } from '../../ui/icons.tsx';
import { editorText } from './editor-text.ts';
import type { DraftState } from './use-draft.ts';
import type { Editor } from './use-editor.ts';

interface EditorHeaderProps {
  readonly workflowId: string | undefined;
  readonly name: string;
  readonly version: number | null;
  readonly file: string | undefined;
  readonly isReadOnly: boolean;
  readonly draft: DraftState;
  readonly editor: Editor;
  readonly isTextShown: boolean;
  /** Buttons before the last one. */
  readonly children?: ReactNode;
  onToggleText(): void;
  onSave(): void;
  onStart(): void;
}

export function EditorHeader({
  workflowId,
  name,
  version,
  file,
  isReadOnly,
  draft,
  editor,
  isTextShown,
  children,
  onToggleText,
  onSave,
  onStart,
}: EditorHeaderProps): ReactElement {
  const words = useText(editorText);
  const { code, check } = editor;
  const mayStart = useMay('operator');
  // Nothing is left to save: the next step is a run.
  const isSaved = draft === 'same' && version !== null;
  const states: Readonly<Record<DraftState, string>> = {
    same: words.isSame,
    unsaved: words.unsaved,
    saving: words.saving,
    saved: words.saved,
    conflict: words.unsaved,
  };
  return (
    <header className="editor-header">
      <nav className="crumbs" aria-label={name}>
        <Link
          href={workflowId === undefined ? PATHS.workflows : workflowPath(workflowId)}
          className="editor-back"
          aria-label={words.back}
        >
          <Icon name="back" />
        </Link>
        <h1 className="truncate">{name}</h1>
        {version !== null && <Badge>v{version}</Badge>}
      </nav>
      {file !== undefined && <span className="muted truncate editor-file">{words.managed(file)}</span>}
      {!isReadOnly && (
        <span className={`draft-state draft-${draft}`} role="status">
          {states[draft]}
        </span>
      )}
      <span className="spring" />
      <ProblemCount editor={editor} />
      <span className="editor-tools">
        {!isReadOnly && (
          <>
            <IconButton icon="undo" label={words.undo} disabled={code?.canUndo !== true} onClick={() => code?.undo()} />
            <IconButton icon="redo" label={words.redo} disabled={code?.canRedo !== true} onClick={() => code?.redo()} />
          </>
        )}
        <IconButton
          icon="file"
          label={isTextShown ? words.hideText : words.showText}
          aria-pressed={isTextShown}
          onClick={onToggleText}
        />
      </span>
      {children}
      {isSaved && mayStart && (
        <Button kind="primary" icon="play" onClick={onStart}>
          {words.start}
        </Button>
      )}
      {!isReadOnly && (!isSaved || !mayStart) && (
        <Button
          kind="primary"
          disabled={isSaved}
          onClick={onSave}
          title={check?.isValid === false ? words.saveDialog.invalid : undefined}
        >
          {words.save}
        </Button>
      )}
    </header>
  );
}

function ProblemCount({ editor }: { readonly editor: Editor }): ReactElement | null {
  const { problems: words } = useText(editorText);
  const { check, code } = editor;
  if (check === undefined) return null;
  const errors = check.problems.filter(({ severity }) => severity === 'error');
  const warnings = check.problems.length - errors.length;
  const [first] = errors.length > 0 ? errors : check.problems;
  if (first === undefined) {
    return (
      <span className="problem-count problem-count-none">
        <Icon name="check" size={14} />
        {words.none}
      </span>
    );
  }
  const parts = [
    ...(errors.length > 0 ? [words.errors(errors.length)] : []),
    ...(warnings > 0 ? [words.warnings(warnings)] : []),
  ];
  return (
    <button
      type="button"
      className={`problem-count problem-count-${errors.length > 0 ? 'error' : 'warning'}`}
      title={first.message}
      onClick={() => {
        if (first.node !== undefined) editor.select([first.node]);
        code?.show(first.from, first.to, true);
        code?.focus();
      }}
    >
      <Icon name="warning" size={14} />
      {parts.join(', ')}
    </button>
  );
}
