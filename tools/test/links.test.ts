import { expect, it } from 'vitest';
import { checkLinks } from '../checks/links.ts';
import { repositoryOf } from '../checks/repository.ts';

const FILES = {
  'docs/guide.md':
    '# The guide\n\n## Retry & back-off\n\n## `nebula run`\n\n## Retry & back-off\n\n<a id="byHand"></a>\n\n## See [One](decisions/0001.md) <br>',
  'docs/decisions/0001.md': '# One',
  LICENSE: '',
};

function problemsOf(text: string): readonly string[] {
  return checkLinks(repositoryOf({ ...FILES, 'docs/README.md': text })).problems;
}

it.each([
  '[a](guide.md)',
  '[a](./guide.md#the-guide)',
  '[a](guide.md#retry--back-off)',
  '[a](guide.md#retry--back-off-1)',
  '[a](guide.md#nebula-run)',
  '[a](guide.md#byHand)',
  '[a](guide.md#see-one-)',
  '[a](decisions/)',
  '[a](decisions)',
  '[a](../LICENSE "The licence")',
  '[a](/LICENSE)',
  '[a](https://example.com/nothing)',
  '[a](mailto:a@example.com)',
  '# Here\n\n[a](#here)',
  '`[a](nowhere.md)`',
  '```\n[a](nowhere.md)\n```',
  '[a]: guide.md',
])('accepts %s', (text) => {
  expect(problemsOf(text)).toEqual([]);
});

it.each([
  '[a](nowhere.md)',
  '![a](nowhere.png)',
  '[a](guide.md#nowhere)',
  '[a](guide.md#retry--back-off-2)',
  '[a](#nowhere)',
  '[a](../../outside.md)',
  '[a]: nowhere.md',
  '```\n```\n[a](nowhere.md)',
  '<img src="nowhere.png">',
  'two [a](guide.md) and [b](nowhere.md)',
])('refuses %s', (text) => {
  expect(problemsOf(text)).toHaveLength(1);
});
