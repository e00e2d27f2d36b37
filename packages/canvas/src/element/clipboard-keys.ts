/**
 * Copying, cutting and pasting with the events of the document: they need no permission. Browsers send them to the body,
 * not to the element with the focus, so the element listens there while it has it.
 */
import { copyText } from '../model/clipboard.ts';
import type { Dispatch } from './events.ts';
import type { GraphView } from './graph-view.ts';

export class ClipboardKeys {
  readonly #host: HTMLElement;
  readonly #view: () => GraphView | undefined;
  readonly #dispatch: Dispatch;
  #listening = new AbortController();

  constructor(host: HTMLElement, view: () => GraphView | undefined, dispatch: Dispatch) {
    this.#host = host;
    this.#view = view;
    this.#dispatch = dispatch;
  }

  open(): void {
    this.#listening = new AbortController();
    const { signal } = this.#listening;
    const { ownerDocument } = this.#host;
    ownerDocument.addEventListener('copy', (event) => this.#copy(event, false), { signal });
    ownerDocument.addEventListener('cut', (event) => this.#copy(event, true), { signal });
    ownerDocument.addEventListener('paste', (event) => this.#paste(event), { signal });
  }

  close(): void {
    this.#listening.abort();
  }

  /** The focus of an element in a shadow is that of its host. */
  #hasFocus(): boolean {
    const root = this.#host.getRootNode();
    return root instanceof Document || root instanceof ShadowRoot ? root.activeElement === this.#host : false;
  }

  #copy(event: ClipboardEvent, isCut: boolean): void {
    const view = this.#view();
    const clipboard = event.clipboardData;
    if (!this.#hasFocus() || view === undefined || clipboard === null || view.selected.length === 0) return;
    event.preventDefault();
    const nodes = view.selected;
    if (!this.#dispatch('nebula-copy', { nodes, clipboard }))
      clipboard.setData('text/plain', copyText(view.graph, nodes));
    if (isCut && view.isEditable) this.#dispatch('nebula-remove', { nodes, edges: [] });
  }

  #paste(event: ClipboardEvent): void {
    const view = this.#view();
    if (!this.#hasFocus() || view?.isEditable !== true || event.clipboardData === null) return;
    event.preventDefault();
    const into = view.focused === undefined ? undefined : view.graph.nodes.get(view.focused)?.parent;
    this.#dispatch('nebula-paste', { text: event.clipboardData.getData('text/plain'), into });
  }
}
