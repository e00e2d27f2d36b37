/** A workflow in the languages of other drawing tools: Mermaid and Graphviz' DOT. Bodies are subgraphs. */
import { printableLine } from '../terminal/width.ts';
import { type GraphEdge, type GraphNode, hasBodies, type WorkflowGraph } from './workflow-graph.ts';

export function mermaidLines(graph: WorkflowGraph): string[] {
  const disabled: string[] = [];
  const lines = mermaidGraph(graph, 'n', '  ', disabled);
  const classes =
    disabled.length === 0 ? [] : ['  classDef disabled opacity:0.4', `  class ${disabled.join(',')} disabled`];
  return ['flowchart TD', ...lines, ...classes];
}

/** `prefix`: the id of the enclosing node, which makes the ids of a body's nodes unique. */
function mermaidGraph(graph: WorkflowGraph, prefix: string, indent: string, disabled: string[]): string[] {
  const id = (index: number): string => `${prefix}${index}`;
  const nodes = graph.nodes.flatMap((node, index) => {
    if (!node.enabled) disabled.push(id(index));
    const label = labelParts(node).map(escapeMermaid);
    const [name = '', ...rest] = label;
    const text = [name, ...rest.map((part) => `<small>${part}</small>`)].join('<br/>');
    if (node.body === undefined) return [`${indent}${id(index)}${mermaidBox(node, `"${text}"`)}`];
    const inner = mermaidGraph(node.body, `${id(index)}_`, `${indent}  `, disabled);
    return [`${indent}subgraph ${id(index)}["${text}"]`, ...inner, `${indent}end`];
  });
  const edges = graph.edges.map((edge) => {
    const label = edgeLabel(edge);
    const arrow = edge.on === 'error' ? '-.->' : '-->';
    return `${indent}${id(edge.from)} ${arrow}${label === '' ? '' : `|"${escapeMermaid(label)}"|`} ${id(edge.to)}`;
  });
  return [...nodes, ...edges];
}

/** A branch is a diamond, a wait a stadium, the end of the run a circle. */
function mermaidBox({ kind }: GraphNode, text: string): string {
  if (kind === 'branch') return `{${text}}`;
  if (kind === 'wait') return `([${text}])`;
  return kind === 'terminate' ? `((${text}))` : `[${text}]`;
}

function labelParts({ name, does, undo, isFailureNode }: GraphNode): string[] {
  return [name, does, ...(undo === undefined ? [] : [`↺ ${undo}`]), ...(isFailureNode ? ['after a failure'] : [])];
}

function escapeMermaid(text: string): string {
  return printableLine(text)
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

export function dotLines(graph: WorkflowGraph): string[] {
  return [
    `digraph ${quote(graph.id)} {`,
    // Edges of a node with a body end at its frame.
    ...(hasBodies(graph) ? ['  compound=true;'] : []),
    '  node [shape=box, style=rounded];',
    ...dotGraph(graph, '', '  '),
    '}',
  ];
}

function dotGraph(graph: WorkflowGraph, above: string, indent: string): string[] {
  const nodes = graph.nodes.flatMap((node) => dotNode(node, above, indent));
  const edges = graph.edges.map((edge) => dotEdge(graph, edge, above, indent));
  return [...nodes, ...edges];
}

function dotNode(node: GraphNode, above: string, indent: string): string[] {
  const path = above + node.id;
  const label = `"${labelParts(node).map(escapeDot).join('\\n')}"`;
  if (node.body === undefined) {
    const shape = DOT_SHAPES[node.kind];
    const attributes = [
      `label=${label}`,
      ...(shape === undefined ? [] : [`shape=${shape}`]),
      ...(node.enabled ? [] : ['style="rounded,dashed"']),
    ];
    return [`${indent}${quote(path)} [${attributes.join(', ')}];`];
  }
  return [
    `${indent}subgraph ${quote(`cluster ${path}`)} {`,
    `${indent}  label=${label}; style="rounded${node.enabled ? '' : ',dashed'}";`,
    // An invisible anchor for edges: in Graphviz no edge can end at a frame.
    `${indent}  ${quote(path)} [shape=point, style=invis];`,
    ...dotGraph(node.body, `${path}/`, `${indent}  `),
    `${indent}}`,
  ];
}

const DOT_SHAPES: Readonly<Partial<Record<GraphNode['kind'], string>>> = {
  branch: 'diamond',
  wait: 'hexagon',
  terminate: 'doublecircle',
};

function dotEdge(graph: WorkflowGraph, edge: GraphEdge, above: string, indent: string): string {
  const [from, to] = [graph.nodes[edge.from], graph.nodes[edge.to]];
  const path = (node: GraphNode | undefined): string => above + (node?.id ?? '');
  const label = edgeLabel(edge);
  const attributes = [
    ...(label === '' ? [] : [`label=${quote(label)}`]),
    ...(edge.on === 'error' ? ['color=red', 'style=dashed'] : []),
    ...(from?.body === undefined ? [] : [`ltail=${quote(`cluster ${path(from)}`)}`]),
    ...(to?.body === undefined ? [] : [`lhead=${quote(`cluster ${path(to)}`)}`]),
  ];
  const rest = attributes.length === 0 ? '' : ` [${attributes.join(', ')}]`;
  return `${indent}${quote(path(from))} -> ${quote(path(to))}${rest};`;
}

function escapeDot(text: string): string {
  return printableLine(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"');
}

function quote(text: string): string {
  return `"${escapeDot(text)}"`;
}

function edgeLabel(edge: GraphEdge): string {
  const on = edge.on === 'success' ? '' : edge.on;
  return [on, edge.condition ?? ''].filter((part) => part !== '').join(': ');
}
