/** Each oracle complains of the violation that it looks for, and of nothing else. */
import { readFileSync } from 'node:fs';
import type { Entry, Json } from '@nebula/core';
import { inlineValue, NULL_VALUE } from '@nebula/core/run';
import { memoryBlobs, memoryData, memoryStore } from '@nebula/drivers/memory';
import type { FrameRow, PermitRow } from '@nebula/ports';
import { describe, expect, it } from 'vitest';
import type { SentSignal } from './answered.ts';
import { Chance } from './chance.ts';
import { Conformance } from './conformance.ts';
import { Coverage } from './coverage.ts';
import { FAULT_KINDS } from './faults.ts';
import { LIVES } from './fleet.ts';
import { Follower } from './follower.ts';
import { Grants } from './grants.ts';
import { Legality } from './legality.ts';
import { liveUntil } from './lives.ts';
import { Loops } from './loops.ts';
import type { Keys } from './model/graph.ts';
import { Permits } from './permits.ts';
import type { Process } from './process.ts';
import { SCENARIOS } from './scenarios.ts';
import { live } from './script.ts';
import { Signals } from './signals.ts';
import { snapshotDifference } from './snapshots.ts';
import { Storage } from './storage.ts';
import { Timing } from './timing.ts';
import type { World } from './world.ts';

const begin = {
  type: 'run.started',
  format: 1,
  workflowId: 'w',
  version: 1,
  input: NULL_VALUE,
  trigger: null,
} as const;
const error = { code: 'USERS', kind: 'USER', message: '' } as const;
const started = { type: 'node.started', node: 'a', attempt: 1, worker: 'w', effect: 'idempotent' } as const;

it('[SIM-70] a snapshot that leaves out a member differs from the fold of its journal', async () => {
  const isFound = ({ data }: World): boolean => [...data.runs.values()].some(({ snapshot }) => snapshot !== undefined);
  const { world } = await liveUntil(isFound);
  const found = [...world.data.runs.values()].find(({ snapshot }) => snapshot !== undefined);
  if (found?.snapshot === undefined) throw new Error('no run has a snapshot');
  const { row, snapshot, frames } = found;
  const plan = await world.living()[0]?.engine.plan(row.workflowId, row.version);
  if (plan === undefined) throw new Error('no engine lives');
  const differenceOf = (state: string): string | undefined =>
    snapshotDifference(plan, row.executionId, { ...snapshot, state }, frames);
  expect(differenceOf(snapshot.state)).toBeUndefined();
  expect(differenceOf('{}')).toBe('cannot be restored');
  const stored = JSON.parse(snapshot.state) as { run: Record<string, unknown> };
  const { startedAt: _, ...rest } = stored.run;
  expect(differenceOf(JSON.stringify({ ...stored, run: rest }))).toMatch(/^startedAt is 0, not \d+$/);
});

describe('deleted runs', () => {
  const wait = { executionId: 'exe_0', wakeAt: null };
  const row = { project: 'default', workflowId: 'w', version: 1, createdAt: 1, owner: null };

  async function stored() {
    const [data, blobs] = [memoryData(), memoryBlobs()];
    const complaints: string[] = [];
    const journals = new Map<string, Legality>();
    const storage = (retentionMs: number | null): Storage =>
      new Storage({ data, blobs, journals, retentionMs, complain: (what) => complaints.push(what) });
    await memoryStore({ data }).append([
      { ...wait, create: row, frame: { seq: 1, at: 1, entries: '[{"blob":{"sha256":"ab","bytes":1}}]' } },
    ]);
    return { data, blobs, complaints, journals, storage };
  }

  it('[SIM-71] are ended, were asked for, and leave neither frames nor permits', async () => {
    const { complaints, journals, storage } = await stored();
    const journal = new Legality();
    journal.frame(1, 1, [begin]);
    journals.set('exe_0', journal);
    storage(null).onDeleted('exe_0', 1);
    expect(complaints).toEqual([
      'exe_0 is deleted while it is running',
      'exe_0 is deleted, and nobody asked',
      'exe_0 is deleted, and the feed has frames of it',
    ]);
  });

  it('[SIM-71] leave no blobs, and no other run loses one', async () => {
    const { data, blobs, complaints, storage } = await stored();
    await blobs.put('exe_1', 'cd', new Uint8Array(1));
    await blobs.put('cache-k', 'cd', new Uint8Array(1));
    await storage(null).onConfirmed('exe_1');
    await storage(null).atTheEnd(2);
    expect(complaints).toEqual([
      'exe_1 is deleted, and has blobs',
      'the blobs of exe_1 are left',
      'the blobs of cache-k are left',
      'a blob that exe_0 names is gone',
    ]);
    complaints.length = 0;
    await blobs.deleteExecution('exe_1');
    await blobs.deleteExecution('cache-k');
    data.runs.get('exe_0')?.frames.pop();
    await storage(1_000).atTheEnd(1_000_000);
    expect(complaints).toEqual(['exe_0 has expired, and is still there']);
  });
});

it('[SIM-72] an entry meets a fault through its write, its run or its node, and not beside them', () => {
  const coverage = new Coverage();
  coverage.hit('append refused', [{ entries: [{ type: 'node.failed' }] }]);
  expect(coverage.count('node.failed', 'append refused')).toBe(1);
  coverage.hit('call refused', [{ executionId: 'exe_0' }]);
  coverage.hit('hang', [{ executionId: 'exe_0', node: 'a' }]);
  coverage.hit('pause', []);
  coverage.written('exe_1', [{ type: 'run.paused' }]);
  coverage.written('exe_0', []);
  coverage.written('exe_0', [{ type: 'node.opened', node: 'b' }]);
  coverage.written('exe_0', [{ type: 'node.scheduled', nodes: ['a'] }, { type: 'run.resumed' }]);
  coverage.written('exe_0', [{ type: 'node.completed', node: 'a' }]);
  expect(coverage.count('node.opened', 'call refused')).toBe(1);
  expect(coverage.count('node.opened', 'hang')).toBe(0);
  expect(coverage.count('node.scheduled', 'hang')).toBe(1);
  expect(coverage.count('run.resumed', 'hang')).toBe(1);
  expect(coverage.count('node.completed', 'hang')).toBe(0);
  expect(coverage.count('run.paused', 'call refused')).toBe(0);
  expect(coverage.metBy('pause')).toBe(0);
});

it('[SIM-73] a feed with a gap, a frame twice, frames out of order or an early end is a violation', async () => {
  const frames = ['1', '2', '3'].map(
    (position) => ({ executionId: `exe_${position}`, seq: 1, at: 1, entries: '[]', position }) as unknown as FrameRow,
  );
  const [one, two, three] = frames as [FrameRow, FrameRow, FrameRow];
  const complaintsOf = async (pages: readonly (readonly FrameRow[])[], deleted = ''): Promise<string[]> => {
    const complaints: string[] = [];
    const isDeleted = (executionId: string): boolean => executionId === deleted;
    const follower = new Follower({ chance: new Chance(1), isDeleted, complain: (what) => complaints.push(what) });
    for (const frame of frames) follower.onFrame(frame);
    for (const page of pages) {
      const store = { feed: async () => page };
      follower.read({ isDead: false, store } as unknown as Process);
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (complaints.length === 0) follower.atTheEnd();
    return complaints.slice(0, 1);
  };
  expect(await complaintsOf([[one, two, three]])).toEqual([]);
  expect(await complaintsOf([[one], [three]], 'exe_2')).toEqual([]);
  expect(await complaintsOf([[one], [three]])).toEqual(['the feed leaves out frame 1 of exe_2']);
  expect(await complaintsOf([[one, two, two, three]])).toEqual(['the feed gives 2 after 2']);
  expect(await complaintsOf([[two, one, three]])).toEqual(['the feed leaves out frame 1 of exe_1']);
  expect(await complaintsOf([[one, { ...two, entries: '[1]' }, three]])).toEqual([
    'the feed has other entries in 1 of exe_2',
  ]);
  expect(await complaintsOf([[one, two]])).toEqual(['the feed ends at 2, before the last frames']);
});

describe('time', () => {
  const complaintsOf = (...frames: readonly (readonly [number, ...Entry[]])[]): string[] => {
    const complaints: string[] = [];
    const timing = new Timing(
      (complaint) => complaints.push(complaint),
      (stored) => stored?.value ?? null,
    );
    for (const [at, ...entries] of frames) timing.frame(at, entries);
    return complaints;
  };
  const retrying = { type: 'node.retrying', node: 'a', error, until: 100 } as const;
  const waiting = {
    type: 'node.waiting',
    node: 'a',
    waits: [{ kind: 'time', name: 'for', at: 100 }],
    deadline: 200,
  } as const;
  const pause = { type: 'run.paused' } as const;
  const resume = { type: 'run.resumed' } as const;
  const completed = { type: 'node.completed', node: 'a' } as const;

  it('[SIM-74] a node begins after its delay, and a wait ends after its time', () => {
    expect(complaintsOf([1, retrying], [100, started])).toEqual([]);
    expect(complaintsOf([1, retrying], [90, started])).toEqual(['node.started of a 10 ms too early']);
    expect(complaintsOf([1, waiting], [100, completed])).toEqual([]);
    expect(complaintsOf([1, waiting], [99, completed])).toEqual(['a has waited 1 ms too early']);
    const timedOut = {
      type: 'node.failed',
      node: 'a',
      error: { ...error, code: 'TIMEOUT' },
      handling: 'fatal',
    } as const;
    expect(complaintsOf([1, waiting], [150, timedOut])).toEqual(['a fails by its deadline 50 ms too early']);
    expect(complaintsOf([1, { type: 'run.held', until: 50 }], [20, { type: 'run.begun' }])).toEqual([
      'it begins 30 ms too early',
    ]);
  });

  it('[SIM-74] a pause moves a time by the part of the pause that follows it', () => {
    expect(complaintsOf([1, retrying], [10, pause], [40, resume], [129, started])).toEqual([
      'node.started of a 1 ms too early',
    ]);
    expect(complaintsOf([1, retrying], [10, pause], [40, resume], [130, started])).toEqual([]);
    expect(complaintsOf([10, pause], [20, retrying], [40, resume], [120, started])).toEqual([]);
  });

  it('[SIM-74] a node with a rate begins at its moment', () => {
    const complaints: string[] = [];
    const timing = new Timing(
      (complaint) => complaints.push(complaint),
      () => null,
    );
    timing.onRate('a', 50);
    timing.frame(40, [started]);
    expect(complaints).toEqual(['node.started of a 10 ms before the moment of its rate']);
  });
});

it('[SIM-75] a published signal ends one wait', () => {
  const complaints: string[] = [];
  const signals = new Signals((what) => complaints.push(what));
  signals.onPublished('msg_1', { type: 'signal', signal: 's', key: '', payload: { signal: 1 } });
  expect(signals.isPublished('msg_1', 's', '')).toBe(true);
  expect(signals.isPublished('msg_1', 's', 'a')).toBe(false);
  signals.ended('exe_0', { payload: { signal: 1 } });
  expect(complaints).toEqual([]);
  signals.ended('exe_1', { payload: { signal: 1 } });
  expect(complaints).toEqual(['the published signal 1 ended a second wait, in exe_1']);
});

it('[SIM-76] a node that the version of the run does not have is a violation', () => {
  const complaints: string[] = [];
  const versions = [{}, { nodes: { a: {}, in: { workflow: { id: 'w', version: 1 } } } }, { nodes: { a: {}, v: {} } }];
  const conformance = new Conformance({
    complain: (complaint) => complaints.push(complaint),
    definitionOf: (_id, version = 2) => versions[version] ?? {},
    valueOf: () => null,
  });
  conformance.frame([begin, started, { ...started, node: 'in/v' }, { ...started, node: 'v' }]);
  expect(complaints).toContain('v is not in the definition');
  conformance.frame([
    { type: 'node.opened', node: 'in' },
    { ...started, node: 'in/v' },
  ]);
  expect(complaints).toContain('in/v is not in the definition');
});

it('[SIM-77] an output of another project, or of another input, is a violation', async () => {
  const { world } = await live(12);
  const { oracle, externalWorld } = world;
  const key = 'exe_b:a:0';
  const output = { key, text: 'done' };
  externalWorld.effects.set(key, { action: 'look', result: output, input: { of: '' }, undoes: undefined, times: 1 });
  const frame = (executionId: string, workflowId: string, of: string): void => {
    const at = 1e15;
    const entries: Entry[] = [
      { ...begin, workflowId },
      { type: 'node.gated', node: 'a', gate: { kind: 'cache' }, input: inlineValue({ of }) },
      {
        type: 'node.completed',
        node: 'a',
        output: inlineValue(output),
        cached: { executionId: 'exe_b', node: 'a', at },
      },
    ];
    oracle.onFrame({ executionId, frame: { seq: 1, at, entries: JSON.stringify(entries) } }, entries, at);
  };
  const said = (): string[] => oracle.violations.splice(0).filter((what) => what.includes('cache'));
  frame('exe_b', 'caching', '');
  expect(said()).toEqual([]);
  frame('exe_c', 'foreign', '');
  expect(said()).toEqual(['exe_c a has from the cache what another project did']);
  frame('exe_d', 'caching', 'y');
  expect(said()).toEqual(['exe_d a has from the cache what was done with another input']);
});

it('[SIM-78] a node that keeps its permit between attempts is a violation', () => {
  const complaints: string[] = [];
  const journals = new Map([['exe_0', new Legality()]]);
  let rows: PermitRow[] = [];
  const permits = new Permits(
    (what) => complaints.push(what),
    journals,
    () => rows,
  );
  const gated = { type: 'node.gated', node: 'a', gate: { kind: 'concurrency', key: 'k', limit: 1 } } as const;
  const entries: Entry[] = [begin, gated, started, { type: 'node.retrying', node: 'a', error, until: 9 }];
  journals.get('exe_0')?.frame(1, 1, entries);
  permits.onFrame('exe_0', entries);
  expect(complaints).toEqual([]);
  rows = [{ executionId: 'exe_0', node: 'a', isHeld: true }];
  permits.onFrame('exe_0', entries);
  expect(complaints).toEqual(['exe_0 a is between attempts, and has the permit k']);
});

it('[SIM-79] a node that was undone and does not begin again is a violation', () => {
  const complaintsOf = (nodes: readonly string[], isReplayed = false): string[] => {
    const journal = new Legality();
    journal.isReplayed = isReplayed;
    journal.frame(1, 1, [
      begin,
      { type: 'node.completed', node: 'a', undo: NULL_VALUE },
      { type: 'scope.compensating', scope: '', status: 'failed', error: null },
      { ...started, node: '~undo/a' },
      { type: 'node.completed', node: '~undo/a' },
      { type: 'run.finished', status: 'failed', error },
      { type: 'run.reopened', nodes: [...nodes], renewed: [...nodes] },
    ]);
    return journal.complaints;
  };
  expect(complaintsOf(['a'])).toEqual([]);
  expect(complaintsOf(['b'], true)).toEqual([]);
  expect(complaintsOf(['b'])).toEqual(['a was undone, and does not begin again']);
});

describe('loops', () => {
  const body: Record<string, Keys> = { a: { break: true } };
  const nodes: Record<string, Keys> = {
    loop: { forEach: { in: [], parallel: true, maxConcurrency: 2 }, do: { nodes: body } },
    wide: { forEach: { in: [], parallel: true }, do: { nodes: {} } },
    one: { forEach: { in: [] }, do: { nodes: {} } },
    chain: { retryUntil: { until: 'false' }, do: { nodes: {} } },
    split: { split: { in: [] }, do: { nodes: {} } },
    merge: { merge: { wait: 'any' }, needs: ['split'] },
  };
  const complaintsOf = (...frames: readonly (readonly Entry[])[]): string[] => {
    const complaints: string[] = [];
    const find = (path: string) => {
      const beside = path.includes('/') ? body : nodes;
      const keys = beside[path.slice(path.lastIndexOf('/') + 1)];
      return keys && { keys, beside };
    };
    const loops = new Loops({ complain: (what) => complaints.push(what), find });
    for (const entries of frames) {
      for (const entry of entries) loops.entry(entry);
      loops.end();
    }
    return complaints;
  };
  const opened = (node: string): Entry => ({ type: 'node.opened', node });
  const iterations = (node: string, from: number, to: number): Entry => ({ type: 'scopes.opened', node, from, to });
  const closed = (scope: string): Entry => ({ type: 'scope.closed', scope });
  const failed = (scope: string): Entry => ({ type: 'scope.closed', scope, error });

  it('[SIM-85] with more open iterations than allowed are a violation', () => {
    expect(
      complaintsOf([opened('loop'), iterations('loop', 0, 2), closed('loop/0'), iterations('loop', 2, 3)]),
    ).toEqual([]);
    expect(complaintsOf([opened('loop'), iterations('loop', 0, 2), iterations('loop', 2, 3)])).toEqual([
      'loop has 3 open iterations, and may have 2',
    ]);
    expect(complaintsOf([opened('wide'), iterations('wide', 0, 11)])).toEqual([
      'wide has 11 open iterations, and may have 10',
    ]);
    expect(complaintsOf([opened('one'), iterations('one', 0, 2)])).toEqual([
      'one has 2 open iterations, and may have 1',
    ]);
    expect(complaintsOf([opened('one'), iterations('one', 0, 1), opened('one'), iterations('one', 0, 1)])).toEqual([]);
  });

  it('[SIM-85] continue their failed iterations after a retry, and begin others when there is room', () => {
    const begun = [opened('one'), iterations('one', 0, 1), failed('one/0'), iterations('one', 1, 2), failed('one/1')];
    const reopened: Entry = { type: 'run.reopened', nodes: [], open: ['one'] };
    expect(complaintsOf([...begun, reopened, closed('one/0'), closed('one/1'), iterations('one', 2, 3)])).toEqual([]);
    expect(complaintsOf([...begun, reopened, closed('one/0'), iterations('one', 2, 3)])).toEqual([
      'one has 2 open iterations, and may have 1',
    ]);
    const tried = [opened('chain'), iterations('chain', 0, 1), failed('chain/0'), iterations('chain', 1, 2)];
    const again: Entry = { type: 'run.reopened', nodes: [], open: ['chain'] };
    expect(complaintsOf([...tried, failed('chain/1'), again, closed('chain/1'), iterations('chain', 2, 3)])).toEqual(
      [],
    );
  });

  it('[SIM-86] that continue after a break or a first result are a violation', () => {
    const broken: Entry = { type: 'node.completed', node: 'loop/0/a' };
    expect(complaintsOf([opened('loop'), iterations('loop', 0, 1), broken, closed('loop/0')])).toEqual([]);
    expect(complaintsOf([opened('loop'), iterations('loop', 0, 1), broken, iterations('loop', 1, 2)])).toEqual([
      'iteration 1 of loop begins after the break of loop/0/a',
    ]);
    const begun = [opened('split'), iterations('split', 0, 2), closed('split/0')];
    const withdrawn: Entry = { type: 'scope.stopping', scope: 'split/1', error, finally: true };
    expect(complaintsOf([...begun, withdrawn], [iterations('split', 2, 3)])).toEqual([
      'iteration 2 of split begins after its first result',
    ]);
    expect(complaintsOf(begun)).toEqual(['split has its first result, and iterations 1 continue']);
    expect(complaintsOf([...begun, { type: 'run.stopping', status: 'failed', error }])).toEqual([]);
    expect(complaintsOf([opened('split'), iterations('split', 0, 2), failed('split/0')])).toEqual([]);
  });
});

it('[SIM-87] an attempt without one of its grants is a violation', () => {
  const complaintsOf = (...entries: readonly Entry[]): string[] => {
    const complaints: string[] = [];
    const keys: Keys = { concurrency: { key: 'k', limit: 1 }, rateLimit: { key: 'k', limit: 1, per: '1m' } };
    const grants = new Grants({ complain: (what) => complaints.push(what), keysOf: () => keys });
    for (const entry of entries) grants.entry(entry);
    return complaints;
  };
  const permit: Entry = { type: 'node.gated', node: 'a', gate: { kind: 'concurrency', key: 'k', limit: 1 } };
  const moment: Entry = { type: 'node.gated', node: 'a', gate: { kind: 'rate', key: 'k', limit: 1, perMs: 1 } };
  const retrying: Entry = { type: 'node.retrying', node: 'a', error, until: 9 };
  expect(complaintsOf(permit, moment, started)).toEqual([]);
  expect(complaintsOf(permit, moment, started, { type: 'node.returned', node: 'a' }, started)).toEqual([]);
  expect(complaintsOf(permit, started)).toEqual(['a starts, and has not asked for its rateLimit']);
  expect(complaintsOf(permit, moment, started, retrying, moment, started)).toEqual([
    'a starts, and has not asked for its concurrency',
  ]);
});

it('[SIM-88] a wait that ends by an event of another wait is a violation', () => {
  const complaintsOf = (wait: Keys, sent: SentSignal, payload: Json, ...more: readonly Entry[]): string[] => {
    const complaints: string[] = [];
    const conformance = new Conformance({
      complain: (complaint) => complaints.push(complaint),
      definitionOf: () => ({ nodes: { a: { wait } } }),
      valueOf: (stored) => stored?.value ?? null,
      signalOf: () => sent,
    });
    const waiting: Entry = { type: 'node.waiting', node: 'a', waits: [] };
    const output = inlineValue({ event: 'signal', payload, at: '' });
    conformance.frame([begin, waiting, ...more, { type: 'node.completed', node: 'a', output }]);
    return complaints;
  };
  const sent = { signal: 's', key: 'b' };
  const schema = { type: 'object', required: ['fits'] };
  expect(complaintsOf({ signal: 's', key: 'b' }, sent, {})).toEqual([]);
  expect(complaintsOf({ any: [{ signal: 't' }, { signal: 's', key: 'b', schema }] }, sent, { fits: true })).toEqual([]);
  expect(complaintsOf({ signal: 's', key: 'a' }, sent, {})).toEqual([
    "a ends by the signal s with key 'b', which it does not wait for",
  ]);
  expect(complaintsOf({ signal: 's', key: 'b', schema }, sent, {})).toEqual([
    'a ends by the signal s, whose payload does not fit',
  ]);
  const answered: Entry = { type: 'node.answered', node: 'a', approved: true, by: 'eve' };
  const either = { any: [{ signal: 's', key: 'b' }, { approval: { who: ['ann'] } }] };
  expect(complaintsOf(either, sent, {}, answered)).toEqual(['a is answered by eve, who may not']);
  expect(complaintsOf(either, sent, {}, { ...answered, by: 'ann' })).toEqual([]);
});

it('[SIM-89] a signal that is buffered again is a violation', () => {
  const complaints: string[] = [];
  const signals = new Signals((what) => complaints.push(what));
  const message = { type: 'signal', signal: 's', key: '' };
  signals.sent('exe_0', 'msg_1', { ...message, payload: { signal: 1 } });
  signals.sent('exe_0', 'msg_2', { ...message, payload: { signal: 2 } });
  signals.buffered('exe_0', { signal: 1 });
  signals.ended('exe_0', { payload: { signal: 1 } });
  signals.ended('exe_0', { payload: { signal: 2 } });
  expect(complaints).toEqual([]);
  expect(signals.sentWith({ signal: 2 })).toEqual({ signal: 's', key: '' });
  signals.buffered('exe_0', { signal: 1 });
  signals.buffered('exe_0', { signal: 2 });
  expect(complaints).toEqual([
    'signal 1 of exe_0 is buffered more often than it came',
    'signal 2 of exe_0 is buffered more often than it came',
  ]);
});

it('[SIM-90] a node that passes its gate in a pause is a violation', () => {
  const complaintsOf = (...frames: readonly (readonly Entry[])[]): string[] => {
    const journal = new Legality();
    for (const [index, entries] of frames.entries()) journal.frame(index + 1, 1, entries);
    return journal.complaints;
  };
  const gated: Entry = { type: 'node.gated', node: 'a', gate: { kind: 'concurrency', key: 'k', limit: 1 } };
  const scheduled: Entry = { type: 'node.scheduled', nodes: ['a'] };
  const paused: Entry = { type: 'run.paused' };
  expect(complaintsOf([begin, gated], [paused, scheduled])).toEqual([]);
  expect(complaintsOf([begin, gated, paused], [{ type: 'node.granted', node: 'a', until: 1 }])).toEqual([]);
  expect(complaintsOf([begin, gated, paused], [{ type: 'run.resumed' }, scheduled])).toEqual([]);
  expect(complaintsOf([begin, gated, paused], [scheduled])).toEqual([
    'node.scheduled of a, which passes its gate in a pause',
  ]);
});

it('[SIM-80] the documents have the numbers of the code', () => {
  const read = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
  const [readme, guide, spec] = [read('README.md'), read('docs/simulation.md'), read('sim/SPEC.md')];
  const kinds = `${FAULT_KINDS.length} kinds of faults`;
  expect(readme).toContain(`${LIVES} lives of a cluster`);
  expect(readme).toContain(kinds);
  expect(guide).toContain(kinds);
  expect(guide).toContain(`${LIVES} lives, and a crash at every crossing of ${SCENARIOS.length} small scenarios`);
  expect(spec).toContain(`${LIVES} lives pass`);
});
