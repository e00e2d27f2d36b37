/**
 * The text of the workflow in CodeMirror: the only truth and the only undo stack.
 *
 *  1 Every change of the workflow is a transaction here, also one of the canvas or of a form (`apply`).
 *  2 The worker answers for the text that it was asked about; answers for an older text are dropped.
 */
import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete';
import { indentWithTab, redo, redoDepth, undo, undoDepth } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { indentUnit } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import {
  Compartment,
  EditorSelection,
  EditorState,
  StateEffect,
  type StateEffectType,
  StateField,
} from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  hoverTooltip,
  keymap,
  type Tooltip,
  WidgetType,
} from '@codemirror/view';
import { basicSetup } from 'codemirror';
import type { TextProblem } from '../language/checking.ts';
import type { CompletionItem } from '../language/completion-item.ts';
import type { TextEdit } from '../language/edits/text-edit.ts';
import type { ExpressionPreview, Hover } from '../language/hovering.ts';
import { previewText } from '../language/value-types.ts';
import type { LanguageClient } from '../language/worker/language-client.ts';
import { codeTheme } from './code-theme.ts';

export interface CodeEditorOptions {
  readonly parent: HTMLElement;
  readonly text: string;
  readonly language: LanguageClient;
  readonly isReadOnly: boolean;
  /** The name of the field, for screen readers. */
  readonly label: string;
  onText(text: string): void;
  /** The cursor was moved by the person. */
  onCursor(offset: number): void;
  onSave(): void;
}

export interface CodeEditor {
  readonly text: string;
  /** The text with its own line breaks. */
  readonly savedText: string;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  /** `userEvent` names the origin; edits of one origin that follow each other at once are undone together. */
  apply(edits: readonly TextEdit[], userEvent?: string): void;
  replace(text: string): void;
  undo(): void;
  redo(): void;
  focus(): void;
  /** Shows a part of the text, and selects it if asked to. */
  show(from: number, to: number, isSelected?: boolean): void;
  setProblems(problems: readonly TextProblem[]): void;
  setPreviews(previews: readonly ExpressionPreview[]): void;
  /** Marks the lines of the selected node. */
  markLines(range: { readonly from: number; readonly to: number } | undefined): void;
  close(): void;
}

const setMarked = StateEffect.define<{ readonly from: number; readonly to: number } | undefined>();
const setPreviewSet = StateEffect.define<DecorationSet>();

/** Decorations that an effect replaces and that follow the text. */
function decorated<T>(
  effect: StateEffectType<T>,
  make: (value: T, state: EditorState) => DecorationSet,
): StateField<DecorationSet> {
  return StateField.define<DecorationSet>({
    create: () => Decoration.none,
    update: (before, { changes, effects, state }) => {
      let decorations = before.map(changes);
      for (const one of effects) if (one.is(effect)) decorations = make(one.value, state);
      return decorations;
    },
    provide: (field) => EditorView.decorations.from(field),
  });
}

const lineMark = Decoration.line({ class: 'cm-node-line' });

const markedLines = decorated(setMarked, (range, state) => {
  if (range === undefined) return Decoration.none;
  const first = state.doc.lineAt(Math.min(range.from, state.doc.length)).number;
  const last = state.doc.lineAt(Math.min(range.to, state.doc.length)).number;
  const lines = Array.from({ length: last - first + 1 }, (_, index) =>
    lineMark.range(state.doc.line(first + index).from),
  );
  return Decoration.set(lines);
});

const previewField = decorated(setPreviewSet, (set) => set);

class PreviewWidget extends WidgetType {
  readonly #text: string;
  readonly #isError: boolean;

  constructor(text: string, isError: boolean) {
    super();
    this.#text = text;
    this.#isError = isError;
  }

  override eq(other: PreviewWidget): boolean {
    return other.#text === this.#text && other.#isError === this.#isError;
  }

  override toDOM(): HTMLElement {
    const element = document.createElement('span');
    element.className = this.#isError ? 'cm-preview cm-preview-error' : 'cm-preview';
    element.textContent = this.#text;
    element.ariaHidden = 'true';
    return element;
  }
}

/** Characters of a preview: more would wrap the line. */
const MAX_PREVIEW = 36;

/** One preview at the end of each line: that of its last expression. */
function previewSet(previews: readonly ExpressionPreview[], state: EditorState): DecorationSet {
  const byLine = new Map<number, PreviewWidget>();
  for (const { at, result } of previews) {
    if (at > state.doc.length) continue;
    const { to } = state.doc.lineAt(at);
    const isError = 'error' in result;
    const whole = isError ? result.error : (previewText(result.value) ?? '');
    const text = whole.length > MAX_PREVIEW ? `${whole.slice(0, MAX_PREVIEW)}…` : whole;
    byLine.set(to, new PreviewWidget(`${isError ? '⚠' : '='} ${text}`, isError));
  }
  const ranges = [...byLine].map(([at, widget]) => Decoration.widget({ widget, side: 1 }).range(at));
  return Decoration.set(ranges, true);
}

const KINDS: Readonly<Record<CompletionItem['kind'], string>> = {
  key: 'property',
  value: 'enum',
  action: 'function',
  node: 'variable',
  variable: 'variable',
  property: 'property',
  function: 'method',
};

function completionOf({ label, kind, apply, detail, doc, value }: CompletionItem): Completion {
  const shown = [detail, value === undefined ? undefined : `= ${value}`]
    .filter((one) => one !== undefined && one !== '')
    .join('  ');
  return {
    label,
    type: KINDS[kind],
    ...(apply !== undefined && { apply }),
    ...(shown !== '' && { detail: shown }),
    ...(doc !== undefined && { info: doc }),
    boost: kind === 'function' ? -1 : 0,
  };
}

function completionSource(language: LanguageClient) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const before = context.state.sliceDoc(Math.max(0, context.pos - 1), context.pos);
    if (!context.explicit && !/[\w$.:\s{[-]/.test(before)) return null;
    const found = await language.ask<'complete'>({
      kind: 'complete',
      text: context.state.doc.toString(),
      offset: context.pos,
    });
    if (!found || context.aborted) return null;
    // Without a typed character, the list opens only where it helps at once.
    if (
      !context.explicit &&
      found.from === context.pos &&
      !/[.$]/.test(before) &&
      !/:\s$/.test(context.state.sliceDoc(Math.max(0, context.pos - 2), context.pos))
    )
      return null;
    return { from: found.from, to: found.to, options: found.items.map(completionOf), validFor: /^[\w$@.-]*$/ };
  };
}

function hoverElement({ title, detail, doc, value }: Hover): HTMLElement {
  const element = document.createElement('div');
  element.className = 'code-hover';
  const add = (tag: string, text: string | undefined, name: string): void => {
    if (text === undefined || text === '') return;
    const part = document.createElement(tag);
    part.className = name;
    part.textContent = text;
    element.append(part);
  };
  add('strong', title, 'code-hover-title');
  add('span', detail, 'code-hover-detail');
  add('p', doc, 'code-hover-doc');
  add('code', value === undefined ? undefined : `= ${value}`, 'code-hover-value');
  return element;
}

function hovers(language: LanguageClient) {
  return hoverTooltip(async (view, offset): Promise<Tooltip | null> => {
    const found = await language.ask<'hover'>({ kind: 'hover', text: view.state.doc.toString(), offset });
    if (!found || found.to > view.state.doc.length) return null;
    return { pos: found.from, end: found.to, above: true, create: () => ({ dom: hoverElement(found) }) };
  });
}

function diagnosticOf({ from, to, severity, message, hint, code }: TextProblem): Diagnostic {
  return { from, to, severity, message: hint === undefined ? message : `${message}\n${hint}`, source: code };
}

export function openCodeEditor(options: CodeEditorOptions): CodeEditor {
  const { parent, text, language, isReadOnly, label } = options;
  const nonce = document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.content ?? '';
  const editable = new Compartment();
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        EditorView.cspNonce.of(nonce),
        keymap.of([
          {
            key: 'Mod-s',
            preventDefault: true,
            run: () => {
              options.onSave();
              return true;
            },
          },
        ]),
        basicSetup,
        keymap.of([indentWithTab]),
        yaml(),
        indentUnit.of('  '),
        EditorView.lineWrapping,
        lintGutter(),
        autocompletion({ override: [completionSource(language)], icons: false, activateOnTypingDelay: 60 }),
        hovers(language),
        markedLines,
        previewField,
        codeTheme,
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        editable.of(EditorState.readOnly.of(isReadOnly)),
        ...(text.includes('\r\n') ? [EditorState.lineSeparator.of('\r\n')] : []),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) options.onText(update.state.doc.toString());
          const isByHand = update.transactions.some(
            (one) => one.isUserEvent('select') || one.isUserEvent('input') || one.isUserEvent('delete'),
          );
          if (isByHand && update.view.hasFocus) options.onCursor(update.state.selection.main.head);
        }),
      ],
    }),
  });
  return editorOf(view);
}

function editorOf(view: EditorView): CodeEditor {
  const text = (): string => view.state.doc.toString();
  return {
    get text() {
      return text();
    },
    get savedText() {
      return view.state.sliceDoc();
    },
    get canUndo() {
      return undoDepth(view.state) > 0;
    },
    get canRedo() {
      return redoDepth(view.state) > 0;
    },
    apply: (edits, userEvent = 'canvas') => {
      if (edits.length > 0) view.dispatch({ changes: [...edits], userEvent });
    },
    replace: (next) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } }),
    undo: () => undo(view),
    redo: () => redo(view),
    focus: () => view.focus(),
    show: (from, to, isSelected = false) => {
      const end = Math.min(to, view.state.doc.length);
      const start = Math.min(from, end);
      view.dispatch({
        ...(isSelected && { selection: EditorSelection.single(start, end) }),
        effects: EditorView.scrollIntoView(EditorSelection.range(start, end), { y: 'start', yMargin: 40 }),
      });
    },
    setProblems: (problems) => {
      const { length } = view.state.doc;
      view.dispatch(setDiagnostics(view.state, problems.filter(({ to }) => to <= length).map(diagnosticOf)));
    },
    setPreviews: (previews) => view.dispatch({ effects: setPreviewSet.of(previewSet(previews, view.state)) }),
    markLines: (range) => view.dispatch({ effects: setMarked.of(range) }),
    close: () => view.destroy(),
  };
}
