import { expect, it } from 'vitest';
import { checkNames } from '../checks/names.ts';
import { repositoryOf } from '../checks/repository.ts';

const FILES = {
  'packages/core/package.json': '{}',
  'packages/core/src/run/heap.ts': 'export function push() {}\nexport const pop = () => {};\n',
  'packages/core/test/drive.ts': '',
  'packages/ports/package.json': '{}',
  'packages/ports/src/queue.ts': 'export interface Queue { enqueue(): void }\n',
  'apps/cli/package.json': '{}',
  'apps/cli/src/watch.ts': 'class Watch { #hidden() {} look() {} readonly stop = (): void => {}; }\n',
};

function problemsOf(text: string): readonly string[] {
  return checkNames(repositoryOf({ ...FILES, 'docs/ARCHITECTURE.md': text })).problems;
}

function walkOf(count: string, ...lines: string[]): string {
  return [`There are ${count}:`, '', '```walk', ...lines, '```', ''].join('\n');
}

const GOOD = walkOf(
  '5 functions in 3 files',
  'core/run/heap.ts    push ─▶ pop    a remark, with words',
  'cli/watch.ts        look',
  'core/run/heap.ts    pop',
  'ports/queue.ts      enqueue',
);

it.each([
  '`core/run/heap.ts`',
  '`core/test/drive.ts`',
  '`cli/watch.ts`, `run/heap.ts` and `other/heap.ts`',
  '`core/run`',
  GOOD,
])('accepts %s', (text) => {
  expect(problemsOf(text)).toEqual([]);
});

it.each([
  ['a file that is gone', 'see `core/run/old-heap.ts`'],
  ['a wrong number of functions', GOOD.replace('5 functions', '4 functions')],
  ['a wrong number of files', GOOD.replace('3 files', '4 files')],
  ['no numbers', GOOD.replace('5 functions in 3 files', 'some')],
  ['a function of another file', GOOD.replace('look', 'push')],
  ['a function that is gone', GOOD.replace('enqueue', 'queue')],
  ['a function of a file that is gone', GOOD.replace('ports/queue.ts', 'ports/tasks.ts')],
])('refuses %s', (_, text) => {
  expect(problemsOf(text)).toHaveLength(1);
});

it('leaves guides alone, which name files of their readers', () => {
  const { problems } = checkNames(repositoryOf({ ...FILES, 'docs/guide.md': 'write `core/mine.ts`' }));
  expect(problems).toEqual([]);
});

it('accepts functions that are members', () => {
  expect(problemsOf(walkOf('2 functions in 1 files', 'cli/watch.ts  look ─▶ stop'))).toEqual([]);
});
