/** Test runs, the results that they take from other runs, and rehearsals. */
import { type Json, NebulaError } from '@nebula/core';
import { describe, expect, it } from 'vitest';
import type { TestRequest } from '../src/test-runs.ts';
import { altered, BenchTop } from './bench-top.ts';

const hand = (more: Record<string, unknown> = {}) => ({ action: 'hand@1', ...more });
const HOUR_MS = 3_600_000;

const CHAIN = {
  id: 'test',
  nodes: { a: hand(), b: hand({ needs: ['a'], with: { n: '{{ $a.n }}' } }), c: hand({ needs: ['b'] }) },
  output: '{{ $c }}',
};

async function opened(): Promise<BenchTop> {
  const top = new BenchTop();
  await top.open();
  return top;
}

async function started(top: BenchTop, definition: object, test: TestRequest, id = 'exe_tested'): Promise<string> {
  const registering = top.engine.registerTest(definition as Json, test, id);
  await top.untilIdle();
  const { workflowId, version } = await registering;
  const starting = top.engine.start(workflowId, version, { executionId: id, trigger: { type: 'test' } });
  await top.untilIdle();
  return await starting;
}

async function code(top: BenchTop, asked: Promise<unknown>): Promise<string> {
  const settled = asked.then(
    () => 'none',
    (error: unknown) => (error instanceof NebulaError ? error.code : String(error)),
  );
  await top.untilIdle();
  return await settled;
}

describe('a test run', () => {
  it('[ENG-410] has a definition of its own, which no list shows, and continues after a crash', async () => {
    const top = await opened();
    const id = await started(top, CHAIN, { until: 'b', pins: { a: { output: { n: 7 } } } });
    expect(top.call('b').input).toEqual({ n: 7 });
    expect(await top.store.workflows({ limit: 9 })).toEqual([]);
    expect(await top.store.workflowVersions('test', { limit: 9 })).toEqual([]);
    expect(await top.store.workflowVersion('test')).toBeUndefined();
    expect(await top.engine.document(id)).toMatchObject({ version: 0, trigger: { type: 'test' } });
    await top.open();
    await top.untilIdle();
    await top.complete('b', 'done');
    expect(await top.engine.document(id)).toMatchObject({ status: 'completed', output: 'done' });
    expect(top.ran).toEqual(['b', 'b']);
    expect(await top.engine.explain(id, 'a')).toMatchObject({ causes: [{ code: 'pinned' }, { code: 'completed' }] });
  });

  it('[ENG-410] a registration is the first version, and starts without a version use it', async () => {
    const top = await opened();
    await started(top, CHAIN, {});
    expect(await top.register(CHAIN)).toMatchObject({ version: 1 });
    const starting = top.engine.start('test', undefined);
    await top.untilIdle();
    expect(await top.engine.document(await starting)).toMatchObject({ version: 1 });
  });

  it('[ENG-410] is deleted with its definition, a day after its end', async () => {
    const top = await opened();
    const id = await started(top, CHAIN, { until: 'a' });
    await top.complete('a');
    expect(top.data.testVersions.size).toBe(1);
    await top.clock.advance(23 * HOUR_MS);
    expect(await top.status(id)).toBe('completed');
    await top.clock.advance(2 * HOUR_MS);
    expect(await top.status(id)).toBeUndefined();
    expect(top.data.testVersions.size).toBe(0);
  });

  it('[ENG-410] that never began leaves no definition', async () => {
    const top = await opened();
    const registering = top.engine.registerTest(CHAIN as Json, {}, 'exe_never');
    await top.untilIdle();
    await registering;
    await top.clock.advance(HOUR_MS / 2);
    expect(top.data.testVersions.size).toBe(1);
    await top.clock.advance(HOUR_MS);
    expect(top.data.testVersions.size).toBe(0);
  });

  it('[ENG-410] is neither forked nor migrated; a wrong one is not stored', async () => {
    const top = await opened();
    await top.register(CHAIN);
    const id = await started(top, CHAIN, { until: 'a' });
    await top.complete('a');
    expect(await code(top, top.engine.fork(id, 'a'))).toBe('TEST_RUN');
    expect(await code(top, top.engine.requestMigration(id, {}))).toBe('TEST_RUN');
    expect(await code(top, top.engine.checkMigration(id, {}))).toBe('TEST_RUN');
    expect(await code(top, top.engine.registerTest(CHAIN as Json, { until: 'z' }, 'exe_wrong'))).toBe('TEST_INVALID');
    expect([...top.data.testVersions.values()].map(({ executionId }) => executionId)).toEqual([id]);
  });

  it('[ENG-430] has the definition that it was started with, and not that of another attempt with its id', async () => {
    const top = await opened();
    const other = top.engine.registerTest(CHAIN as Json, { until: 'a' }, 'exe_same');
    await top.untilIdle();
    await other;
    const id = await started(top, CHAIN, { until: 'b', pins: { a: { output: { n: 7 } } } }, 'exe_same');
    await top.open();
    await top.untilIdle();
    await top.complete('b', 'done');
    expect(await top.engine.document(id)).toMatchObject({ status: 'completed', output: 'done' });
  });
});

describe('results of another run', () => {
  const LOOP = {
    id: 'test',
    nodes: {
      list: hand(),
      bad: hand({ onError: 'ignore' }),
      never: hand({ needs: ['list'], when: 'false' }),
      each: { needs: ['list'], forEach: { in: '$list' }, do: { nodes: { x: hand(), y: hand({ needs: ['x'] }) } } },
      end: hand({ needs: ['each', 'bad', 'never'], join: 'any', with: { all: '{{ $each }}' } }),
    },
  };

  async function ended(top: BenchTop): Promise<string> {
    const id = await top.start(LOOP);
    await top.fail('bad', { code: 'NO_FUNDS', message: 'too poor' });
    await top.complete('list', [1, 2]);
    for (const at of [0, 1]) {
      await top.complete(`each/${at}/x`, { at });
      await top.complete(`each/${at}/y`, 'z'.repeat(100));
    }
    await top.complete('end', 'over');
    expect(await top.status(id)).toBe('completed');
    return id;
  }

  it('[ENG-411] are pins of the nodes before the tested one', async () => {
    const top = await opened();
    const from = await ended(top);
    const id = await started(top, LOOP, { only: 'end', from });
    expect(top.call('end').input).toEqual({ all: ['z'.repeat(100), 'z'.repeat(100)] });
    expect(await top.engine.document(id)).toMatchObject({
      nodes: {
        bad: { status: 'failed', error: { code: 'NO_FUNDS', message: 'too poor' } },
        never: { status: 'skipped', skipped: 'when' },
        each: { status: 'completed' },
      },
    });
  });

  it('[ENG-411] given pins take precedence; in a loop the last iteration counts', async () => {
    const top = await opened();
    const from = await ended(top);
    await started(top, LOOP, { only: 'each/y', from, pins: { list: { output: ['only'] } } });
    expect(top.ran.slice(-1)).toEqual(['each/0/y']);
    expect(await top.engine.document('exe_tested')).toMatchObject({ nodes: { 'each/0/x': { output: { at: 1 } } } });
  });

  it('[ENG-411] must be of an ended run of the workflow, and not too large', async () => {
    const top = await opened();
    const asked = (from: string, only?: string, definition: object = LOOP) =>
      code(top, top.engine.registerTest(definition as Json, { from, ...(only && { only }) }, 'exe_t'));
    expect(await asked('exe_none', 'end')).toBe('UNKNOWN_EXECUTION');
    const running = await top.start(LOOP);
    expect(await asked(running, 'end')).toBe('NOT_FINISHED');
    const from = await ended(top);
    expect(await asked(from)).toBe('TEST_INVALID');
    expect(await asked(from, 'end', { ...LOOP, id: 'other' })).toBe('UNKNOWN_EXECUTION');
    const large = await top.start(CHAIN);
    await top.complete('a', { n: 1, text: 'x'.repeat(1_100_000) });
    await top.complete('b');
    await top.complete('c');
    expect(await asked(large, 'c', CHAIN)).toBe('TOO_LARGE');
    expect(await asked(large, 'a', CHAIN)).toBe('none');
  });

  it('[ENG-412] are listed by the paths of the definition, and long ones are cut', async () => {
    const top = new BenchTop();
    await top.open({ inlineLimitBytes: 80 });
    const id = await ended(top);
    const page = (after: number, limit = 3) => top.engine.results(id, { after, limit, maxChars: 20 });
    const reading = page(0);
    await top.untilIdle();
    expect(await reading).toMatchObject({
      items: [
        { node: 'list', path: 'list', status: 'completed', output: { bytes: 5, value: [1, 2] } },
        { node: 'bad', status: 'failed', error: { code: 'NO_FUNDS' } },
        { node: 'never', status: 'skipped' },
      ],
      next: 3,
    });
    const rest = await page(3, 10);
    expect(rest?.items.map(({ node, path }) => [node, path])).toEqual([
      ['each', 'each'],
      ['each/x', 'each/1/x'],
      ['each/y', 'each/1/y'],
      ['end', 'end'],
    ]);
    expect(rest?.items[2]).toMatchObject({ output: { bytes: 102, preview: `"${'z'.repeat(19)}` } });
    expect(rest?.next).toBeNull();
    expect(await top.engine.results('exe_none', { after: 0, limit: 1, maxChars: 1 })).toBeUndefined();
  });
});

describe('a rehearsal', () => {
  const OPTIONS = { project: 'default', limit: 10, maxMs: 10_000 };

  async function withRuns(): Promise<{ top: BenchTop; ids: string[] }> {
    const top = await opened();
    const ids: string[] = [];
    for (const n of [1, 2]) {
      ids.push(await top.start(CHAIN));
      await top.complete('a', { n });
      await top.complete('b');
      await top.complete('c');
      await top.clock.advance(1_000);
    }
    return { top, ids };
  }

  it('[ENG-413] finds that nothing differs, or the first decision that does', async () => {
    const { top, ids } = await withRuns();
    await started(top, CHAIN, { until: 'a' });
    await top.complete('a', { n: 3 });
    await top.start(CHAIN);
    const before = top.data.position;
    const [second, first] = await top.engine.rehearse({ ...CHAIN, name: 'Renamed' } as Json, OPTIONS);
    expect([first, second].map((run) => [run?.executionId, run?.outcome.result])).toEqual([
      [ids[0], 'same'],
      [ids[1], 'same'],
    ]);
    const edited = { ...CHAIN, nodes: { ...CHAIN.nodes, c: hand({ needs: ['b'], when: '$a.n > 1' }) } };
    const runs = await top.engine.rehearse(edited as Json, OPTIONS);
    expect(runs).toMatchObject([
      { executionId: ids[1], status: 'completed', version: 1, outcome: { result: 'same' } },
      { executionId: ids[0], outcome: { result: 'differs', difference: { kind: 'would-not-run', node: 'c' } } },
    ]);
    expect(top.data.position).toBe(before);
    expect(await top.engine.rehearse(edited as Json, { ...OPTIONS, limit: 1 })).toHaveLength(1);
    expect(await top.engine.rehearse(edited as Json, { ...OPTIONS, project: 'other' })).toEqual([]);
  });

  it('[ENG-413] takes ids, seeds, snapshots and large values as they were', async () => {
    const top = new BenchTop();
    await top.open({ inlineLimitBytes: 100, snapshotMinBytes: 1 });
    const drawing = {
      id: 'test',
      nodes: {
        a: hand({ with: { id: '{{ uuid() }}', of: '{{ $execution.id }}' } }),
        s: { needs: ['a'], set: { list: '{{ range(0, 60) }}' } },
        b: hand({ needs: ['s'], with: { list: '{{ $vars.list }}' } }),
      },
      variables: { list: [] },
      output: '{{ $s }}',
    };
    const id = await top.start(drawing);
    await top.complete('a', 1);
    await top.complete('b', 2);
    const entries = (await top.engine.journal(id)).flatMap((frame) => frame.entries);
    expect(entries.map(({ type }) => type)).toContain('run.checkpointed');
    expect(JSON.stringify(entries)).toContain('"blob"');
    const [same] = await top.engine.rehearse({ ...drawing, name: 'x' } as Json, OPTIONS);
    expect(same?.outcome).toMatchObject({ result: 'same' });
    const edited = {
      ...drawing,
      nodes: { ...drawing.nodes, s: { needs: ['a'], set: { list: '{{ range(0, 61) }}' } } },
    };
    const [other] = await top.engine.rehearse(edited as Json, OPTIONS);
    expect(other?.outcome).toMatchObject({ result: 'differs', difference: { kind: 'other-output', node: 's' } });
  });

  it('[ENG-413] reports what it cannot replay', async () => {
    const { top } = await withRuns();
    const renamed = { id: 'test', nodes: { x: hand() } };
    const [missing] = await top.engine.rehearse(renamed as Json, OPTIONS);
    expect(missing).toMatchObject({ outcome: { result: 'differs', difference: { kind: 'node-missing', node: 'a' } } });
    const long = await top.start(CHAIN);
    await top.complete('a', { n: 1, text: 'x'.repeat(60_000) });
    await top.complete('b', 'y'.repeat(60_000));
    await top.complete('c', 'z'.repeat(300_000));
    await top.open({
      wrapStore: altered((store) => ({
        frames: async (id, after, limit) => grown(await store.frames(id, after, limit)),
      })),
    });
    const [tooLong] = await top.engine.rehearse(CHAIN as Json, OPTIONS);
    expect(tooLong).toMatchObject({
      executionId: long,
      outcome: { result: 'not-replayed', reason: 'Its journal is too long.' },
    });
  });

  it('[ENG-414] ends after its time', async () => {
    const { top } = await withRuns();
    const runs = await top.engine.rehearse(CHAIN as Json, { ...OPTIONS, maxMs: 0 });
    expect(runs.map(({ outcome }) => outcome)).toEqual([
      { result: 'not-replayed', reason: 'The time for this rehearsal is over.' },
      { result: 'not-replayed', reason: 'The time for this rehearsal is over.' },
    ]);
  });
});

/** A frame that is longer than one piece. */
function grown<Row extends { readonly seq: number; readonly entries: string }>(rows: readonly Row[]): Row[] {
  return rows.map((row) => (row.seq === 2 ? { ...row, entries: `${row.entries}${' '.repeat(300_000)}` } : row));
}
