import { describe, expect, it } from 'vitest';
import { everyCrashPoint, fail, sequence, testWorkflow } from '../src/index.ts';

const ORDER = {
  id: 'order',
  nodes: {
    fetch: { action: 'shop.fetch' },
    charge: { needs: ['fetch'], action: 'bank.charge', with: { amount: '{{ $fetch.amout }}' } },
    ship: { needs: ['charge'], action: 'shop.ship' },
  },
} as const;
const MENDED = {
  ...ORDER,
  nodes: { ...ORDER.nodes, charge: { ...ORDER.nodes.charge, with: { amount: '{{ $fetch.amount }}' } } },
};
const MOCKS = { fetch: { amount: 3 }, charge: { id: 'c1' }, ship: true };
const OPTIONS = { mocks: MOCKS, versions: [MENDED] };

describe('a run that is moved to a mended version', () => {
  it('[TST-45] continues with the results that it had', async () => {
    const run = await testWorkflow(ORDER, OPTIONS);
    expect(run.error?.message).toContain('amout');
    await run.migrate();
    expect(run.status).toBe('failed');
    await run.retry();
    expect(run).toMatchObject({ status: 'completed', output: { ship: true } });
    expect(run.calls('fetch')).toHaveLength(1);
    expect(run.calls('charge').map(({ input }) => input)).toEqual([{ amount: 3 }]);
  });

  it('[TST-45] survives a crash at every append, before and after', async () => {
    const report = await everyCrashPoint(ORDER, {
      ...OPTIONS,
      steps: async (run) => {
        await run.migrate();
        await run.retry();
      },
    });
    expect(report.crashes).toBeGreaterThan(8);
  });

  it('[TST-45] survives a crash at every append while it waits, is paused, and is undone', async () => {
    const undo = { action: 'bank.refund', with: { id: '{{ $self.output.id }}' } };
    const nodes = {
      charge: { action: 'bank.charge', compensate: undo },
      ok: { needs: ['charge'], wait: { signal: 'go' } },
      each: { needs: ['ok'], forEach: { in: [1, 2] }, do: { nodes: { pack: { action: 'shop.pack' } } } },
    };
    const second = { ...nodes, note: { needs: ['charge'], action: 'shop.note' } };
    const third = {
      ...second,
      each: { ...nodes.each, do: { nodes: { pack: { action: 'shop.pack', with: { n: '{{ $item }}' } } } } },
    };
    const report = await everyCrashPoint(
      { id: 'w', nodes },
      {
        mocks: {
          'bank.charge': { id: 'c' },
          'bank.refund': null,
          'shop.note': null,
          'shop.pack': sequence([true, fail('BROKEN'), true, true, true]),
        },
        versions: [
          { id: 'w', nodes: second },
          { id: 'w', nodes: third },
        ],
        steps: async (run) => {
          await run.migrate();
          await run.pause();
          await run.resume();
          await run.signal('go');
          expect(run.status).toBe('failed');
          await run.migrate({ keep: ['each'] });
          await run.migrateBack();
          await run.migrate({ to: 3, again: ['each'] });
          await run.retry();
          await run.signal('go');
          expect(run.status).toBe('completed');
        },
      },
    );
    expect(report.crashes).toBeGreaterThan(20);
  });

  it('[TST-45] is refused without a decision, and when there is no such version', async () => {
    const other = { ...MENDED, nodes: { ...MENDED.nodes, fetch: { action: 'shop.fetch', with: { x: 1 } } } };
    const run = await testWorkflow(ORDER, { mocks: MOCKS, versions: [other] });
    await expect(run.migrate()).rejects.toMatchObject({ code: 'DECISION_NEEDED' });
    await expect(run.migrate({ to: 5 })).rejects.toMatchObject({ code: 'UNKNOWN_WORKFLOW' });
    await run.migrate({ keep: ['fetch'] });
    await run.retry();
    expect(run.status).toBe('completed');
  });
});
