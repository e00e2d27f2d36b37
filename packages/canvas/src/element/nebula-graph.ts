/**
 * `<nebula-graph>`: shows a workflow, or a run of it.
 *
 *     <nebula-graph></nebula-graph>
 *     graph.definition = (await nebula.call('getDefinition', { params: { executionId } })).definition;
 *     await graph.follow(nebula.events(executionId));
 *
 * Attributes: `theme` (light, dark, contrast, auto), `direction` (right, down), `editable`, `past`, `minimap` (on, off),
 * `label`, `empty`. With `editable`, nodes can be moved, connected and removed; the element then changes its own graph,
 * unless the page prevents the event that asks for the change. `past` draws a violet frame: the graph shows a moment of
 * the past.
 */
import type { WorkflowDefinition } from '@nebula/core';
import type { Change } from '../model/changes.ts';
import { type Bodies, graphOfDefinition } from '../model/definition.ts';
import { EMPTY_GRAPH, type Graph, type Point } from '../model/graph.ts';
import { GraphHistory } from '../model/history.ts';
import type { Iterations, Scopes } from '../model/iterations.ts';
import { type LiveEvent, LiveRun } from '../model/live-run.ts';
import type { Mark } from '../model/marks.ts';
import { type DrawnRun, type NodeRunState, statesOf } from '../model/run-state.ts';
import type { Camera } from '../view/camera.ts';
import type { EdgeState } from '../view/painting.ts';
import type { ThemeName } from '../view/theme.ts';
import { ENGLISH, type GraphWords } from '../view/words.ts';
import { ClipboardKeys } from './clipboard-keys.ts';
import { editOf } from './edits.ts';
import type { GraphEventName, GraphEvents } from './events.ts';
import { GraphView } from './graph-view.ts';
import { handleKey } from './keys.ts';
import { styleSheet } from './styles.ts';
import { GraphTree, type TreeParts } from './tree.ts';

/** The tree of screen readers is filled this long after the first change that it lacks; a run changes often. */
const TREE_DELAY_MS = { other: 150, states: 400 } as const;

type ById<Value> = ReadonlyMap<string, Value> | Readonly<Record<string, Value>>;

export class NebulaGraphElement extends HTMLElement {
  static readonly observedAttributes = ['theme', 'direction', 'editable', 'minimap', 'label', 'past', 'empty'];
  /** The script that computes large layouts. A page whose bundler moves it sets another address. */
  static workerUrl: string | URL = new URL('../layout/layout-worker.ts', import.meta.url);

  readonly #tree: HTMLUListElement;
  readonly #graphTree: GraphTree;
  readonly #stageHost: HTMLDivElement;
  readonly #empty: HTMLDivElement;
  readonly #status: HTMLDivElement;
  #view: GraphView | undefined;
  #history = new GraphHistory();
  #definition: WorkflowDefinition | null = null;
  #bodies: Bodies = {};
  #states: ReadonlyMap<string, NodeRunState> = new Map();
  #iterations = new Map<string, Iterations>();
  #scopes: Scopes = {};
  #marks: ReadonlyMap<string, Mark> = new Map();
  #edgeStates: ReadonlyMap<string, EdgeState> = new Map();
  #selected: readonly string[] = [];
  #collapsed: ReadonlySet<string> = new Set();
  #words: GraphWords = ENGLISH;
  #treeTimer: ReturnType<typeof setTimeout> | undefined;
  /** Nodes whose items in the tree are out of date; undefined: all of it is. */
  #stale: Set<string> | undefined = new Set();
  #followed = 0;
  readonly #clipboard = new ClipboardKeys(
    this,
    () => this.#view,
    (name, detail) => this.#dispatch(name, detail),
  );
  readonly #dark = globalThis.matchMedia('(prefers-color-scheme: dark)');
  readonly #contrast = globalThis.matchMedia('(prefers-contrast: more)');

  constructor() {
    super();
    // The tree has the focus: screen readers read the node that it names as active.
    const root = this.attachShadow({ mode: 'open', delegatesFocus: true });
    root.adoptedStyleSheets = [styleSheet()];
    this.#stageHost = document.createElement('div');
    this.#stageHost.className = 'stage';
    this.#tree = document.createElement('ul');
    this.#tree.className = 'aside';
    this.#tree.role = 'group';
    this.#tree.tabIndex = 0;
    this.#graphTree = new GraphTree(this.#tree);
    this.#status = document.createElement('div');
    this.#status.className = 'aside';
    this.#status.role = 'status';
    this.#empty = document.createElement('div');
    this.#empty.className = 'empty';
    root.append(this.#stageHost, this.#tree, this.#status, this.#empty);
    this.#listen();
  }

  #listen(): void {
    this.addEventListener('keydown', (event) => {
      const view = this.#view;
      if (view === undefined || event.defaultPrevented) return;
      if (handleKey(view, event, (name, detail) => this.#dispatch(name, detail))) event.preventDefault();
    });
    this.#tree.addEventListener('focus', () => this.#view?.setFocus(true, this.#tree.matches(':focus-visible')));
    this.#tree.addEventListener('blur', () => this.#view?.setFocus(false, false));
    this.#tree.addEventListener('click', ({ target }) => {
      const node = target instanceof Element ? this.#graphTree.nodeOf(target) : undefined;
      if (node === undefined) return;
      this.#view?.focusNode(node);
      this.#view?.select([node]);
    });
    this.addEventListener('pointerdown', () => this.focus({ preventScroll: true }));
    this.addEventListener('dragover', (event) => {
      if (!this.hasAttribute('editable')) return;
      event.preventDefault();
      this.#view?.dragOver(this.#pointOf(event));
    });
    this.addEventListener('dragleave', () => this.#view?.dragOver(undefined));
    this.addEventListener('drop', (event) => this.#drop(event));
  }

  connectedCallback(): void {
    this.role ??= 'group';
    const view = new GraphView({
      host: this,
      stageHost: this.#stageHost,
      workerUrl: () => NebulaGraphElement.workerUrl,
      dispatch: (name, detail) => this.#dispatch(name, detail),
      changed: (states) => this.#refreshTree(states),
      announce: (text) => {
        this.#status.textContent = text;
      },
    });
    this.#view = view;
    this.#settle();
    view.setMoved(this.#history.graph.positions ?? new Map());
    view.setCollapsed(this.#collapsed);
    view.setScopes(this.#scopes);
    view.setGraph(this.#history.graph);
    view.setMarks(this.#marks);
    view.setEdgeStates(this.#edgeStates);
    view.setIterations(this.#iterations);
    view.setStates(this.#states);
    view.select(this.#selected);
    for (const query of [this.#dark, this.#contrast]) query.addEventListener('change', this.#themeChanged);
    this.#clipboard.open();
    void document.fonts.ready.then(() => this.#view?.fontsChanged());
  }

  disconnectedCallback(): void {
    for (const query of [this.#dark, this.#contrast]) query.removeEventListener('change', this.#themeChanged);
    clearTimeout(this.#treeTimer);
    this.#treeTimer = undefined;
    this.#clipboard.close();
    this.#followed++;
    if (this.#view !== undefined) {
      this.#states = this.#view.states;
      this.#collapsed = this.#view.collapsed;
      this.#selected = this.#view.selected;
    }
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
    // Positions belong to the page, and stay when it sets another graph.
    const { positions } = this.#history.graph;
    this.#history = new GraphHistory(
      graph.positions === undefined && positions !== undefined ? { ...graph, positions } : graph,
    );
    this.#show();
  }

  /** A workflow definition as the API returns it. */
  set definition(definition: WorkflowDefinition | null) {
    this.#definition = definition;
    this.graph = definition === null ? EMPTY_GRAPH : graphOfDefinition(definition, this.#bodies);
  }

  /** Definitions of called workflows by the path of the calling node: they are drawn as groups. */
  set bodies(bodies: Bodies) {
    this.#bodies = bodies;
    if (this.#definition !== null) this.definition = this.#definition;
  }

  /** A run document; null: no run. */
  set run(run: DrawnRun | null) {
    this.states = run === null ? new Map() : statesOf(run);
  }

  get states(): ReadonlyMap<string, NodeRunState> {
    return this.#view?.states ?? this.#states;
  }

  /** States by the path of a node in the run: `items/3/pack` is drawn on `items/pack` while iteration 3 is shown. */
  set states(states: ReadonlyMap<string, NodeRunState>) {
    this.#states = new Map(states);
    this.#view?.setStates(this.#states);
  }

  /** Changes the states of some nodes; may be called for every event of a run. */
  update(changes: Iterable<readonly [node: string, state: NodeRunState]>): void {
    if (this.#view === undefined) this.#states = new Map([...this.#states, ...changes]);
    else this.#view.updateStates(changes);
  }

  /**
   * Shows a run live, from its events: past ones, then new ones. Resolves when the events end, when the element is
   * removed, or when another run is followed.
   */
  async follow(events: AsyncIterable<LiveEvent>): Promise<void> {
    const own = ++this.#followed;
    const live = new LiveRun();
    this.states = new Map();
    this.iterations = {};
    for await (const event of events) {
      if (own !== this.#followed) return;
      const change = live.apply(event);
      if (change === undefined) continue;
      this.update([[change.path, change.state]]);
      if ('iterations' in change) this.setIterations(change.path, change.iterations);
    }
  }

  /**
   * The iterations of loops, by the path of the loop in the run: a `Uint8Array` with the status of each (its index in
   * `NODE_STATUSES`), or a `Uint32Array` of cells with counts for each status. They are drawn as a strip.
   */
  set iterations(iterations: ById<Iterations>) {
    this.#iterations = mapOf(iterations);
    this.#view?.setIterations(this.#iterations);
  }

  /** Replaces the iterations of one loop. */
  setIterations(loop: string, iterations: Iterations): void {
    this.#iterations.set(loop, iterations);
    this.#view?.setIterationsOf(loop, iterations);
  }

  /** The iteration that each loop shows: `{ items: 3 }`. A loop that is missing shows a failed one, or the newest. */
  get scopes(): Scopes {
    return this.#view?.scopes ?? this.#scopes;
  }

  set scopes(scopes: Scopes) {
    this.#scopes = scopes;
    this.#view?.setScopes(scopes);
  }

  /** Problems, pins and differences, by the id of a node or an edge. */
  set marks(marks: ById<Mark>) {
    this.#marks = mapOf(marks);
    this.#view?.setMarks(this.#marks);
  }

  /** Which edges a run took, by their ids. Edges that are missing are judged by the states of their ends. */
  set edgeStates(edgeStates: ById<EdgeState>) {
    this.#edgeStates = mapOf(edgeStates);
    this.#view?.setEdgeStates(this.#edgeStates);
  }

  /** Texts in another language. */
  set words(words: Partial<GraphWords>) {
    this.#words = { ...ENGLISH, ...words };
    this.#settle();
    this.#refreshTree();
  }

  get collapsed(): ReadonlySet<string> {
    return this.#view?.collapsed ?? this.#collapsed;
  }

  set collapsed(groups: Iterable<string>) {
    this.#collapsed = new Set(groups);
    this.#view?.setCollapsed(this.#collapsed);
  }

  get positions(): Readonly<Record<string, Point>> {
    return Object.fromEntries(this.#history.graph.positions ?? []);
  }

  /** Positions of nodes that were moved by hand. The others are placed automatically. */
  set positions(positions: Readonly<Record<string, Point>>) {
    const moved = new Map(Object.entries(positions));
    this.#history.replace({ ...this.#history.graph, positions: moved });
    this.#view?.setMoved(moved);
  }

  get selection(): readonly string[] {
    return this.#view?.selected ?? this.#selected;
  }

  set selection(nodes: Iterable<string>) {
    this.#selected = [...nodes];
    this.#view?.select(this.#selected);
  }

  get selectedEdges(): readonly string[] {
    return this.#view?.selectedEdges ?? [];
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
    const { graph } = this.#history;
    this.#empty.textContent = graph.nodes.size === 0 ? (this.getAttribute('empty') ?? '') : '';
    this.#view?.showGraph(graph);
  }

  readonly #themeChanged = (): void => this.#settle();

  #settle(): void {
    this.ariaLabel = this.getAttribute('label') ?? 'Workflow graph';
    this.#tree.ariaLabel = this.ariaLabel;
    const view = this.#view;
    if (view === undefined) return;
    view.isEditable = this.hasAttribute('editable');
    view.isPast = this.hasAttribute('past');
    view.words = this.#words;
    view.hasMinimap = this.getAttribute('minimap') !== 'off';
    view.setDirection(this.getAttribute('direction') === 'down' ? 'down' : 'right');
    view.setTheme(this.#themeName());
  }

  #themeName(): ThemeName {
    const asked = this.getAttribute('theme');
    if (asked === 'light' || asked === 'dark' || asked === 'contrast') return asked;
    return this.#contrast.matches ? 'contrast' : this.#dark.matches ? 'dark' : 'light';
  }

  #refreshTree(states?: readonly string[]): void {
    if (states === undefined) this.#stale = undefined;
    else for (const id of states) this.#stale?.add(id);
    const delay = states === undefined || states.length < 2 ? TREE_DELAY_MS.other : TREE_DELAY_MS.states;
    this.#treeTimer ??= setTimeout(() => {
      this.#treeTimer = undefined;
      const view = this.#view;
      if (view === undefined) return;
      const parts = treePartsOf(view);
      if (this.#stale === undefined) this.#graphTree.fill(parts);
      else {
        this.#graphTree.update(this.#stale, parts);
        this.#graphTree.focus(parts);
      }
      this.#stale = new Set();
    }, delay);
  }

  #pointOf({ clientX, clientY }: MouseEvent): Point {
    const { left, top } = this.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  }

  #drop(event: DragEvent): void {
    const { dataTransfer } = event;
    this.#view?.dragOver(undefined);
    if (!this.hasAttribute('editable') || dataTransfer === null || this.#view === undefined) return;
    event.preventDefault();
    const place = this.#view.placeAt(this.#pointOf(event));
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
    if (name === 'nebula-undo') {
      if ((detail as GraphEvents['nebula-undo']).isRedo) this.#history.redo();
      else this.#history.undo();
      this.#show();
      return;
    }
    const change = editOf(this.graph, name, detail);
    if (change !== undefined) this.apply(change);
  }
}

function mapOf<Value>(values: ById<Value>): Map<string, Value> {
  return new Map(values instanceof Map ? values : Object.entries(values));
}

function treePartsOf(view: GraphView): TreeParts {
  return {
    graph: view.graph,
    words: view.words,
    focused: view.focused,
    stateOf: (id) => view.stateOf(id),
    markOf: (id) => view.markOf(id),
    isCollapsed: (id) => view.collapsed.has(id),
    isSelected: (id) => view.isSelected(id),
  };
}

/** Makes `<nebula-graph>` known to the page; a second call does nothing. */
export function defineNebulaGraph(name = 'nebula-graph'): void {
  if (customElements.get(name) === undefined) customElements.define(name, NebulaGraphElement);
}
