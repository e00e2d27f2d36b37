/** Journals of old versions can be folded for ever. A new format adds a file here; none is ever changed. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { documentOf, foldFrames, newRunState } from '../../src/run.ts';
import { type Drive, drive, planOf, type Short } from './drive.ts';
import { acceptedRuns, oldRuns } from './old-runs.ts';
import {
  AUTHORITY,
  authorityDefinition,
  authorityEntry,
  checkpointedDefinition,
  checkpointedEntry,
  everyCompositeDefinition,
  everyCompositeEntry,
  everyEntry,
  everyEntryDefinition,
  everyFinallyEntry,
  repeatedDefinition,
  repeatedEntry,
} from './scenario.ts';

const read = (name: string) => JSON.parse(readFileSync(new URL(`../golden/${name}`, import.meta.url), 'utf8'));
const golden = read('journal-1.golden.json');
const composite = read('composite-1.golden.json');
const repeated = read('repeating-1.golden.json');
/** The same runs, written since finallys exist, and one with their entries. */
const second = { ...read('journal-2.golden.json'), ...read('finally-2.golden.json') };
/** Runs with an undo, written since the journal has `scope.compensated`, and one with a snapshot. */
const written = { ...second, ...read('journal-3.golden.json') };
const old = read('before-finally.golden.json');
const accepted = read('accepted-1.golden.json');
const authority = read('authority-1.golden.json');

/** The document may have gained members since. */
const documentFrom = (definition: Short, frames: Drive['frames']) =>
  JSON.parse(JSON.stringify(documentOf(foldFrames(newRunState(planOf(definition), 'exe_test'), frames), () => null)));

describe('golden journals', () => {
  it('[RUN-71] a journal of format 1 gives the document that it gave when it was written', () => {
    expect(documentFrom(everyEntryDefinition, golden.frames)).toMatchObject(golden.document);
  });

  it('[RUN-71] the same run still writes the same journal', () => {
    expect(everyEntry().frames).toEqual(written.every);
    expect(everyCompositeEntry().frames).toEqual(written.composite);
    expect(everyFinallyEntry().frames).toEqual(written.finally);
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
    expect(documentFrom(everyCompositeDefinition, composite.frames)).toMatchObject(composite.document);
  });

  it('[RUN-71] so does one of a composite node that is undone and tried again', () => {
    const state = foldFrames(newRunState(planOf(repeatedDefinition), 'exe_test'), repeated.frames);
    expect(JSON.parse(JSON.stringify(documentOf(state, () => null)))).toMatchObject(repeated.document);
    expect(repeatedEntry().frames).toEqual(written.repeated);
  });

  it('[RUN-71] a journal with the authority of a run gives the grants that it gave when it was written', () => {
    expect(authorityEntry().frames).toEqual(authority.frames);
    const run = drive(authorityDefinition, { frames: authority.frames.slice(0, 1) });
    expect(run.state.authority).toEqual(AUTHORITY);
    const { principal, ceiling } = authority.frames[0].entries[0].authority;
    expect({ principal, ceiling }).toEqual(AUTHORITY);
    const state = foldFrames(newRunState(planOf(authorityDefinition), 'exe_test'), authority.frames);
    expect(JSON.parse(JSON.stringify(documentOf(state, () => null)))).toMatchObject(authority.document);
    const on = run.complete('a').complete('plan', authority.returned);
    for (const [node, granted] of Object.entries(authority.granted)) {
      expect(on.attempts.get(node)?.granted, node).toEqual(granted);
    }
  });

  it('[RUN-71, VIEW-5] so does one without the entries that end a compensation', () => {
    const same = [
      [everyCompositeDefinition, 'composite'],
      [repeatedDefinition, 'repeated'],
    ] as const;
    for (const [definition, name] of same) {
      expect(documentFrom(definition, second[name])).toEqual(documentFrom(definition, written[name]));
    }
    expect(checkpointedEntry().frames).toEqual(written.checkpointed);
    expect(documentFrom(checkpointedDefinition, written.checkpointed).status).toBe('failed');
  });

  it('[RUN-71] together they have every kind of entry', () => {
    const frames = [
      ...golden.frames,
      ...composite.frames,
      ...repeated.frames,
      ...written.finally,
      ...written.checkpointed,
      ...read('features/migrated-1.golden.json').frames,
    ] as {
      entries: { type: string }[];
    }[];
    const kinds = new Set(frames.flatMap((frame) => frame.entries.map((entry) => entry.type)));
    const source = readFileSync(new URL('../../src/run/journal/entry.ts', import.meta.url), 'utf8');
    const known = [...source.matchAll(/readonly type: '([a-z.]+)'/g)].map(([, type]) => type);
    expect([...kinds].sort()).toEqual(known.sort());
  });

  it('[RUN-288] a journal from before finally of a run that has ended keeps its end', () => {
    for (const name of Object.keys(oldRuns) as (keyof typeof oldRuns)[]) {
      const { status, nodes } = documentFrom(oldRuns[name], old[name].frames);
      expect(status, name).toBe(old[name].document.status);
      for (const [id, node] of Object.entries(nodes as Record<string, { status: string }>)) {
        expect(node.status, `${name} ${id}`).toBe(old[name].document.nodes[id].status);
      }
    }
    expect(old.ended.document).toMatchObject({ status: 'completed', nodes: { a: { status: 'failed' } } });
  });

  it('[RUN-288] a run from before finallys that is ending continues as it would today', () => {
    const stopping = drive(oldRuns.stopping, { frames: old.stopping.frames }).breakOff('slow');
    expect(stopping.running()).toEqual(['tidy']);
    expect(stopping.statuses()).toMatchObject({ slow: 'cancelled', after: 'cancelled', never: 'cancelled' });
    expect(stopping.complete('tidy').status).toBe('failed');
    const iteration = drive(oldRuns.round, { frames: old.round.frames }).breakOff('each/0/y');
    expect(iteration.running()).toEqual(['each/0/tidy']);
    expect(iteration.complete('each/0/tidy').status).toBe('failed');
    const twice = drive(oldRuns.stopping, { frames: old.stopping.frames }).cancel().cancel().breakOff('slow');
    expect(twice.status).toBe('failed');
    expect(twice.statusOf('tidy')).toBe('cancelled');
  });

  it('[RUN-288] failures handled in a journal from before finallys stay handled, and joins follow the current edges', () => {
    const handled = drive(oldRuns.handled, { frames: old.handled.frames }).complete('tidy').complete('then');
    expect(handled.status).toBe('completed');
    const joined = drive(oldRuns.joined, { frames: old.joined.frames }).complete('mend');
    expect(joined.statusOf('go')).toBe('skipped');
    expect(joined.status).toBe('completed');
  });

  it('[RUN-595] a run from before finallys that is ending continues as it would today after a snapshot, too', () => {
    const run = drive(oldRuns.stopping, { frames: old.stopping.frames }).reload().breakOff('slow');
    expect(run.running()).toEqual(['tidy']);
    expect(run.complete('tidy').status).toBe('failed');
  });

  it('[RUN-288] an iteration that was ending before its run keeps its error', () => {
    const { frames } = old.round;
    const { seq, at } = frames.at(-1);
    const error = { code: 'CANCELLED', kind: 'USER', message: 'enough' };
    const cancelled = [
      ...frames,
      { seq: seq + 1, at, entries: [{ type: 'run.stopping', status: 'cancelled', error }] },
    ];
    const { state } = drive(oldRuns.round, { frames: cancelled });
    expect(state.root.stopping?.error?.code).toBe('CANCELLED');
    expect(state.scopes.get('each/0')?.stopping?.error?.code).toBe('BROKEN');
  });

  it('[RUN-598] a run from before finallys that is ending, and paused, continues when it is resumed', () => {
    const { frames } = old.stopping;
    const { seq, at } = frames.at(-1);
    const paused = [...frames, { seq: seq + 1, at, entries: [{ type: 'run.paused' }] }];
    const run = drive(oldRuns.stopping, { frames: paused }).breakOff('slow');
    expect([run.status, run.running()]).toEqual(['paused', []]);
    expect(run.step({ type: 'resume' }).running()).toEqual(['tidy']);
  });

  it('[RUN-596] a failure that an always edge handled before finallys stays handled when an error edge leads nowhere', () => {
    const definition = {
      nodes: { a: {}, b: {}, tidy: {}, mend: { needs: ['b'], join: 2 } },
      edges: [
        { from: 'a', to: 'tidy', on: 'always' },
        { from: 'a', to: 'mend', on: 'error', match: { code: 'OTHER' } },
      ],
    } satisfies Short;
    const { frames, now } = drive(definition);
    const error = { code: 'BROKEN', kind: 'USER', message: 'a is broken', node: 'a' } as const;
    const failed = { type: 'node.failed', node: 'a', error, handling: 'handled' } as const;
    const started = {
      type: 'node.started',
      node: 'tidy',
      attempt: 1,
      worker: 'wrk_test',
      effect: 'idempotent',
    } as const;
    frames.push({ seq: 2, at: now, entries: [failed, started] });
    const run = drive(definition, { frames }).complete('b');
    expect(run.statusOf('mend')).toBe('skipped');
    expect(run.complete('tidy').status).toBe('completed');
  });

  it.each(Object.keys(acceptedRuns) as (keyof typeof acceptedRuns)[])(
    '[RUN-470] a run of a definition that is refused today keeps its state: %s',
    (name) => {
      const state = newRunState(planOf(acceptedRuns[name], {}, {}, true), 'exe_test');
      const document = JSON.parse(JSON.stringify(documentOf(foldFrames(state, accepted[name].frames), () => null)));
      expect(document).toMatchObject(accepted[name].document);
    },
  );

  it('[RUN-470] a run of a definition that is refused today continues, and can be cancelled', () => {
    const on = (name: keyof typeof acceptedRuns) =>
      drive(acceptedRuns[name], { isAccepted: true, frames: accepted[name].frames });
    expect(on('branch').complete('tidy').status).toBe('completed');
    expect(on('join').complete('b').status).toBe('completed');
    const previous = on('previous').complete('after');
    expect(previous.document).toMatchObject({ status: 'completed', output: { n: 1 } });
    expect(on('policy').advance(60_000).complete('a').status).toBe('completed');
    const dynamic = on('dynamic').complete('plan/tidy').complete('plan/twice').complete('plan/after');
    expect(dynamic.status).toBe('completed');
    for (const name of Object.keys(acceptedRuns) as (keyof typeof acceptedRuns)[]) {
      const run = on(name).cancel();
      for (const node of run.running()) run.breakOff(node);
      expect(run.status, name).toBe('cancelled');
    }
  });
});
