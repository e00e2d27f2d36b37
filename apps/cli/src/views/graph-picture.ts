/** A workflow as boxes and lines in the terminal, layer under layer. */
import type { Colors } from '../terminal/io.ts';
import { fit, printableLine, visibleWidth } from '../terminal/width.ts';
import { Canvas, DOWN, UP } from './canvas.ts';
import { centreOf, type Item, type Link, layout } from './layered-layout.ts';
import { outlineOf } from './outline.ts';
import type { Paint } from './theme.ts';
import type { GraphEdge, GraphNode, WorkflowGraph } from './workflow-graph.ts';

export interface PictureOptions {
  readonly colors: Colors;
  readonly width: number;
}

const MAX_DRAWN_NODES = 150;
const MAX_LABEL_CELLS = 26;
const MAX_NOTE_CELLS = 24;

/** Boxes with their actions when they fit, boxes with names only when these do, else an indented list. */
export function pictureLines(graph: WorkflowGraph, options: PictureOptions): string[] {
  if (graph.nodes.length === 0) return ['the workflow has no nodes'];
  const drawn = graph.nodes.length <= MAX_DRAWN_NODES ? drawnLines(graph, options) : undefined;
  return [...(drawn ?? listLines(graph, options.colors)), ...conditionLines(graph, options.colors)];
}

function drawnLines(graph: WorkflowGraph, options: PictureOptions): string[] | undefined {
  for (const withActions of [true, false]) {
    const labels = graph.nodes.map((node) => labelOf(node, withActions));
    const layers = layout(graph, (node) => Math.max(...(labels[node] as string[]).map(visibleWidth)) + 4);
    const width = Math.max(...layers.flat().map((item) => item.x + item.width));
    if (width <= options.width) return new Picture(graph, labels, layers, options.colors).draw();
  }
  return undefined;
}

function labelOf(node: GraphNode, withAction: boolean): string[] {
  const name = fit(printableLine(node.name), MAX_LABEL_CELLS);
  return withAction ? [name, fit(node.action, MAX_LABEL_CELLS)] : [name];
}

class Picture {
  readonly #graph: WorkflowGraph;
  readonly #labels: readonly string[][];
  readonly #layers: readonly Item[][];
  readonly #colors: Colors;
  readonly #canvas = new Canvas();
  readonly #boxRows: number;

  constructor(graph: WorkflowGraph, labels: readonly string[][], layers: readonly Item[][], colors: Colors) {
    this.#graph = graph;
    this.#labels = labels;
    this.#layers = layers;
    this.#colors = colors;
    this.#boxRows = (labels[0]?.length ?? 1) + 2;
  }

  draw(): string[] {
    let y = 0;
    for (const layer of this.#layers) {
      for (const item of layer) this.#item(item, y);
      y += this.#boxRows;
      y = this.#channel(layer, y);
    }
    return this.#canvas.toLines();
  }

  #item(item: Item, y: number): void {
    const bottom = y + this.#boxRows - 1;
    if (item.node === null) {
      const link = item.below[0] as Link;
      this.#canvas.vertical(item.x, y, bottom, this.#edgePaint(link.edge));
      return;
    }
    const node = this.#graph.nodes[item.node] as GraphNode;
    const colors = this.#colors;
    const paint = node.enabled ? undefined : colors.dim;
    const right = item.x + item.width - 1;
    const bar = '─'.repeat(item.width - 2);
    this.#canvas.text(item.x, y, `╭${bar}╮`, paint);
    this.#canvas.text(item.x, bottom, `╰${bar}╯`, paint);
    (this.#labels[item.node] as string[]).forEach((text, at) => {
      this.#canvas.text(item.x, y + 1 + at, '│', paint);
      this.#canvas.text(item.x + 2, y + 1 + at, text, at === 0 && node.enabled ? colors.bold : colors.dim);
      this.#canvas.text(right, y + 1 + at, '│', paint);
    });
    if (item.below.length > 0) this.#canvas.text(centreOf(item), bottom, '┬', paint);
  }

  /** The lines between two layers: one track per source where edges do not go straight down. Returns the next free row. */
  #channel(layer: readonly Item[], top: number): number {
    const sources = layer.filter((item) => item.below.length > 0);
    if (sources.length === 0) return top;
    const tracks = assignTracks(sources);
    const rows = Math.max(0, ...tracks.values()) + 1;
    const arrows = top + rows;
    for (const source of sources) {
      for (const link of source.below) this.#link(link, top, top + (tracks.get(source) ?? 0), arrows);
    }
    const targets = new Set(sources.flatMap((source) => source.below.map((link) => link.to)));
    for (const target of targets) this.#arrow(target, arrows);
    for (const target of targets) this.#note(target, arrows);
    return arrows + 1;
  }

  #link(link: Link, top: number, track: number, arrows: number): void {
    const [fromX, toX] = [centreOf(link.from), centreOf(link.to)];
    const paint = this.#edgePaint(link.edge);
    if (fromX === toX) {
      this.#canvas.vertical(fromX, top, arrows, paint);
      return;
    }
    if (track > top) this.#canvas.vertical(fromX, top, track - 1, paint);
    this.#canvas.line(fromX, track, UP, paint);
    this.#canvas.horizontal(track, fromX, toX, paint);
    this.#canvas.line(toX, track, DOWN, paint);
    this.#canvas.vertical(toX, track + 1, arrows, paint);
  }

  #arrow(target: Item, y: number): void {
    if (target.node === null) return;
    const paints = new Set(target.above.map((link) => this.#edgePaint(link.edge)));
    this.#canvas.text(centreOf(target), y, '▼', paints.size === 1 ? [...paints][0] : undefined);
  }

  /** What a lone edge into a node asks for stands beside its arrow, where there is room. */
  #note(target: Item, y: number): void {
    const edge = target.above.length === 1 ? target.above[0]?.edge : undefined;
    if (target.node === null || edge === undefined) return;
    const x = centreOf(target) + 2;
    for (const note of [edgeNote(edge), edge.on === 'success' ? undefined : edge.on]) {
      if (note === undefined) continue;
      const text = fit(printableLine(note), MAX_NOTE_CELLS);
      if (!this.#canvas.isFree(x - 1, x + visibleWidth(text), y)) continue;
      this.#canvas.text(x, y, text, edge.on === 'error' ? this.#colors.red : this.#colors.dim);
      return;
    }
  }

  #edgePaint(edge: GraphEdge): Paint | undefined {
    return edge.on === 'error' ? this.#colors.red : undefined;
  }
}

function edgeNote(edge: GraphEdge): string | undefined {
  const on = edge.on === 'success' || edge.on === 'result' ? undefined : edge.on;
  return [on, edge.condition].filter((part) => part !== undefined).join(' ') || undefined;
}

/** A source with edges that turn, and the columns that its line spans. */
interface Turn {
  readonly source: Item;
  readonly left: number;
  readonly right: number;
  readonly targets: ReadonlySet<number>;
}

/**
 * Row of the channel for every source that has to turn. Sources share a row when they do not overlap or only meet at
 * their common target; a source that stands above another one's target turns first, so that its way down is not
 * taken for the other's.
 */
function assignTracks(sources: readonly Item[]): Map<Item, number> {
  const waiting = new Set(sources.map(turnOf).filter((turn) => turn.left !== turn.right));
  const placed = new Map<Turn, number>();
  while (waiting.size > 0) {
    const free = [...waiting].find((turn) => ![...waiting].some((other) => mustFollow(turn, other)));
    const next = free ?? ([...waiting][0] as Turn);
    waiting.delete(next);
    let track = 0;
    for (const [other, taken] of placed) {
      if (!canShareRow(next, other) || mustFollow(next, other)) track = Math.max(track, taken + 1);
    }
    placed.set(next, track);
  }
  return new Map([...placed].map(([turn, track]) => [turn.source, track]));
}

function turnOf(source: Item): Turn {
  const targets = source.below.map((link) => centreOf(link.to));
  const columns = [centreOf(source), ...targets];
  return { source, left: Math.min(...columns), right: Math.max(...columns), targets: new Set(targets) };
}

function mustFollow(later: Turn, earlier: Turn): boolean {
  return later !== earlier && later.targets.has(centreOf(earlier.source));
}

function canShareRow(a: Turn, b: Turn): boolean {
  const [left, right] = [Math.max(a.left, b.left), Math.min(a.right, b.right)];
  if (left > right + 1) return true;
  const common = [...a.targets].find((target) => b.targets.has(target));
  if (common === undefined) return false;
  return (left === right && left === common) || (a.targets.size === 1 && b.targets.size === 1);
}

function listLines(graph: WorkflowGraph, colors: Colors): string[] {
  const byId = new Map(graph.nodes.map((node, index) => [node.id, index]));
  return outlineOf(graph).map((row) => {
    const index = byId.get(row.id) as number;
    const node = graph.nodes[index] as GraphNode;
    const sources = (graph.incoming[index] ?? []).map((edge) => graph.nodes[edge.from]?.id ?? '');
    const needs = sources.length > 1 ? colors.dim(`  ← ${sources.join(', ')}`) : '';
    const name = node.enabled ? colors.bold(printableLine(node.name)) : colors.dim(printableLine(node.name));
    return `${colors.dim(row.prefix)}${name}  ${colors.dim(node.action)}${needs}`;
  });
}

/** Every condition in full: there is no room for it in the picture. */
function conditionLines(graph: WorkflowGraph, colors: Colors): string[] {
  const id = (index: number): string => graph.nodes[index]?.id ?? '';
  const nodes = graph.nodes.filter((node) => node.when !== undefined);
  const edges = graph.edges.filter((edge) => edgeNote(edge) !== undefined);
  const lines = [
    ...nodes.map((node) => [node.id, `when ${node.when}`] as const),
    ...edges.map((edge) => [`${id(edge.from)} → ${id(edge.to)}`, edgeNote(edge) as string] as const),
  ];
  if (lines.length === 0) return [];
  const width = Math.max(...lines.map(([subject]) => visibleWidth(subject)));
  return [
    '',
    ...lines.map(([subject, text]) => {
      const isError = text.startsWith('error');
      const padded = subject + ' '.repeat(width - visibleWidth(subject));
      return `${padded}  ${(isError ? colors.red : colors.dim)(printableLine(text))}`;
    }),
  ];
}
