/** Random faults of remote workers, their network and the engine: no work is done twice, and no run is stuck. */
import { announcedAction, type Json } from '@nebula/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RemoteTask } from '../src/index.ts';
import { BenchTop } from './bench-top.ts';

const LEASE_MS = 10_000;
const announced = [announcedAction({ id: 'far', version: '1', effect: 'idempotent' })];
const retry = { attempts: 50, lost: 200, delay: '0s' };
const far = (more: Record<string, unknown> = {}) => ({ action: 'far@1', retry, ...more });
const WORKFLOW = {
  nodes: {
    a: far(),
    b: far({ needs: ['a'] }),
    c: { action: 'echo@1', needs: ['a'], retry },
    loop: {
      needs: ['b'],
      forEach: { in: [1, 2, 3], parallel: true },
      do: { nodes: { x: far(), y: { action: 'echo@1', needs: ['x'], retry } } },
    },
    d: far({ needs: ['loop', 'c'] }),
  },
};

/** `who` selects one of all leases ever handed out. */
type WorkerStep =
  | { readonly do: 'claim'; readonly max: number; readonly goes: boolean }
  | { readonly do: 'complete' | 'fail' | 'return' | 'extend'; readonly who: number; readonly waits: boolean }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'crash' };

const whose = fc.record({
  do: fc.constantFrom('complete', 'complete', 'complete', 'fail', 'return', 'extend'),
  who: fc.nat(1_000),
  waits: fc.boolean(),
});
const workerSteps: fc.Arbitrary<WorkerStep[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant('claim'), max: fc.integer({ min: 1, max: 3 }), goes: fc.boolean() }),
    },
    { weight: 6, arbitrary: whose },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('pass'), ms: fc.constantFrom(1, 500, 9_000, 40_000) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('crash') }) },
  ) as fc.Arbitrary<WorkerStep>,
  { maxLength: 60 },
);

class World {
  readonly top = new BenchTop();
  readonly given: RemoteTask[] = [];
  readonly accepted: string[] = [];
  executionId = '';

  async begin(): Promise<void> {
    await this.top.open({ announced });
    this.executionId = await this.top.start(WORKFLOW);
  }

  async act(step: WorkerStep): Promise<void> {
    const { top } = this;
    switch (step.do) {
      case 'pass':
        return top.clock.advance(step.ms);
      case 'crash':
        return void (await top.open({ announced }));
      case 'claim': {
        const gone = new AbortController();
        const request = { serves: () => true, max: step.max, leaseMs: LEASE_MS, signal: gone.signal };
        const claiming = top.engine.remote.claim(request).then(
          (work) => this.given.push(...work),
          () => undefined,
        );
        if (step.goes) gone.abort();
        await top.untilIdle();
        return void claiming;
      }
      default:
        return this.tell(step);
    }
  }

  private async tell(step: Extract<WorkerStep, { who: number }>): Promise<void> {
    const { top, given } = this;
    const work = given[step.who % Math.max(1, given.length)];
    if (work === undefined) return;
    const { remote } = top.engine;
    const { leaseId, node, attempt } = work;
    const error = { code: 'NO', kind: 'USER', message: 'no' } as const;
    const telling: Promise<unknown> =
      step.do === 'extend'
        ? remote.extend(leaseId)
        : step.do === 'complete'
          ? remote.end(leaseId, { status: 'completed', output: leaseId }).then(() => {
              this.accepted.push(`${node} ${attempt} ${leaseId}`);
            })
          : remote.end(leaseId, step.do === 'fail' ? { status: 'failed', error } : { status: 'returned' });
    telling.catch(() => undefined);
    if (step.waits) await top.clock.advance(20);
  }

  /** No fault strikes from now on. */
  async finish(): Promise<void> {
    for (let round = 0; round < 40; round++) {
      if ((await this.top.status(this.executionId)) === 'completed') return;
      const from = this.given.length;
      await this.act({ do: 'claim', max: 5, goes: false });
      await this.top.clock.advance(20);
      for (let who = from; who < this.given.length; who++) await this.tell({ do: 'complete', who, waits: true });
      // Tasks of workers that never reported come back.
      await this.top.clock.advance(LEASE_MS + 31_000);
    }
  }
}

describe('remote workers, at random', () => {
  it('[ENG-201] no attempt counts twice, nothing that was accepted is lost, no run is stuck', async () => {
    await fc.assert(
      fc.asyncProperty(workerSteps, async (all) => {
        const world = new World();
        await world.begin();
        for (const step of all) await world.act(step);
        await world.finish();
        const { top, executionId, accepted } = world;
        expect(await top.status(executionId)).toBe('completed');
        const entries = (await top.engine.journal(executionId)).flatMap(({ entries: one }) => one) as unknown as {
          type: string;
          node: string;
          output?: { value?: Json };
        }[];
        const completed = entries.filter(({ type }) => type === 'node.completed');
        const nodes = completed.map(({ node }) => node);
        expect(new Set(nodes).size).toBe(nodes.length);
        // Every outcome that was accepted is in the journal, which has no others.
        const kept = completed.filter(({ node }) => !/c$|y$|loop$/.test(node)).map(({ output }) => output?.value);
        const leases = accepted.map((one) => one.split(' ')[2]);
        for (const lease of leases) expect(kept).toContain(lease);
        expect(new Set(leases).size).toBe(leases.length);
        expect(kept).toHaveLength(6);
      }),
      { numRuns: 60 },
    );
  });

  it('[ENG-201] a crash after every step of a claim and of an outcome', async () => {
    for (let step = 0; step < 12; step++) {
      const world = new World();
      await world.begin();
      const { top } = world;
      const claiming = top.engine.remote.claim({ serves: () => true, max: 1, leaseMs: LEASE_MS });
      void claiming.then((work) => {
        world.given.push(...work);
        for (const { leaseId } of work) {
          void top.engine.remote.end(leaseId, { status: 'completed', output: leaseId }).catch(() => undefined);
        }
      });
      for (let at = 0; at < step; at++) await top.clock.runSoon();
      await top.open({ announced });
      await world.finish();
      expect(await top.status(world.executionId)).toBe('completed');
    }
  });
});
