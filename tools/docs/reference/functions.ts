/** The functions of expressions; each example is run when the language is tested, so its result is true. */
import { EXPRESSION_LIMITS, type FunctionListing, listFunctions } from '@nebula/core';
import { cell, code, type Page, page, table } from './page.ts';

const GROUPS: readonly (readonly [title: string, isIn: (on: readonly string[]) => boolean])[] = [
  ['Text', (on) => on.join() === 'string'],
  ['Numbers', (on) => on.join() === 'number'],
  ['Lists', (on) => on.join() === 'array'],
  ['Objects', (on) => on[0] === 'object'],
  ['Dates', (on) => on.join() === 'string,number'],
  ['Any value', (on) => on[0] === 'null'],
  ['Without a value before them', (on) => on.length === 0],
];

export function functionsPage(): Page {
  const functions = listFunctions();
  const grouped = GROUPS.map(([title, isIn]) => [title, functions.filter(({ on }) => isIn(on))] as const);
  const shown = grouped.reduce((sum, [, members]) => sum + members.length, 0);
  if (shown !== functions.length) throw new Error(`${functions.length - shown} functions belong to no group`);
  return page(
    'functions',
    'Functions of expressions',
    'the library in `packages/core/src/expression/library`',
    [
      'Functions are methods of values: `$input.name.upper()`. Arguments with `?` are optional. Try functions with `npx nebula eval`; [Expressions](../expressions.md) describes the rest of the language.',
      ...grouped.map(([title, members]) => `## ${title}\n\n${functionTable(members)}`),
      limits(),
    ].join('\n\n'),
  );
}

function functionTable(functions: readonly FunctionListing[]): string {
  return table(
    ['function', 'gives', 'example', 'result'],
    functions.map(({ signature, doc, example, result }) => [
      code(signature),
      cell(doc),
      code(example),
      code(JSON.stringify(result)),
    ]),
  );
}

function limits(): string {
  const { maxAstDepth, maxOperations, maxStringBytes, maxArrayLength, maxEvaluationMs } = EXPRESSION_LIMITS;
  const number = (value: number) => value.toLocaleString('en');
  return `## Limits

One evaluation has one budget, which nothing resets. What goes beyond it is an error \`EXPRESSION_LIMIT\`.

${table(
  ['limit', 'at most'],
  [
    ['nesting', `${number(maxAstDepth)} levels`],
    ['operations', number(maxOperations)],
    ['a string', `${number(maxStringBytes)} bytes`],
    ['a list', `${number(maxArrayLength)} elements`],
    ['time', `${number(maxEvaluationMs)} ms`],
  ],
)}`;
}
