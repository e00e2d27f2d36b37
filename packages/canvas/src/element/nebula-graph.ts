/**
 * `<nebula-graph>`: shows a workflow, or a run of it.
 *
 *     <nebula-graph></nebula-graph>
 *     graph.definition = (await nebula.call('getDefinition', { params: { executionId } })).definition;
 *     graph.run = await nebula.call('getExecution', { params: { executionId } });
 *
 * With the attribute `editable`, nodes can be moved, connected and removed; the element then changes its own graph,
 * unless the page prevents the event that asks for the change.
 */
import type { WorkflowDefinition } from '@nebula/core';
import type { Direction } from '../layout/layout.ts';
import type { Change } from '../model/changes.ts';
import { pasteChange } from '../model/clipboard.ts';
import { graphOfDefinition } from '../model/definition.ts';
import { EMPTY_GRAPH, edgeId, type Graph, type Point } from '../model/graph.ts';
import { GraphHistory } from '../model/history.ts';
import { type DrawnRun, type NodeRunState, statesOf } from '../model/run-state.ts';
import type { Camera } from '../view/camera.ts';
import type { ThemeName } from '../view/theme.ts';
import type { GraphEventName, GraphEvents } from './events.ts';
import { GraphView } from './graph-view.ts';
import { handleKey } from './keys.ts';
import { styleSheet } from './styles.ts';
import { fillTree, itemId } from './tree.ts';

/** The tree of screen readers is filled this long after the first change that it lacks. */
const TREE_DELAY_MS = 150;

export class NebulaGraphElement extends HTMLElement {
  static readonly observedAttributes = ['theme', 'direction', 'editable', 'minimap', 'label'];
  /** The script that computes large layouts. A page whose bundler moves it sets another address. */
  static workerUrl: string | URL = new URL('../layout/layout-worker.ts', import.meta.url);

  readonly #tree: HTMLUListElement;
  readonly #stageHost: HTMLDivElement;
  readonly #empty: HTMLDivElement;
  #view: GraphView | undefined;
  #history = new GraphHistory();
  #states: ReadonlyMap<string, NodeRunState> = new Map();
  #collapsed: ReadonlySet<string> = new Set();
  #moved: ReadonlyMap<string, Point> = new Map();
  #treeTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #dark = globalThis.matchMedia('(prefers-color-scheme: dark)');
  readonly #contrast = globalThis.matchMedia('(prefers-contrast: more)');

  constructor() {
    super();
    const root = this.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [styleSheet()];
    this.#stageHost = document.createElement('div');
    this.#stageHost.className = 'stage';
    this.#tree = document.createElement('ul');
    this.#tree.role = 'tree';
    this.#empty = document.createElement('div');
    this.#empty.className = 'empty';
    root.append(this.#stageHost, this.#tree, this.#empty);
    this.addEventListener('keydown', (event) => {
      const view = this.#view;
      if (view === undefined) return;
      if (handleKey(view, event, (name, detail) => this.#dispatch(name, detail))) event.preventDefault();
    });
    this.addEventListener('focus', () => this.#view?.setFocus(true));
    this.addEventListener('blur', () => this.#view?.setFocus(false));
    this.addEventListener('pointerdown', () => this.focus({ preventScroll: true }));
    this.addEventListener('dragover', (event) => {
      if (this.hasAttribute('editable')) event.preventDefault();
    });
    this.addEventListener('drop', (event) => this.#drop(event));
  }

  connectedCallback(): void {
    this.tabIndex = this.tabIndex < 0 ? 0 : this.tabIndex;
    this.role ??= 'group';
    const view = new GraphView({
      host: this,
      stageHost: this.#stageHost,
      workerUrl: () => NebulaGraphElement.workerUrl,
      dispatch: (name, detail) => this.#dispatch(name, detail),
      changed: () => this.#refreshTree(),
    });
    this.#view = view;
    this.#settle();
    view.setMoved(this.#moved);
    view.setCollapsed(this.#collapsed);
    view.setGraph(this.#history.graph);
    view.setStates(this.#states);
    for (const query of [this.#dark, this.#contrast]) query.addEventListener('change', this.#themeChanged);
    void document.fonts.ready.then(() => this.#view?.fontsChanged());
  }

  disconnectedCallback(): void {
    for (const query of [this.#dark, this.#contrast]) query.removeEventListener('change', this.#themeChanged);
    clearTimeout(this.#treeTimer);
    this.#treeTimer = undefined;
    this.#view?.close();
    this.#view = undefined;
    this.#stageHost.replaceChildren();
  }

  attributeChangedCallback(): void {
    this.#settle();
  }

  get graph(): Graph {
    return this.#history.graph;
  }

  set graph(graph: Graph) {
    this.#history = new GraphHistory(graph);
    this.#show();
  }

  /** A workflow definition as the API returns it. */
  set definition(definition: WorkflowDefinition | null) {
    this.graph = definition === null ? EMPTY_GRAPH : graphOfDefinition(definition);
  }

  /** A run document; null: no run. */
  set run(run: DrawnRun | null) {
    this.states = run === null ? new Map() : statesOf(run);
  }

  get states(): ReadonlyMap<string, NodeRunState> {
    return this.#states;
  }

  set states(states: ReadonlyMap<string, NodeRunState>) {
    this.#states = new Map(states);
    this.#view?.setStates(this.#states);
  }

  /** Changes the states of some nodes; may be called for every event of a run. */
  update(changes: Iterable<readonly [node: string, state: NodeRunState]>): void {
    if (this.#view === undefined) this.#states = new Map([...this.#states, ...changes]);
    else this.#view.updateStates(changes);
  }

  get collapsed(): ReadonlySet<string> {
    return this.#view?.collapsed ?? this.#collapsed;
  }

  set collapsed(groups: Iterable<string>) {
    this.#collapsed = new Set(groups);
    this.#view?.setCollapsed(this.#collapsed);
  }

  /** Positions of nodes that were moved by hand. The others are placed automatically. */
  set positions(positions: Readonly<Record<string, Point>>) {
    this.#moved = new Map(Object.entries(positions));
    this.#view?.setMoved(this.#moved);
  }

  get selection(): readonly string[] {
    return this.#view?.selected ?? [];
  }

  set selection(nodes: Iterable<string>) {
    this.#view?.select(nodes);
  }

  get camera(): Camera {
    return this.#view?.camera ?? { x: 0, y: 0, zoom: 1 };
  }

  set camera(camera: Camera) {
    this.#view?.setCamera(camera);
  }

  fit(nodes?: Iterable<string>): void {
    this.#view?.fit(nodes);
  }

  zoomBy(factor: number): void {
    this.#view?.zoomBy(factor);
  }

  panBy(dx: number, dy: number): void {
    this.#view?.panBy(dx, dy);
  }

  focusNode(node: string): void {
    this.#view?.focusNode(node);
  }

  /** Shows the path through a node; null: everything. */
  highlight(node: string | null): void {
    this.#view?.highlight(node ?? undefined);
  }

  toggle(group: string): void {
    this.#view?.toggle(group);
  }

  /** Where a node is, relative to the element. */
  boxOf(node: string): { x: number; y: number; width: number; height: number } | undefined {
    return this.#view?.boxOf(node);
  }

  /** Changes the graph as an edit, which can be undone. */
  apply(change: Change): void {
    this.#history.apply(change);
    this.#show();
  }

  #show(): void {
    this.#empty.textContent = this.#history.graph.nodes.size === 0 ? (this.getAttribute('empty') ?? '') : '';
    this.#view?.setGraph(this.#history.graph);
  }

  readonly #themeChanged = (): void => this.#settle();

  #settle(): void {
    this.ariaLabel = this.getAttribute('label') ?? 'Workflow graph';
    this.#tree.ariaLabel = this.ariaLabel;
    const view = this.#view;
    if (view === undefined) return;
    view.isEditable = this.hasAttribute('editable');
    view.hasMinimap = this.getAttribute('minimap') !== 'off';
    view.setDirection(this.getAttribute('direction') === 'down' ? 'down' : ('right' satisfies Direction));
    view.setTheme(this.#themeName());
  }

  #themeName(): ThemeName {
    const asked = this.getAttribute('theme');
    if (asked === 'light' || asked === 'dark' || asked === 'contrast') return asked;
    return this.#contrast.matches ? 'contrast' : this.#dark.matches ? 'dark' : 'light';
  }

  #refreshTree(): void {
    this.#treeTimer ??= setTimeout(() => {
      this.#treeTimer = undefined;
      const view = this.#view;
      if (view === undefined) return;
      fillTree(this.#tree, {
        graph: view.graph,
        stateOf: (id) => view.stateOf(id),
        isCollapsed: (id) => view.collapsed.has(id),
      });
      if (view.focused === undefined) this.#tree.removeAttribute('aria-activedescendant');
      else this.#tree.setAttribute('aria-activedescendant', itemId(view.focused));
    }, TREE_DELAY_MS);
  }

  #drop(event: DragEvent): void {
    const { dataTransfer } = event;
    if (!this.hasAttribute('editable') || dataTransfer === null || this.#view === undefined) return;
    event.preventDefault();
    const { left, top } = this.getBoundingClientRect();
    const place = this.#view.placeAt({ x: event.clientX - left, y: event.clientY - top });
    const data = Object.fromEntries(dataTransfer.types.map((type) => [type, dataTransfer.getData(type)]));
    this.#dispatch('nebula-drop', { data, ...place });
  }

  #dispatch<Name extends GraphEventName>(name: Name, detail: GraphEvents[Name]): boolean {
    const event = new CustomEvent(name, { detail, bubbles: true, composed: true, cancelable: true });
    const isPrevented = !this.dispatchEvent(event);
    if (!isPrevented && this.hasAttribute('editable')) this.#edit(name, detail);
    return isPrevented;
  }

  /** The element's own answer to an edit. */
  #edit(name: GraphEventName, detail: object): void {
    const { graph } = this.#history;
    if (name === 'nebula-undo') {
      if ((detail as GraphEvents['nebula-undo']).isRedo) this.#history.redo();
      else this.#history.undo();
      this.#show();
    } else if (name === 'nebula-connect') {
      const { port, ...ends } = detail as GraphEvents['nebula-connect'];
      const edge = { ...ends, ...(port === undefined ? {} : { port }) };
      this.apply({ type: 'add', nodes: [], edges: [{ id: edgeId(edge), ...edge }] });
    } else if (name === 'nebula-remove') {
      this.apply({ type: 'remove', ...(detail as GraphEvents['nebula-remove']) });
    } else if (name === 'nebula-paste') {
      const { text, into } = detail as GraphEvents['nebula-paste'];
      const change = pasteChange(graph, text, into);
      if (change !== undefined) this.apply(change);
    }
  }
}

/** Makes `<nebula-graph>` known to the page; a second call does nothing. */
export function defineNebulaGraph(name = 'nebula-graph'): void {
  if (customElements.get(name) === undefined) customElements.define(name, NebulaGraphElement);
}
