/** Calls of `describe`, `it` and `test`, with what is chained to them and the text of their titles. */
import type { Node } from 'oxc-parser';
import { type Code, walk } from './repository.ts';

export interface TestCall {
  readonly offset: number;
  /** `['it', 'skipIf']` of `it.skipIf(slow)('…')`. */
  readonly chain: readonly string[];
  /** The constant parts of the title; empty when all of it is computed. */
  readonly title: string;
  /** Options that are set to something other than false, such as `skip` in `{ skip: true }`. */
  readonly options: readonly string[];
}

const STARTERS = new Set(['describe', 'suite', 'it', 'test', 'bench']);

export function testCallsOf(code: Code): readonly TestCall[] {
  const found: TestCall[] = [];
  walk(code.program, (node, parents) => {
    if (node.type !== 'CallExpression') return;
    const chain = chainOf(node);
    const parent = parents.at(-1);
    const isInner = parent?.type === 'CallExpression' && parent.callee === node;
    if (chain === null || isInner) return;
    found.push({
      offset: node.start,
      chain,
      title: titleOf(node.arguments[0]),
      options: node.arguments.slice(1).flatMap(optionsOf),
    });
  });
  return found;
}

/** The names of `it.each([…])` or `describe.skipIf(x)`, from the left; null when it is something else. */
function chainOf(node: Node): readonly string[] | null {
  switch (node.type) {
    case 'Identifier':
      return STARTERS.has(node.name) ? [node.name] : null;
    case 'MemberExpression': {
      const before = chainOf(node.object);
      return before === null || node.property.type !== 'Identifier' ? before : [...before, node.property.name];
    }
    case 'CallExpression':
      return chainOf(node.callee);
    case 'TaggedTemplateExpression':
      return chainOf(node.tag);
    default:
      return null;
  }
}

function titleOf(node: Node | undefined): string {
  switch (node?.type) {
    case 'Literal':
      return typeof node.value === 'string' ? node.value : '';
    case 'TemplateLiteral':
      return node.quasis.map((part) => part.value.cooked ?? '').join('\u2026');
    case 'BinaryExpression':
      return node.operator === '+' ? titleOf(node.left) + titleOf(node.right) : '';
    default:
      return '';
  }
}

function optionsOf(node: Node): string[] {
  if (node.type !== 'ObjectExpression') return [];
  return node.properties.flatMap((property) => {
    if (property.type !== 'Property' || property.key.type !== 'Identifier') return [];
    const isOff = property.value.type === 'Literal' && property.value.value === false;
    return isOff ? [] : [property.key.name];
  });
}
