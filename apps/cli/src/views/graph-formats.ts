/** A workflow in the languages of other drawing tools: Mermaid and Graphviz' DOT. */
import { printableLine } from '../terminal/width.ts';
import type { GraphEdge, WorkflowGraph } from './workflow-graph.ts';

export function mermaidLines(graph: WorkflowGraph): string[] {
  const id = (index: number): string => `n${index}`;
  const nodes = graph.nodes.map(
    (node, index) => `  ${id(index)}["${escapeMermaid(node.name)}<br/><small>${escapeMermaid(node.action)}</small>"]`,
  );
  const edges = graph.edges.map((edge) => {
    const label = edgeLabel(edge);
    const arrow = edge.on === 'error' ? '-.->' : '-->';
    return `  ${id(edge.from)} ${arrow}${label === '' ? '' : `|"${escapeMermaid(label)}"|`} ${id(edge.to)}`;
  });
  const disabled = graph.nodes.flatMap((node, index) => (node.enabled ? [] : [id(index)]));
  const classes =
    disabled.length === 0 ? [] : ['  classDef disabled opacity:0.4', `  class ${disabled.join(',')} disabled`];
  return ['flowchart TD', ...nodes, ...edges, ...classes];
}

function escapeMermaid(text: string): string {
  return printableLine(text)
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

export function dotLines(graph: WorkflowGraph): string[] {
  const quote = (text: string): string => `"${printableLine(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
  const id = (index: number): string => quote(graph.nodes[index]?.id ?? '');
  const nodes = graph.nodes.map((node) => {
    const label = `${quote(node.name).slice(0, -1)}\\n${quote(node.action).slice(1)}`;
    return `  ${quote(node.id)} [label=${label}${node.enabled ? '' : ', style="rounded,dashed"'}];`;
  });
  const edges = graph.edges.map((edge) => {
    const label = edgeLabel(edge);
    const attributes = [
      ...(label === '' ? [] : [`label=${quote(label)}`]),
      ...(edge.on === 'error' ? ['color=red', 'style=dashed'] : []),
    ];
    return `  ${id(edge.from)} -> ${id(edge.to)}${attributes.length === 0 ? '' : ` [${attributes.join(', ')}]`};`;
  });
  return [`digraph ${quote(graph.id)} {`, '  node [shape=box, style=rounded];', ...nodes, ...edges, '}'];
}

function edgeLabel(edge: GraphEdge): string {
  const on = edge.on === 'success' ? '' : edge.on;
  return [on, edge.condition ?? ''].filter((part) => part !== '').join(': ');
}
