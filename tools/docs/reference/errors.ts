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
  ['On the command line', 'With the exit code 2, unless it says otherwise.', /^apps\/cli\//],
];

const CODE = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/;
/** Names of other programs' codes, which the sources compare with. */
const FOREIGN = /^(SQLITE|UND_ERR|ERR)_|^E[A-Z]+$/;
/** Translates the codes of the YAML library. */
const TRANSLATION = 'packages/core/src/definition/yaml/syntax.ts';

interface Finding {
  readonly code: string;
  readonly message: string;
}

export function errorsPage(): Page {
  const repository = openRepository(ROOT);
  const files = repository.files.filter(
    (file) =>
      /^(packages|apps)\/[^/]+\/src\//.test(file) && isCode(file) && !isConformance(file) && file !== TRANSLATION,
  );
  const areas = AREAS.map(([title, about]) => ({ title, about, messages: new Map<string, Set<string>>() }));
  for (const file of files) {
    const area = areas[AREAS.findIndex(([, , folders]) => folders.test(file))];
    for (const { code: found, message } of findingsIn(repository.code(file))) {
      const messages = area?.messages.get(found) ?? new Set();
      area?.messages.set(found, messages.add(message));
    }
  }
  const sections = areas.map(({ title, about, messages }) => {
    const rows = [...messages]
      .sort()
      .map(([name, texts]) => [code(name), cell(MEANINGS[name] ?? [...texts].join(' '))]);
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

/** `new SomeError('CODE', message)`, `report('CODE', message)` and `{ code: 'CODE', message }`. */
function findingsIn({ program }: Code): Finding[] {
  const found: Finding[] = [];
  walk(program, (node) => {
    if (node.type === 'NewExpression' || node.type === 'CallExpression') {
      const [first, second] = node.arguments;
      if (isCodeLiteral(first) && second !== undefined) found.push({ code: first.value, message: textOf(second) });
    }
    if (node.type === 'NewExpression') found.push(...actionErrors(node.arguments));
    if (node.type === 'ObjectExpression') found.push(...reports(node));
  });
  return found;
}

function actionErrors([message, options]: readonly Node[]): Finding[] {
  if (message === undefined || options?.type !== 'ObjectExpression') return [];
  const value = memberOf(options, 'code');
  return value !== undefined && isCodeLiteral(value) ? [{ code: value.value, message: textOf(message) }] : [];
}

function reports(node: Node & { type: 'ObjectExpression' }): Finding[] {
  const value = memberOf(node, 'code');
  const message = memberOf(node, 'message');
  if (value === undefined || message === undefined || !isCodeLiteral(value)) return [];
  return [{ code: value.value, message: textOf(message) }];
}

function memberOf(node: Node & { type: 'ObjectExpression' }, name: string): Node | undefined {
  for (const member of node.properties) {
    if (member.type === 'Property' && member.key.type === 'Identifier' && member.key.name === name) return member.value;
  }
  return undefined;
}

function isCodeLiteral(node: Node | undefined): node is Node & { type: 'Literal'; value: string } {
  return (
    node?.type === 'Literal' && typeof node.value === 'string' && CODE.test(node.value) && !FOREIGN.test(node.value)
  );
}

/** The sentence, as far as it is written out; nothing when it is put together elsewhere. */
function textOf(node: Node): string {
  if (node.type === 'Literal') return String(node.value);
  if (node.type !== 'TemplateLiteral') return '';
  const text = node.quasis.map(({ value }) => value.cooked ?? '').join('…');
  return /[\p{L}]{3}/u.test(text) ? text : '';
}
