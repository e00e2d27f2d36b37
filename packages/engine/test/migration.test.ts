/** Runs that are moved to another version, with the store, snapshots and other engines around them. */
import { memoryQueue, memoryStore } from '@nebula/drivers/memory';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../src/index.ts';
import { BenchTop } from './bench-top.ts';

const hand = (more: Record<string, unknown> = {}) => ({ action: 'hand@1', ...more });
const nodes = (expression: string) => ({ a: hand(), b: hand({ needs: ['a'], with: { x: `{{ ${expression} }}` } }) });

async function failed(options = {}): Promise<{ top: BenchTop; executionId: string }> {
  const top = new BenchTop();
  await top.open(options);
  const executionId = await top.start({ id: 'w', nodes: nodes('$a.wrong') });
  await top.complete('a', { right: 1 });
  expect(await top.status(executionId)).toBe('failed');
  await top.register({ id: 'w', nodes: nodes('$a.right') });
  return { top, executionId };
}

describe('a run that is moved to another version', () => {
  it('[ENG-300] has the new version in lists and documents, and continues after a restart', async () => {
    const { top, executionId } = await failed();
    const report = await top.engine.requestMigration(executionId, {});
    expect(report).toMatchObject({ from: 1, to: 2, changes: [{ node: 'b', keys: ['with'] }], refusal: undefined });
    await top.clock.advance(10);
    expect((await top.engine.list({ limit: 10 })).rows).toMatchObject([{ executionId, version: 2, status: 'failed' }]);
    await top.open();
    expect(await top.engine.document(executionId)).toMatchObject({ version: 2, status: 'failed' });
    await top.engine.requestRetry(executionId);
    await top.clock.advance(10);
    expect(top.call('b').input).toEqual({ x: 1 });
    await top.complete('b', 2);
    expect(await top.engine.document(executionId)).toMatchObject({ status: 'completed', version: 2 });
    expect((await top.engine.timeline(executionId)).map(({ type }) => type)).toContain('WorkflowMigrated');
  });

  it('[ENG-301] is read at an earlier frame with the version that it had then', async () => {
    const { top, executionId } = await failed();
    await top.register({ id: 'w', nodes: { c: hand() } });
    const before = await top.engine.document(executionId);
    const seq = (await top.engine.journal(executionId)).at(-1)?.seq;
    await top.engine.requestMigration(executionId, { version: 3, decisions: { a: 'drop' } });
    await top.clock.advance(10);
    expect(await top.engine.document(executionId, seq)).toEqual({ ...before, now: undefined });
    expect(Object.keys((await top.engine.document(executionId))?.nodes ?? {})).toEqual(['c']);
    await top.open();
    expect(await top.engine.document(executionId, seq)).toMatchObject({
      version: 1,
      nodes: { a: { status: 'completed' } },
    });
  });

  it('[ENG-301] is read from a snapshot before its migration', async () => {
    const { top, executionId } = await failed({ snapshotMinBytes: 1 });
    await top.engine.requestMigration(executionId, {});
    await top.clock.advance(10);
    expect(top.data.runs.get(executionId)?.snapshot?.state).toContain('"version":1');
    await top.open();
    expect(await top.engine.document(executionId)).toMatchObject({ version: 2 });
    await top.engine.requestMigrationBack(executionId);
    await top.clock.advance(10);
    await top.open();
    expect(await top.engine.document(executionId)).toMatchObject({ version: 1, nodes: { a: { status: 'completed' } } });
    await expect(top.engine.requestMigrationBack(executionId)).rejects.toMatchObject({
      code: 'NOT_MIGRATED',
      message: `The migration of execution ${executionId} is taken back already: it is in version 1.`,
    });
  });

  it('[ENG-301] is read from a snapshot after its migration', async () => {
    const top = new BenchTop();
    await top.open({ snapshotMinBytes: 1 });
    const go = { wait: { signal: 's' } };
    const executionId = await top.start({ id: 'w', nodes: { go, b: hand({ needs: ['go'] }) } });
    await top.register({ id: 'w', nodes: { go, b: hand({ needs: ['go'] }), c: hand({ needs: ['b'] }) } });
    await top.engine.requestMigration(executionId, {});
    await top.engine.requestSignal(executionId, { signal: 's', payload: 'x'.repeat(5_000) });
    await top.clock.advance(10);
    expect(top.data.runs.get(executionId)?.snapshot?.state).toContain('"version":2');
    await top.open();
    await top.clock.advance(10);
    await top.complete('b');
    await top.complete('c');
    expect(await top.status(executionId)).toBe('completed');
  });

  it('[ENG-300] can be forked and read afterwards', async () => {
    const { top, executionId } = await failed();
    await top.engine.requestMigration(executionId, {});
    await top.engine.requestRetry(executionId);
    await top.clock.advance(10);
    await top.complete('b', 2);
    const fork = await top.engine.fork(executionId, 'b');
    await top.clock.advance(10);
    await top.complete('b', 3);
    expect(await top.engine.document(fork)).toMatchObject({ status: 'completed', version: 2 });
  });

  it('[ENG-302] is continued in its new version by an engine that has the old one in memory', async () => {
    const top = new BenchTop();
    await top.open({ exclusive: false } as object);
    const executionId = await top.start({
      id: 'w',
      nodes: { go: { wait: { signal: 's' } }, b: hand({ needs: ['go'] }) },
    });
    await top.register({
      id: 'w',
      nodes: { go: { wait: { signal: 's' } }, b: hand({ needs: ['go'], with: { n: 2 } }) },
    });
    const other = createEngine(
      {
        ...top.drivers,
        store: memoryStore({ data: top.data, exclusive: false }),
        queue: memoryQueue({ clock: top.clock }),
      },
      { actions: top.actions },
    );
    await other.requestMigration(executionId, {});
    await other.requestSignal(executionId, { signal: 's' });
    await top.clock.advance(60_000);
    expect(top.call('b').input).toEqual({ n: 2 });
  });

  it('[ENG-303] is refused if its input does not fit, and gets the defaults of the new version', async () => {
    const top = new BenchTop();
    await top.open();
    const input = (more: object) => ({ type: 'object', properties: { n: { type: 'integer', ...more } } });
    const wait = { go: { wait: { signal: 's' } } };
    const executionId = await top.start({ id: 'w', nodes: wait }, {});
    await top.register({ id: 'w', input: { ...input({}), required: ['n'] }, nodes: wait });
    const report = await top.engine.checkMigration(executionId, {});
    expect(report?.refusal).toMatchObject({ code: 'INPUT_INVALID' });
    await expect(top.engine.requestMigration(executionId, {})).rejects.toMatchObject({ code: 'INPUT_INVALID' });
    await top.register({
      id: 'w',
      input: input({ default: 7 }),
      nodes: { ...wait, b: hand({ with: { n: '{{ $input.n }}' } }) },
    });
    await top.engine.requestMigration(executionId, {});
    await top.clock.advance(10);
    expect(top.call('b').input).toEqual({ n: 7 });
  });

  it('[ENG-303] is checked without being changed', async () => {
    const { top, executionId } = await failed();
    const frames = (await top.engine.journal(executionId)).length;
    expect(await top.engine.checkMigration(executionId, { version: 2 })).toMatchObject({ to: 2, refusal: undefined });
    expect(await top.engine.checkMigration(executionId, { version: 1 })).toMatchObject({
      refusal: { code: 'SAME_VERSION' },
    });
    await expect(top.engine.checkMigration(executionId, { version: 9 })).rejects.toMatchObject({
      code: 'UNKNOWN_WORKFLOW',
    });
    expect(await top.engine.checkMigration('exe_none', {})).toBeUndefined();
    await top.clock.advance(10);
    expect((await top.engine.journal(executionId)).length).toBe(frames);
  });
});
