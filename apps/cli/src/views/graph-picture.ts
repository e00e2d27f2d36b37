/** A workflow as boxes and lines in the terminal, layer under layer. */
import type { Colors, View } from '../terminal/io.ts';
import { fit, printableLine, visibleWidth } from '../terminal/width.ts';
import { Canvas, DOWN, UP } from './canvas.ts';
import { centreOf, type Item, type Link, layout } from './layered-layout.ts';
import { KIND_SIGNS } from './node-words.ts';
import { outlineOf } from './outline.ts';
import type { Paint } from './theme.ts';
import { type GraphEdge, type GraphNode, hasBodies, nodeCount, type WorkflowGraph } from './workflow-graph.ts';

const MAX_DRAWN_NODES = 150;
const MAX_LABEL_CELLS = 26;
const MAX_DOES_CELLS = 40;
const MAX_NOTE_CELLS = 24;

interface DrawingStyle {
  /** Shows action and compensation of a node besides its name. */
  readonly details: boolean;
  /** Bodies are drawn inside their nodes. */
  readonly bodies: boolean;
}

const NESTED: readonly DrawingStyle[] = [
  { details: true, bodies: true },
  { details: false, bodies: true },
];
const FLAT: readonly DrawingStyle[] = [
  { details: true, bodies: false },
  { details: false, bodies: false },
];

/**
 * Draws the most detailed form that fits: boxes with details, boxes with names only; bodies inside their nodes where there is
 * room, otherwise below; at last an indented list.
 */
export function pictureLines(graph: WorkflowGraph, options: View): string[] {
  if (graph.nodes.length === 0) return ['the workflow has no nodes'];
  return [...graphLines(graph, options), ...conditionLines(graph, options.colors)];
}

function graphLines(graph: WorkflowGraph, options: View): string[] {
  if (graph.nodes.length === 0) return [options.colors.dim('nothing')];
  if (nodeCount(graph) > MAX_DRAWN_NODES) return listLines(graph, options.colors);
  const inside = drawnLines(graph, NESTED, options);
  if (inside !== undefined || !hasBodies(graph)) return inside ?? listLines(graph, options.colors);
  const outer = drawnLines(graph, FLAT, options);
  if (outer === undefined) return listLines(graph, options.colors);
  const narrower = { ...options, width: options.width - BELOW_INDENT };
  return [...outer, ...graph.nodes.flatMap((node) => bodyBelow(node, narrower))];
}

const BELOW_INDENT = 2;

function bodyBelow({ name, does, body }: GraphNode, options: View): string[] {
  if (body === undefined) return [];
  const { colors } = options;
  const heading = `${colors.bold(printableLine(name))} ${colors.dim(printableLine(does))}`;
  return ['', heading, ...graphLines(body, options).map((line) => ' '.repeat(BELOW_INDENT) + line)];
}

function drawnLines(graph: WorkflowGraph, styles: readonly DrawingStyle[], options: View): string[] | undefined {
  for (const style of styles) {
    const canvas = drawn(graph, style, options.colors);
    if (canvas.width <= options.width) return canvas.toLines();
  }
  return undefined;
}

function drawn(graph: WorkflowGraph, style: DrawingStyle, colors: Colors): Canvas {
  const boxes = graph.nodes.map((node) => boxOf(node, style, colors));
  const layers = layout(graph, (node) => (boxes[node] as Box).width);
  return new Picture(graph, boxes, layers, colors).draw();
}

interface Label {
  readonly text: string;
  readonly paint: Paint | undefined;
}

/** A node's content, and the size of the box around it. */
interface Box {
  readonly labels: readonly Label[];
  readonly body: Canvas | undefined;
  readonly width: number;
  readonly height: number;
}

function boxOf(node: GraphNode, style: DrawingStyle, colors: Colors): Box {
  const labels = labelsOf(node, style, colors);
  const body = style.bodies && node.body !== undefined ? drawn(node.body, style, colors) : undefined;
  const inner = Math.max(...labels.map(({ text }) => visibleWidth(text)), body?.width ?? 0);
  return { labels, body, width: inner + 4, height: labels.length + (body?.height ?? 0) + 2 };
}

function labelsOf(node: GraphNode, { details }: DrawingStyle, colors: Colors): Label[] {
  const paint = node.enabled ? colors.bold : colors.dim;
  const name = fit(printableLine(node.name), MAX_LABEL_CELLS);
  const sign = KIND_SIGNS[node.kind];
  if (!details) return [{ text: sign === '' ? name : `${sign} ${name}`, paint }];
  const labels: Label[] = [{ text: name, paint }];
  const cells = node.kind === 'action' ? MAX_LABEL_CELLS : MAX_DOES_CELLS;
  labels.push({ text: fit(printableLine(node.does), cells), paint: node.kind === 'action' ? colors.dim : colors.cyan });
  if (node.undo !== undefined) labels.push({ text: fit(`↺ ${node.undo}`, MAX_LABEL_CELLS), paint: colors.yellow });
  if (node.isFailureNode) labels.push({ text: 'after a failure', paint: colors.red });
  return labels;
}

class Picture {
  readonly #graph: WorkflowGraph;
  readonly #boxes: readonly Box[];
  readonly #layers: readonly Item[][];
  readonly #colors: Colors;
  readonly #canvas = new Canvas();

  constructor(graph: WorkflowGraph, boxes: readonly Box[], layers: readonly Item[][], colors: Colors) {
    this.#graph = graph;
    this.#boxes = boxes;
    this.#layers = layers;
    this.#colors = colors;
  }

  draw(): Canvas {
    let y = 0;
    for (const layer of this.#layers) {
      const height = Math.max(...layer.map((item) => this.#boxAt(item)?.height ?? 1));
      for (const item of layer) this.#item(item, y, y + height - 1);
      y = this.#channel(layer, y + height);
    }
    return this.#canvas;
  }

  #boxAt(item: Item): Box | undefined {
    return item.node === null ? undefined : this.#boxes[item.node];
  }

  /** `end`: the last row of the layer, to which the edges of a lower box must lead down. */
  #item(item: Item, y: number, end: number): void {
    const box = this.#boxAt(item);
    if (box === undefined) {
      const link = item.below[0] as Link;
      this.#canvas.vertical(item.x, y, end, this.#edgePaint(link.edge));
      return;
    }
    const node = this.#graph.nodes[item.node as number] as GraphNode;
    const paint = node.enabled ? undefined : this.#colors.dim;
    const [right, bottom] = [item.x + item.width - 1, y + box.height - 1];
    const bar = '─'.repeat(item.width - 2);
    this.#canvas.text(item.x, y, `╭${bar}╮`, paint);
    this.#canvas.text(item.x, bottom, `╰${bar}╯`, paint);
    for (let row = y + 1; row < bottom; row++) {
      this.#canvas.text(item.x, row, '│', paint);
      this.#canvas.text(right, row, '│', paint);
    }
    box.labels.forEach((label, at) => {
      this.#canvas.text(item.x + 2, y + 1 + at, label.text, node.enabled ? label.paint : this.#colors.dim);
    });
    if (box.body !== undefined) {
      const margin = Math.floor((item.width - box.body.width) / 2);
      this.#canvas.paste(box.body, item.x + margin, y + 1 + box.labels.length);
    }
    if (item.below.length === 0) return;
    this.#canvas.text(centreOf(item), bottom, '┬', paint);
    const paints = new Set(item.below.map((link) => this.#edgePaint(link.edge)));
    if (bottom < end)
      this.#canvas.vertical(centreOf(item), bottom + 1, end, paints.size === 1 ? [...paints][0] : undefined);
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

  /** Writes the condition of a node's only incoming edge beside its arrow, if it fits. */
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
  const trackOf = new Map<Turn, number>();
  while (waiting.size > 0) {
    const free = [...waiting].find((turn) => ![...waiting].some((other) => mustFollow(turn, other)));
    const next = free ?? ([...waiting][0] as Turn);
    waiting.delete(next);
    let track = 0;
    for (const [other, taken] of trackOf) {
      if (!canShareRow(next, other) || mustFollow(next, other)) track = Math.max(track, taken + 1);
    }
    trackOf.set(next, track);
  }
  return new Map([...trackOf].map(([turn, track]) => [turn.source, track]));
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

function listLines(graph: WorkflowGraph, colors: Colors, indent = ''): string[] {
  const byId = new Map(graph.nodes.map((node, index) => [node.id, index]));
  return outlineOf(graph).flatMap((row) => {
    const index = byId.get(row.id) as number;
    const node = graph.nodes[index] as GraphNode;
    const sources = (graph.incoming[index] ?? []).map((edge) => graph.nodes[edge.from]?.id ?? '');
    const needs = sources.length > 1 ? colors.dim(`  ← ${sources.join(', ')}`) : '';
    const name = node.enabled ? colors.bold(printableLine(node.name)) : colors.dim(printableLine(node.name));
    const undo = node.undo === undefined ? '' : colors.yellow(`  ↺ ${node.undo}`);
    const late = node.isFailureNode ? colors.red('  after a failure') : '';
    const line = `${colors.dim(indent + row.prefix)}${name}  ${colors.dim(printableLine(node.does))}${undo}${late}${needs}`;
    const under = `${indent}${row.prefix.replaceAll('├─ ', '│  ').replaceAll('└─ ', '   ')}    `;
    return node.body === undefined ? [line] : [line, ...listLines(node.body, colors, under)];
  });
}

/** Lists every condition in full below the picture. */
function conditionLines(graph: WorkflowGraph, colors: Colors): string[] {
  const lines = conditionsOf(graph, '');
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

function conditionsOf(graph: WorkflowGraph, above: string): (readonly [subject: string, text: string])[] {
  const id = (index: number): string => above + (graph.nodes[index]?.id ?? '');
  const nodes = graph.nodes.filter((node) => node.when !== undefined);
  const edges = graph.edges.filter((edge) => edgeNote(edge) !== undefined);
  return [
    ...nodes.map((node) => [above + node.id, `when ${node.when}`] as const),
    ...edges.map((edge) => [`${id(edge.from)} → ${id(edge.to)}`, edgeNote(edge) as string] as const),
    ...graph.nodes.flatMap((node) => (node.body === undefined ? [] : conditionsOf(node.body, `${above}${node.id}/`))),
  ];
}
