/** Patterns of file triggers are written by editors and matched every second. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { FILE_PATTERN_LIMITS } from '../../src/limits.ts';
import { filesOf, matchesName, parseFilePattern } from '../../src/triggers/file-pattern.ts';
import { boot, TOKEN } from '../support/boot.ts';
import { ask } from '../support/users.ts';
import { echo } from '../support/workflows.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const bad = expect.objectContaining({ code: 'BAD_FILE_PATTERN' });

it.each([
  '{a,b}'.repeat(26),
  '{a,{b,{c,{d,{e,f}}}}}'.repeat(9),
  `{${'a,'.repeat(100)}b}`,
  'a{b',
  'x'.repeat(FILE_PATTERN_LIMITS.maxChars + 1),
  'a/'.repeat(FILE_PATTERN_LIMITS.maxSegments + 1),
  '+(a|aa)b',
])('[SRV-494] the pattern %s is refused', (pattern) => {
  expect(() => parseFilePattern(pattern)).toThrow(bad);
});

it('[SRV-494] a workflow with such a trigger is refused, and the server continues', async () => {
  const booted = await boot();
  closing.push(() => booted.close());
  const headers = { authorization: `Bearer ${TOKEN}` };
  for (const pattern of ['{a,b}'.repeat(26), '.{.,}/x/*', '{,/}etc/*', '{a,../b}/c']) {
    const definition = echo('drop', { triggers: [{ file: { path: pattern } }] });
    const { status } = await ask(booted, 'POST /api/v1/workflows', { headers, body: { definition } });
    expect([pattern, status]).toEqual([pattern, 422]);
  }
  expect((await ask(booted, 'GET /health')).status).toBe(200);
});

it.each<[string, string, boolean]>([
  ['*.csv', 'a.csv', true],
  ['*.csv', 'a.csv.txt', false],
  ['a?c', 'abc', true],
  ['[a-c]x', 'bx', true],
  ['[!a-c]x', 'bx', false],
  ['[', '[', true],
  ['*a*b*', 'xaxbx', true],
  ['', '', true],
  ['*', '.hidden', true],
  [`${'*a'.repeat(100)}b`, 'a'.repeat(255), false],
])('[SRV-495] %s against %s: %s', (pattern, name, expected) => {
  expect(matchesName(pattern, name)).toBe(expected);
});

it('[SRV-495] folders are walked once, however many ways lead there', async () => {
  const root = await mkdtemp(path.join(tmpdir(), 'nebula-pattern-'));
  closing.push(() => rm(root, { recursive: true, force: true }));
  let folder = root;
  for (let depth = 0; depth < 12; depth++) {
    folder = path.join(folder, 'd');
    await mkdir(folder);
    await writeFile(path.join(folder, 'x.csv'), '');
  }
  const found = async (pattern: string): Promise<number> => {
    let count = 0;
    for await (const _ of filesOf(root, parseFilePattern(pattern))) count++;
    return count;
  };
  expect(await found('**/*.csv')).toBe(12);
  expect(await found(`${'**/'.repeat(20)}*.csv`)).toBe(12);
  expect(await found('d/{x,y}.csv')).toBe(2);
  expect(await found('d/?.{csv,txt}')).toBe(1);
  expect(await found('**')).toBe(12);
});
