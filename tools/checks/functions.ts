/** Functions in a syntax tree. */
import type { Node } from 'oxc-parser';

type FunctionNode = Extract<Node, { type: 'FunctionDeclaration' | 'FunctionExpression' | 'ArrowFunctionExpression' }>;

export function isFunction(node: Node): node is FunctionNode {
  return ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'].includes(node.type);
}

/** Its own name, or that of the method, member or variable whose value it is. */
export function functionName(node: FunctionNode, parents: readonly Node[]): string | undefined {
  const parent = parents.at(-1);
  const named = node.id ?? (parent && ('key' in parent ? parent.key : 'id' in parent ? parent.id : null));
  return named?.type === 'Identifier' ? named.name : undefined;
}
