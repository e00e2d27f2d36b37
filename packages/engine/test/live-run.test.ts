import { compilePlan, createCatalog, type WorkflowDefinition } from '@nebula/core';
import { newRunState } from '@nebula/core/run';
import { memoryBlobs, seededRandom } from '@nebula/drivers/memory';
import { realClock, sha256 } from '@nebula/drivers/real';
import { describe, expect, it } from 'vitest';
import { Values } from '../src/storage/values.ts';
import { LiveRun } from '../src/turn/live-run.ts';
import { writeOf } from '../src/turn/write.ts';

const noop = { id: 'noop', version: '1', effect: 'pure', run: () => null } as const;
const definition = { id: 'test', nodes: { a: { action: 'noop@1' } } } as unknown as WorkflowDefinition;
const drivers = {
  values: new Values({ blobs: memoryBlobs(), digest: sha256, clock: realClock }, 1_000),
  random: seededRandom(1, () => 0),
};

function runIn(mode: 'new' | 'idle'): LiveRun {
  const { plan } = compilePlan(definition, createCatalog([noop]));
  if (plan === undefined) throw new Error('the definition does not compile');
  return new LiveRun(newRunState(plan, 'exe_1'), mode, 'default');
}

describe('the mode of a run', () => {
  it('is new until its first frame is durable', () => {
    const run = runIn('new');
    expect(run.isNew).toBe(true);
    const draft = run.draftAt(1, drivers);
    expect(run.mode).toBe('drafting');
    expect(run.isNew).toBe(true);
    expect(run.draftAt(2, drivers)).toBe(draft);
    run.draftDone();
    expect(run.mode).toBe('idle');
    expect(run.isNew).toBe(false);
    expect(run.draft).toBeNull();
  });

  it('is new again when its first draft is thrown away, and idle after a later one', () => {
    const first = runIn('new');
    first.draftAt(1, drivers);
    first.draftUndone();
    expect(first.mode).toBe('new');
    const later = runIn('idle');
    later.draftAt(1, drivers);
    expect(later.draftUndone()?.isFirst).toBe(false);
    expect(later.mode).toBe('idle');
    expect(later.draftUndone()).toBeNull();
  });

  it('does not change from drafting to reading: a draft is thrown away first', () => {
    const run = runIn('idle');
    run.draftAt(1, drivers);
    expect(() => run.read('journal')).toThrow('drafting cannot become reading');
  });

  it('allows no draft while the run is read', () => {
    const run = runIn('idle');
    run.read('values');
    run.read('journal');
    expect(() => run.draftAt(1, drivers)).toThrow('reading cannot become drafting');
    run.ready();
    expect(run.mode).toBe('idle');
  });

  it('allows no reading of a run that the store does not know', () => {
    expect(() => runIn('new').read('journal')).toThrow('new cannot become reading');
  });
});

describe('[ENG-294] a run whose journal is ahead of the clock', () => {
  const parts = { store: { exclusive: false }, workerId: 'w', retentionMs: null };
  const ahead = (storedWakeAt: number) => {
    const run = runIn('idle');
    run.lastAt = 700_000;
    // The run has work, so an engine checks it again after 30 s.
    run.state.dispatched = 1;
    run.storedWakeAt = storedWakeAt;
    const draft = run.draftAt(100_000, drivers);
    expect([draft.turn.now, draft.begunAt]).toEqual([700_000, 100_000]);
    return { run, draft };
  };

  it('does not write a wake time that is still to come by the clock', () => {
    const { run, draft } = ahead(130_000);
    expect(writeOf(run, draft, parts, undefined)).toBeUndefined();
  });

  it('writes one that has passed by the clock, and makes a run that belongs to another due at once', () => {
    const passed = ahead(90_000);
    expect(writeOf(passed.run, passed.draft, parts, undefined)).toMatchObject({ wakeAt: 130_000 });
    const { run, draft } = ahead(130_000);
    draft.late.push({ type: 'wake', lost: [], jitter: 0 });
    expect(writeOf(run, draft, parts, undefined)).toMatchObject({ wakeAt: 100_000 });
  });
});
