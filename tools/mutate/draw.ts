/** Mutations drawn by a seed: small changes at places that the parser finds in the sources. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'oxc-parser';
import type { Mutation } from './mutation.ts';

/** The folders that mutations are drawn from. */
const SOURCES = ['packages/core/src', 'packages/engine/src', 'packages/drivers/src', 'apps/server/src'];

interface Change {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly breaks: string;
}

/** A node of the syntax tree; the parser's own types are a union of 200. */
interface Syntax {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

const COMPARISONS: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
};
const ARITHMETIC: Readonly<Record<string, string>> = { '-': '+', '*': '/', '/': '*', '%': '*' };
const METHODS: Readonly<Record<string, string>> = { some: 'every', every: 'some', min: 'max', max: 'min' };
const FUNCTIONS: ReadonlySet<string> = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
]);
/** Statements without an effect that a test could see. */
const EFFECTS: ReadonlySet<string> = new Set([
  'CallExpression',
  'AssignmentExpression',
  'UpdateExpression',
  'AwaitExpression',
]);

/** `count` mutations of the sources below `root`, of the files whose path contains `file`. The same seed draws the same. */
export function drawMutations(root: string, count: number, seed: number, file = ''): Mutation[] {
  const sites = SOURCES.flatMap((folder) => sourcesIn(root, folder))
    .filter((name) => name.includes(file))
    .flatMap((name) => {
      const text = readFileSync(path.join(root, name), 'utf8');
      return changesIn(name, text).map((change) => ({ name, text, change }));
    });
  const next = randomFrom(seed);
  const drawn: Mutation[] = [];
  while (drawn.length < count && sites.length > 0) {
    const [site] = sites.splice(Math.floor(next() * sites.length), 1);
    const { name, text, change } = site!;
    drawn.push({
      id: `drawn-${seed}-${drawn.length + 1}`,
      file: name,
      ...uniqueText(text, change),
      breaks: change.breaks,
      killers: [],
    });
  }
  return drawn;
}

function sourcesIn(root: string, folder: string): string[] {
  let names: string[];
  try {
    names = readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' });
  } catch {
    return [];
  }
  return names
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .map((name) => `${folder}/${name.replaceAll(path.sep, '/')}`)
    .sort();
}

/** Every change of one file, in the order of their places. */
export function changesIn(name: string, text: string): Change[] {
  const changes: Change[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const one of value) visit(one);
    if (typeof value !== 'object' || value === null || !('type' in value)) return;
    const node = value as Syntax;
    if (isType(node)) return;
    changes.push(...changesAt(node, text));
    for (const key of Object.keys(node)) visit(node[key]);
  };
  visit(parseSync(name, text).program);
  return changes.sort((a, b) => a.start - b.start || a.end - b.end);
}

/** Types are erased: a change there changes nothing. */
function isType({ type, importKind }: Syntax): boolean {
  if (type === 'ImportDeclaration' || importKind === 'type') return true;
  return type.startsWith('TS') && !['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression'].includes(type);
}

function changesAt(node: Syntax, text: string): Change[] {
  const slice = (part: unknown) => text.slice((part as Syntax).start, (part as Syntax).end);
  const change = (part: unknown, replacement: string, breaks: string): Change => {
    const { start, end } = part as Syntax;
    return { start, end, text: replacement, breaks };
  };
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
      return operatorChanges(node, text);
    case 'IfStatement':
    case 'ConditionalExpression':
      return [change(node.test, `!(${slice(node.test)})`, 'A condition is negated.')];
    case 'UnaryExpression':
      if (node.operator !== '!') return [];
      return [change(node, `(${slice(node.argument)})`, 'A negation is removed.')];
    case 'ExpressionStatement':
      if (!EFFECTS.has((node.expression as Syntax).type)) return [];
      return [change(node, '{}', 'A statement is removed.')];
    case 'Literal':
      if (typeof node.value === 'number') return [change(node, `(${slice(node)} + 1)`, 'A number is one more.')];
      if (typeof node.value === 'boolean') return [change(node, String(!node.value), 'A boolean is inverted.')];
      return [];
    case 'MemberExpression':
      return methodChange(node);
    default:
      return FUNCTIONS.has(node.type) ? earlyReturn(node) : [];
  }
}

/** The operator stands between its operands, with spaces and perhaps comments around it. */
function operatorChanges(node: Syntax, text: string): Change[] {
  const operator = node.operator as string;
  const other = { ...COMPARISONS, ...ARITHMETIC, '&&': '||', '||': '&&' }[operator];
  if (other === undefined) return [];
  const start = text.indexOf(operator, (node.left as Syntax).end);
  // `a && b || c` would need parentheses: the whole expression gets them, around each operand.
  if (operator === '&&' || operator === '||') {
    const [left, right] = [node.left, node.right].map((part) =>
      text.slice((part as Syntax).start, (part as Syntax).end),
    );
    return [
      {
        start: node.start,
        end: node.end,
        text: `((${left}) ${other} (${right}))`,
        breaks: `\`${operator}\` is \`${other}\`.`,
      },
    ];
  }
  return [{ start, end: start + operator.length, text: other, breaks: `\`${operator}\` is \`${other}\`.` }];
}

function methodChange(node: Syntax): Change[] {
  const property = node.property as Syntax;
  const name = property.name;
  const other =
    typeof name === 'string' && node.computed !== true && Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
  if (other === undefined) return [];
  return [{ start: property.start, end: property.end, text: other, breaks: `\`${String(name)}\` is \`${other}\`.` }];
}

/** A function with at least two statements returns before the first. */
function earlyReturn(node: Syntax): Change[] {
  const body = node.body as Syntax | null;
  const statements = body?.type === 'BlockStatement' ? (body.body as Syntax[]) : [];
  if (body === null || statements.length < 2) return [];
  return [
    {
      start: body.start,
      end: body.start + 1,
      text: '{ return undefined as never;',
      breaks: 'A function returns at once.',
    },
  ];
}

/** The smallest text around the change that occurs once. */
function uniqueText(text: string, { start, end, text: replacement }: Change): Pick<Mutation, 'find' | 'replace'> {
  for (let margin = 0; ; margin += 20) {
    const from = Math.max(0, start - margin);
    const to = Math.min(text.length, end + margin);
    const find = text.slice(from, to);
    if (text.split(find).length === 2)
      return { find, replace: text.slice(from, start) + replacement + text.slice(end, to) };
  }
}

/** Mulberry32: 32 bits of state are enough for a draw that can be repeated. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
