/** The imports of a file, in every form that TypeScript has. */
import type { Node } from 'oxc-parser';
import { type Code, walk } from './repository.ts';

export interface Import {
  /** Null when it is computed. */
  readonly specifier: string | null;
  readonly offset: number;
  /** Erased before the code runs. `import { type A }` is not: it still loads the file. */
  readonly typeOnly: boolean;
}

export function importsOf(code: Code): readonly Import[] {
  const found: Import[] = [];
  walk(code.program, (node) => {
    const entry = importIn(node);
    if (entry !== null) found.push(entry);
  });
  return found;
}

function importIn(node: Node): Import | null {
  switch (node.type) {
    case 'ImportDeclaration':
      return { specifier: node.source.value, offset: node.start, typeOnly: node.importKind === 'type' };
    case 'ExportAllDeclaration':
      return { specifier: node.source.value, offset: node.start, typeOnly: node.exportKind === 'type' };
    case 'ExportNamedDeclaration':
      if (node.source === null) return null;
      return { specifier: node.source.value, offset: node.start, typeOnly: node.exportKind === 'type' };
    case 'ImportExpression':
      return { specifier: literal(node.source), offset: node.start, typeOnly: false };
    case 'TSImportType':
      return { specifier: literal(node.source), offset: node.start, typeOnly: true };
    case 'CallExpression': {
      const { callee } = node;
      const isRequire = callee.type === 'Identifier' && callee.name === 'require' && node.arguments.length === 1;
      return isRequire ? { specifier: literal(node.arguments[0]), offset: node.start, typeOnly: false } : null;
    }
    default:
      return null;
  }
}

function literal(node: Node | undefined): string | null {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node?.type === 'TemplateLiteral' && node.expressions.length === 0) return node.quasis[0]!.value.cooked;
  return null;
}
