/** The look of the code: the colours and the type of the Studio, in every theme. */
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const theme = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--surface)', color: 'var(--text)', fontSize: '12.5px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '20px' },
  '.cm-content': { padding: '10px 0', caretColor: 'var(--accent)' },
  '.cm-line': { padding: '0 14px 0 6px' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 24%, transparent)',
  },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--text-3)', border: 'none' },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '30px', padding: '0 6px 0 8px' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--text) 4%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--text)' },
  '.cm-foldPlaceholder': {
    backgroundColor: 'var(--surface-3)',
    border: 'none',
    color: 'var(--text-2)',
    padding: '0 6px',
  },
  '.cm-matchingBracket': { backgroundColor: 'var(--accent-soft)', outline: 'none' },
  '.cm-selectionMatch': { backgroundColor: 'color-mix(in srgb, var(--accent) 14%, transparent)' },
  '.cm-node-line': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 7%, transparent)',
    boxShadow: 'inset 2px 0 var(--accent)',
  },
  '.cm-preview': {
    marginLeft: '14px',
    color: 'var(--text-3)',
    fontStyle: 'italic',
    opacity: '0.9',
    pointerEvents: 'none',
  },
  '.cm-preview-error': { color: 'var(--danger)' },
  '.cm-tooltip': {
    border: '1px solid var(--line)',
    borderRadius: '8px',
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    boxShadow: 'var(--shadow)',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--font-mono)', maxHeight: '16em', minWidth: '300px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': {
    display: 'flex',
    gap: '10px',
    padding: '3px 10px',
    lineHeight: '20px',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent-soft)', color: 'var(--text)' },
  '.cm-completionLabel': { flex: 'none' },
  '.cm-completionMatchedText': { textDecoration: 'none', color: 'var(--accent)', fontWeight: '600' },
  '.cm-completionDetail': {
    marginLeft: 'auto',
    color: 'var(--text-3)',
    fontStyle: 'normal',
    maxWidth: '220px',
    overflow: 'hidden',
    textOverflow: 'ellipsis',
  },
  '.cm-completionInfo': {
    padding: '8px 12px',
    maxWidth: '340px',
    fontFamily: 'var(--font-sans)',
    lineHeight: '18px',
    whiteSpace: 'pre-wrap',
  },
  '.cm-diagnostic': { padding: '6px 12px', borderLeft: '3px solid var(--danger)', fontFamily: 'var(--font-sans)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--status-waiting)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--danger)',
    textUnderlineOffset: '3px',
  },
  '.cm-lintRange-warning': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--status-waiting)',
    textUnderlineOffset: '3px',
  },
  '.cm-lint-marker': { width: '8px', height: '8px', margin: '6px 3px', borderRadius: '50%' },
  '.cm-lint-marker-error': { content: '""', backgroundColor: 'var(--danger)' },
  '.cm-lint-marker-warning': { content: '""', backgroundColor: 'var(--status-waiting)', borderRadius: '2px' },
  '.cm-panels': { backgroundColor: 'var(--surface-2)', color: 'var(--text)', borderColor: 'var(--line)' },
  '.cm-textfield': { backgroundColor: 'var(--surface)', border: '1px solid var(--line-strong)', borderRadius: '4px' },
  '.cm-button': {
    backgroundImage: 'none',
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--line-strong)',
    borderRadius: '4px',
  },
});

const highlight = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--code-key)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-string)' },
  { tag: [tags.number], color: 'var(--code-number)' },
  { tag: [tags.bool, tags.null, tags.keyword], color: 'var(--code-word)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--text-2)', fontStyle: 'italic' },
  { tag: [tags.separator, tags.squareBracket, tags.brace, tags.punctuation], color: 'var(--text-2)' },
  { tag: [tags.labelName, tags.typeName, tags.meta], color: 'var(--code-word)' },
]);

export const codeTheme: Extension = [theme, syntaxHighlighting(highlight)];
