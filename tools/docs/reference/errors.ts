/** Every code that the sources can report, and what it means. */
import type { Node } from 'oxc-parser';
import { type Code, isCode, isConformance, openRepository, walk } from '../../checks/repository.ts';
import { ROOT } from '../playground.ts';
import { MEANINGS } from './error-meanings.ts';
import { cell, code, type Page, page, table } from './page.ts';

const AREAS: readonly (readonly [title: string, about: string, folders: RegExp])[] = [
  [
    'In a workflow file',
    'Found before anything starts, by `nebula validate` and `nebula run`, each with its place in the file.',
    /^packages\/core\/src\/(definition|graph|plan|verify)\//,
  ],
  [
    'In expressions',
    'Also found in the file where that is possible, else when the expression is evaluated.',
    /^packages\/core\/src\/expression\//,
  ],
  [
    'In a running node',
    'The `error.code` of a node; error edges (`match: { code: … }`) and `retry.on` look at them. Your own actions add theirs.',
    /^packages\/(actions|drivers\/src\/sandbox-inprocess)\/|^packages\/engine\/src\/attempts|^packages\/ports\/src\/secrets|^packages\/core\/src\/(run\/(decide|timers)|retry)/,
  ],
  [
    'In actions and the configuration',
    'Told when `nebula.config.ts` is loaded.',
    /^packages\/sdk\/|^packages\/core\/src\/(catalog|schema)/,
  ],
  [
    'In the store and the engine',
    'About the data folder and what is kept in it.',
    /^packages\/(drivers|engine|core)\//,
  ],
  [
    'From a server',
    'As `code` of a problem document, with its HTTP status; on the command line with the exit code 2.',
    /^(apps\/server|packages\/(client|ports))\//,
  ],
  ['On the command line', 'With the exit code 2, unless it says otherwise.', /^apps\/cli\//],
];

const CODE = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/;
/** Names of other programs' codes, which the sources compare with, and the two kinds of errors. */
const NO_CODE = /^(SQLITE|UND_ERR|ERR)_|^(USER|SYSTEM)$/;
/** Translates the codes of the YAML library. */
const TRANSLATION = 'packages/core/src/definition/yaml/syntax.ts';

/** Codes by file. */
function codesByFile(): Map<string, ReadonlySet<string>> {
  const repository = openRepository(ROOT);
  const files = repository.files.filter(
    (file) =>
      /^(packages|apps)\/(?!studio\/)[^/]+\/src\//.test(file) &&
      isCode(file) &&
      !isConformance(file) &&
      file !== TRANSLATION,
  );
  return new Map(files.map((file) => [file, codesIn(repository.code(file))]));
}

/** Codes without an explanation, and explanations of codes that nothing reports. */
export function unexplainedCodes(): { readonly missing: readonly string[]; readonly stale: readonly string[] } {
  const codes = new Set([...codesByFile().values()].flatMap((found) => [...found]));
  return {
    missing: [...codes].filter((name) => !Object.hasOwn(MEANINGS, name)).sort(),
    stale: Object.keys(MEANINGS).filter((name) => !codes.has(name)),
  };
}

export function errorsPage(): Page {
  const areas = AREAS.map(([title, about]) => ({ title, about, codes: new Set<string>() }));
  for (const [file, found] of codesByFile()) {
    const area = areas[AREAS.findIndex(([, , folders]) => folders.test(file))];
    for (const name of found) area?.codes.add(name);
  }
  const sections = areas.map(({ title, about, codes }) => {
    const rows = [...codes].sort().map((name) => [code(name), cell(MEANINGS[name] ?? '')]);
    return `## ${title}\n\n${about}\n\n${table(['code', 'meaning'], rows)}`;
  });
  return page(
    'errors',
    'Error codes',
    'the sources',
    [
      'Every error has a code, a plain sentence and, mostly, a hint. Codes stay the same; sentences may get better.',
      ...sections,
    ].join('\n\n'),
  );
}

/**
 * `new SomeError('CODE', message)`, `report(path, 'CODE', message)`, `{ code: 'CODE' }`, `code: 'CODE' | 'OTHER'` of a
 * type, `const code = 'CODE'` and `const CODE = 'CODE'`. The last argument of a call is no code: something is said about one.
 */
export function codesIn({ program }: Pick<Code, 'program'>): ReadonlySet<string> {
  const found = new Set<string>();
  walk(program, (node) => {
    for (const codeNode of codeNodes(node)) for (const name of codesOf(codeNode)) found.add(name);
  });
  return found;
}

function codeNodes(node: Node): readonly Node[] {
  switch (node.type) {
    case 'NewExpression':
    case 'CallExpression':
      return node.arguments.slice(0, -1).slice(0, 2);
    case 'Property':
      return isNamed(node.key, 'code') ? [node.value] : [];
    case 'TSPropertySignature':
    case 'PropertyDefinition':
      return isNamed(node.key, 'code') && node.typeAnnotation ? [node.typeAnnotation.typeAnnotation] : [];
    case 'VariableDeclarator':
      return node.init && (isNamed(node.id, 'code') || isNamesake(node.id, node.init)) ? [node.init] : [];
    default:
      return [];
  }
}

function isNamed(node: Node, name: string): boolean {
  return node.type === 'Identifier' && node.name === name;
}

/** `TIMEOUT = 'TIMEOUT'`. */
function isNamesake(id: Node, value: Node): boolean {
  return value.type === 'Literal' && typeof value.value === 'string' && isNamed(id, value.value);
}

/** The codes of an expression that may have one of several values. */
function codesOf(node: Node): string[] {
  switch (node.type) {
    case 'Literal': {
      const { value } = node;
      return typeof value === 'string' && CODE.test(value) && !NO_CODE.test(value) ? [value] : [];
    }
    case 'TSLiteralType':
      return codesOf(node.literal);
    case 'TSUnionType':
      return node.types.flatMap(codesOf);
    case 'ConditionalExpression':
      return [...codesOf(node.consequent), ...codesOf(node.alternate)];
    case 'LogicalExpression':
      return [...codesOf(node.left), ...codesOf(node.right)];
    default:
      return [];
  }
}
