/** Lists the actions that the nodes of definitions run, i.e. the possible targets of mocks. */
import type { NodeDefinition, WorkflowDefinition } from '@nebula/core';

export interface ActionUse {
  /** Path of the node in the definition, without iterations: `items/pack`; `~undo/charge` for its compensation. */
  readonly node: string;
  readonly id: string;
  /** The requested version; undefined: the newest. */
  readonly version: string | undefined;
}

const UNDO = '~undo';

export function actionsUsed(definition: WorkflowDefinition): ActionUse[] {
  const uses: ActionUse[] = [];
  collect(definition.nodes ?? {}, '', uses);
  return uses;
}

/** Paths of all nodes of the definition, including bodies. */
export function nodePaths(definition: WorkflowDefinition): string[] {
  const paths: string[] = [];
  const visit = (nodes: NonNullable<WorkflowDefinition['nodes']>, prefix: string): void => {
    for (const [id, node] of Object.entries(nodes)) {
      paths.push(`${prefix}${id}`);
      const { nodes: inner } = node.do ?? node.group ?? {};
      if (inner !== undefined) visit(inner, `${prefix}${id}/`);
    }
  };
  visit(definition.nodes ?? {}, '');
  return paths;
}

function collect(nodes: Readonly<Record<string, NodeDefinition>>, prefix: string, uses: ActionUse[]): void {
  for (const [id, node] of Object.entries(nodes)) {
    const path = `${prefix}${id}`;
    for (const reference of [node.action, node.dynamic?.action]) {
      if (reference !== undefined) uses.push({ node: path, ...split(reference) });
    }
    if (node.compensate !== undefined) {
      uses.push({ node: `${UNDO}/${path.replaceAll('/', ':')}`, ...split(node.compensate.action) });
    }
    const { nodes: inner } = node.do ?? node.group ?? {};
    if (inner !== undefined) collect(inner, `${path}/`, uses);
  }
}

function split(reference: string): { id: string; version: string | undefined } {
  const [id = '', version] = reference.split('@');
  return { id, version };
}
