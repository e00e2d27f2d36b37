/** Journals of old versions replay for ever. A new format adds a file here; none is ever changed. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { documentOf, newRunState, replay } from '../../src/index.ts';
import { planOf } from './drive.ts';
import {
  everyCompositeDefinition,
  everyCompositeEntry,
  everyEntry,
  everyEntryDefinition,
  repeatedDefinition,
  repeatedEntry,
} from './scenario.ts';

const read = (name: string) => JSON.parse(readFileSync(new URL(`../golden/${name}`, import.meta.url), 'utf8'));
const golden = read('journal-1.golden.json');
const composite = read('composite-1.golden.json');
const repeated = read('repeating-1.golden.json');

describe('golden journals', () => {
  it('[RUN-71] a journal of format 1 gives the document that it gave when it was written', () => {
    const state = replay(newRunState(planOf(everyEntryDefinition), 'exe_test'), golden.frames);
    expect(JSON.parse(JSON.stringify(documentOf(state, () => null)))).toEqual(golden.document);
  });

  it('[RUN-71] the same run still writes the same journal', () => {
    expect(everyEntry().frames).toEqual(golden.frames);
  });

  it('[RUN-71] the golden journal has every kind of entry', () => {
    const kinds = new Set(
      golden.frames.flatMap((frame: { entries: { type: string }[] }) => frame.entries.map((entry) => entry.type)),
    );
    expect([...kinds].sort()).toEqual([
      'node.cancelled',
      'node.completed',
      'node.failed',
      'node.retrying',
      'node.returned',
      'node.scheduled',
      'node.settled',
      'node.skipped',
      'node.started',
      'node.unknown',
      'run.finished',
      'run.reopened',
      'run.started',
      'run.stopping',
    ]);
  });

  it('[RUN-71] so does one with the entries of composite nodes', () => {
    const state = replay(newRunState(planOf(everyCompositeDefinition), 'exe_test'), composite.frames);
    expect(JSON.parse(JSON.stringify(documentOf(state, () => null)))).toEqual(composite.document);
    expect(everyCompositeEntry().frames).toEqual(composite.frames);
  });

  it('[RUN-71] so does one of a composite node that is undone and tried again', () => {
    const state = replay(newRunState(planOf(repeatedDefinition), 'exe_test'), repeated.frames);
    expect(JSON.parse(JSON.stringify(documentOf(state, () => null)))).toEqual(repeated.document);
    expect(repeatedEntry().frames).toEqual(repeated.frames);
  });

  it('[RUN-71] together they have every kind of entry', () => {
    const frames = [...golden.frames, ...composite.frames, ...repeated.frames] as { entries: { type: string }[] }[];
    const kinds = new Set(frames.flatMap((frame) => frame.entries.map((entry) => entry.type)));
    const source = readFileSync(new URL('../../src/run/entry.ts', import.meta.url), 'utf8');
    const known = [...source.matchAll(/readonly type: '([a-z.]+)'/g)].map(([, type]) => type);
    expect([...kinds].sort()).toEqual(known.sort());
  });
});
