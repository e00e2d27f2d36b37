/** Which actions the nodes of definitions run: what a mock may stand in for. */
import type { NodeDefinition, WorkflowDefinition } from '@nebula/core';

export interface ActionUse {
  /** Path of the node in the definition, without rounds: `items/pack`; `~undo/charge` for what undoes it. */
  readonly node: string;
  readonly id: string;
  /** As asked for; undefined: the newest. */
  readonly version: string | undefined;
}

const UNDO = '~undo';

export function actionsUsed(definition: WorkflowDefinition): ActionUse[] {
  const uses: ActionUse[] = [];
  collect(definition.nodes ?? {}, '', uses);
  return uses;
}

/** Every node of the definition, bodies included. */
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

/** `items/3/pack` → `items/pack`; `~undo/items:3:pack` → `~undo/items:pack`. Ids that are numbers are taken for rounds. */
export function withoutRounds(path: string): string {
  return path.replaceAll(/\/\d+(?=\/|$)/g, '').replaceAll(/:\d+(?=:|$)/g, '');
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
