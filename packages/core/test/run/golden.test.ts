/** Journals of old versions replay for ever. A new format adds a file here; none is ever changed. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { documentOf, newRunState, replay } from '../../src/index.ts';
import { planOf } from './drive.ts';
import { everyEntry, everyEntryDefinition } from './scenario.ts';

const golden = JSON.parse(readFileSync(new URL('../golden/journal-1.golden.json', import.meta.url), 'utf8'));

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
});
