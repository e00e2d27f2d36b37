/**
 * Time, chance and the outside world are passed into the core and the engine, never picked up there.
 *
 * The names below are reserved in those folders: even a local variable may not be called `process`. So the check
 * needs no scope analysis, and there is no way around it by an alias.
 */
import { isBuiltin } from 'node:module';
import type { Node } from 'oxc-parser';
import { importsOf } from './imports.ts';
import { at, isCode, type Repository, type Verdict, walk } from './repository.ts';

const PURE_FOLDERS = ['packages/core/src/', 'packages/engine/src/'];

/** The one file that may reach for its host: it loads heavy libraries when they are first needed. */
const DOOR = 'packages/core/src/on-demand.ts';

/** Names that may not appear at all. */
const RESERVED: ReadonlyMap<string, string> = new Map([
  ...['setTimeout', 'setInterval', 'setImmediate'].map((name) => [name, 'set a timer on the clock port'] as const),
  ...['clearTimeout', 'clearInterval', 'clearImmediate'].map((name) => [name, 'cancel the timer itself'] as const),
  ['performance', 'ask the clock port'],
  ['process', 'take what you need as an option'],
  ['console', 'use the logs port'],
  ['fetch', 'that is for actions and drivers'],
  ['WebSocket', 'that is for actions and drivers'],
  ['XMLHttpRequest', 'that is for actions and drivers'],
  ['require', 'use import'],
  ['eval', 'code from text is never run'],
  ['Function', 'code from text is never run'],
  ['globalThis', 'name the thing itself'],
  ['global', 'name the thing itself'],
]);

/** Objects of which only a part is out of reach; nor may they be passed on as a whole, which would hide that part. */
const RESERVED_MEMBERS: ReadonlyMap<string, { readonly names: readonly string[]; readonly instead: string }> = new Map([
  ['Date', { names: ['now'], instead: 'ask the clock port' }],
  ['Math', { names: ['random'], instead: 'ask the random port' }],
  ['crypto', { names: ['randomUUID', 'getRandomValues'], instead: 'ask the random port' }],
  ['AbortSignal', { names: ['timeout'], instead: 'set a timer on the clock port' }],
  ['Temporal', { names: ['Now'], instead: 'ask the clock port' }],
]);

/** Syntax of types that has an expression inside; all other type syntax is erased and cannot do anything. */
const TYPED_EXPRESSIONS = new Set([
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSTypeAssertion',
  'TSInstantiationExpression',
]);

export function checkAmbient(repository: Repository): Verdict {
  const problems: string[] = [];
  const files = repository.files.filter(
    (file) => isCode(file) && file !== DOOR && PURE_FOLDERS.some((folder) => file.startsWith(folder)),
  );
  for (const file of files) {
    const code = repository.code(file);
    for (const entry of importsOf(code)) {
      if (entry.specifier === null) problems.push(at(code, entry.offset, 'an import whose target is computed'));
      else if (isBuiltin(entry.specifier)) problems.push(at(code, entry.offset, `imports ${entry.specifier} of Node`));
    }
    walk(code.program, (node, parents) => {
      if (node.type.startsWith('TS') && !TYPED_EXPRESSIONS.has(node.type)) return false;
      const problem =
        node.type === 'Identifier' && isReference(node, parents.at(-1)) && findFault(node.name, node, parents);
      if (problem) problems.push(at(code, node.start, problem));
      return true;
    });
  }
  return { problems, summary: `${files.length} files` };
}

function findFault(name: string, node: Node, parents: readonly Node[]): string | null {
  const instead = RESERVED.get(name);
  if (instead !== undefined) return `${name} is reserved here: ${instead}`;
  const members = RESERVED_MEMBERS.get(name);
  if (members === undefined) return null;
  const parent = parents.at(-1);
  if (parent?.type === 'MemberExpression' && parent.object === node) {
    const member = memberName(parent);
    if (member === null) return `${name} with a computed member: name the member`;
    return members.names.includes(member) ? `${name}.${member} is reserved here: ${members.instead}` : null;
  }
  if (parent?.type === 'BinaryExpression' && parent.operator === 'instanceof') return null;
  if (parent?.type === 'NewExpression' && parent.callee === node) {
    return name === 'Date' && parent.arguments.length === 0 ? `new Date() reads the clock: ${members.instead}` : null;
  }
  return `${name} as a value: use its members directly`;
}

function memberName(node: Extract<Node, { type: 'MemberExpression' }>): string | null {
  if (!node.computed) return 'name' in node.property ? node.property.name : null;
  return node.property.type === 'Literal' && typeof node.property.value === 'string' ? node.property.value : null;
}

/** Whether an identifier stands for a variable, rather than being the name of a member or the like. */
function isReference(node: Node, parent: Node | undefined): boolean {
  switch (parent?.type) {
    case 'MemberExpression':
      return parent.computed || parent.object === node;
    case 'Property':
    case 'MethodDefinition':
    case 'PropertyDefinition':
      return parent.computed || parent.value === node;
    case 'ImportSpecifier':
    case 'ExportSpecifier':
      return parent.local === node;
    default:
      return true;
  }
}
