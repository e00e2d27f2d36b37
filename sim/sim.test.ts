import { readdirSync, readFileSync } from 'node:fs';
import type { Entry, Plan, RunDocument } from '@nebula/core';
import { inlineValue, NULL_VALUE } from '@nebula/core/run';
import { describe, expect, it } from 'vitest';
import { Chance } from './chance.ts';
import { Coverage } from './coverage.ts';
import { play } from './every-crossing.ts';
import { Injector } from './injector.ts';
import { Leases } from './leases.ts';
import { Legality } from './legality.ts';
import { liveMany, liveUntil } from './lives.ts';
import { printLife, type RecordedLife } from './recorded-life.ts';
import { SCENARIOS } from './scenarios.ts';
import { live, replay } from './script.ts';

const SHAPES = [
  { engines: 1, sharesQueue: false },
  { engines: 2, sharesQueue: true },
];

describe('one crash, at each crossing of a small scenario', { timeout: 900_000 }, () => {
  for (const scenario of SCENARIOS) {
    for (const shape of SHAPES) {
      it(`[SIM-5] ${scenario.name}, ${shape.engines === 1 ? 'one engine' : 'two engines and one queue'}`, async () => {
        // Compiled once for all runs of a scenario: a tenth of their CPU time.
        const options = { ...shape, compiled: new Map<string, Plan>() };
        const calm = await play(scenario, options);
        expect(calm.violations).toEqual([]);
        for (const crashAt of calm.crossings) {
          const { ending, violations } = await play(scenario, { ...options, crashAt });
          expect(violations, `crash at ${crashAt}`).toEqual([]);
          expect(ending, `crash at ${crashAt}`).toEqual(calm.ending);
        }
      });
    }
  }
});

describe('a seed', { timeout: 300_000 }, () => {
  it('[SIM-4] is the same life, word for word', async () => {
    for (const seed of [3, 4, 5, 6, 30, 31]) {
      const [one, other] = [await live(seed, { keepsTrace: true }), await live(seed, { keepsTrace: true })];
      expect(one.world.trace.length).toBeGreaterThan(100);
      expect(other.world.trace).toEqual(one.world.trace);
    }
  });

  it('[SIM-4] is another life than the next one', async () => {
    const [one, other] = [await live(7, { keepsTrace: true }), await live(8, { keepsTrace: true })];
    expect(other.world.trace).not.toEqual(one.world.trace);
  });
});

it('[SIM-62] calls without end at one moment are a violation, and end the life', () => {
  const violations: string[] = [];
  let now = 1;
  const injector = new Injector({
    chance: new Chance(1),
    coverage: new Coverage(),
    calm: Number.POSITIVE_INFINITY,
    now: () => now,
    events: () => 0,
    say: () => undefined,
    violated: (what) => violations.push(what),
  });
  const crossing = { by: 'p1', site: 'store.send', side: 'before' } as const;
  const call = (times: number): number =>
    Array.from({ length: times }, () => injector.kills(crossing, () => [])).indexOf(true);
  expect(call(15_000)).toBe(-1);
  now = 2;
  expect(call(19_999)).toBe(-1);
  expect(violations).toEqual([]);
  expect(call(10)).toBe(0);
  expect(violations).toEqual(['20000 calls at one moment, the last one of store.send: time cannot go on']);
});

it('[SIM-6] an engine that is alone on its store loses nothing', { timeout: 600_000 }, async () => {
  const { failures } = await liveMany(1, 65, { alone: true });
  expect(failures).toEqual([]);
});

/** Lives that found a breakage of the engine or the core. Findings about the engine have their own tests as well. */
const RECORDED = new URL('recorded/', import.meta.url);

async function violationsOf(file: string): Promise<readonly string[]> {
  const life = JSON.parse(readFileSync(new URL(file, RECORDED), 'utf8')) as RecordedLife;
  return (await replay(life)).world.oracle.violations;
}

describe('recorded lives', { timeout: 300_000 }, () => {
  for (const file of readdirSync(RECORDED).sort()) {
    const { found, ...life } = JSON.parse(readFileSync(new URL(file, RECORDED), 'utf8')) as RecordedLife & {
      readonly found: string;
    };
    it(`[SIM-7] ${file}: ${found}`, async () => {
      expect((await replay(life)).world.oracle.violations).toEqual([]);
    });
  }

  it('[ENG-304] a node that began anew waits for its own moment of a rate', async () => {
    expect(await violationsOf('old-rate-grant.json')).toEqual([]);
  });

  it('[ENG-305] two engines do not repeat the permit requests of a run in turn', async () => {
    expect(await violationsOf('gate-requests-in-turn.json')).toEqual([]);
  });

  it('[RUN-552] a snapshot has the input of a node that is pending again, and the attempts of compensations', async () => {
    expect(await violationsOf('pending-input.json')).toEqual([]);
    expect(await violationsOf('undo-attempts.json')).toEqual([]);
  });

  it('[SIM-7] are the lives that they were recorded from, word for word', async () => {
    for (const seed of [3, 10]) {
      const { world, record } = await live(seed, { keepsTrace: true });
      const text = JSON.parse(printLife('', record)) as RecordedLife;
      expect((await replay(text, { keepsTrace: true })).world.trace).toEqual(world.trace);
    }
  });
});

describe('the oracle', () => {
  const leaseId = 'lse_1.exe_0.1.a';
  const leased = { type: 'node.started', node: 'a', attempt: 1, worker: leaseId, effect: 'once' } as const;

  it('[SIM-21] complains of leases that are accepted twice, without an attempt or without an entry, refused while they are open, or lost', () => {
    const complaints: string[] = [];
    const leases = new Leases((what) => complaints.push(what));
    leases.onFrame('exe_0', [leased], true);
    leases.onAccepted(leaseId, 'completed');
    leases.onRefused(leaseId);
    leases.onFrame('exe_0', [{ type: 'node.unknown', node: 'a', error }], true);
    leases.onAccepted(leaseId, 'completed');
    leases.onAccepted(leaseId, 'failed');
    expect(complaints).toEqual([
      `${leaseId} is accepted, and its attempt is open`,
      `${leaseId} is refused, and its attempt is open`,
      `${leaseId} is lost, and nothing went wrong`,
      `${leaseId} is accepted as completed, and was node.unknown WORKER_LOST`,
      `${leaseId} is accepted twice`,
      `${leaseId} is accepted as failed, and was node.unknown WORKER_LOST`,
    ]);
  });

  it('[SIM-21] lets a lease pass that is ended once', () => {
    const complaints: string[] = [];
    const leases = new Leases((what) => complaints.push(what));
    leases.onFrame('exe_0', [leased], false);
    leases.onFrame('exe_0', [{ type: 'node.completed', node: 'a' }], false);
    leases.onAccepted(leaseId, 'completed');
    leases.onRefused(leaseId);
    expect(complaints).toEqual([]);
  });

  const started = { type: 'node.started', node: 'a', attempt: 1, worker: 'w', effect: 'once' } as const;
  const begin = {
    type: 'run.started',
    format: 1,
    workflowId: 'w',
    version: 1,
    input: NULL_VALUE,
    trigger: null,
  } as const;
  const error = { code: 'WORKER_LOST', kind: 'SYSTEM', message: '' } as const;

  it('[SIM-8] lets a legal journal pass', () => {
    const journal = new Legality();
    journal.frame(1, 1, [begin, started]);
    journal.frame(2, 2, [
      { type: 'node.completed', node: 'a' },
      { type: 'run.finished', status: 'completed' },
    ]);
    expect(journal.complaints).toEqual([]);
  });

  it('[SIM-8] complains of a second completion, a second end, a once attempt that is repeated, and time that goes back', () => {
    const journal = new Legality();
    journal.frame(1, 5, [begin, started, { type: 'node.unknown', node: 'a', error }, { ...started, attempt: 2 }]);
    journal.frame(2, 4, [
      { type: 'node.completed', node: 'a' },
      { type: 'node.completed', node: 'a' },
    ]);
    journal.frame(4, 6, [
      { type: 'run.finished', status: 'completed' },
      { type: 'run.finished', status: 'failed' },
    ]);
    expect(journal.complaints).toEqual([
      'node.started of a, which is unknown',
      'frame 2 goes back in time',
      'node.completed of a, which is completed',
      'frame 4 comes as number 3',
      'finishes although it is completed',
    ]);
  });

  it('[SIM-8] complains of iterations that close twice or stay open, and of nodes that begin in one that is over', () => {
    const journal = new Legality();
    journal.frame(1, 1, [
      begin,
      { type: 'node.opened', node: 'l', items: inlineValue([1, 2]), count: 2 },
      { type: 'scopes.opened', node: 'l', from: 0, to: 2 },
      { type: 'scope.closed', scope: 'l/0' },
      { type: 'scope.closed', scope: 'l/0' },
      { ...started, node: 'l/0/a' },
      { type: 'node.completed', node: 'l' },
    ]);
    expect(journal.complaints).toEqual([
      'l/0 is closed twice',
      'node.started of l/0/a in what is over, or paused',
      'l is completed before l/1',
    ]);
  });

  it('[SIM-8] follows the finally of a body when the scope around it ends early, until it is skipped', () => {
    const gated = { type: 'node.gated', node: 'l/0/a', gate: { kind: 'rate', key: 'k', limit: 1, perMs: 1 } } as const;
    const granted = { type: 'node.granted', node: 'l/0/a', until: 9 } as const;
    const open = [
      begin,
      { type: 'node.opened', node: 'l', items: inlineValue([1]), count: 1 },
      { type: 'scopes.opened', node: 'l', from: 0, to: 1 },
    ] as const;
    const stopNode = { type: 'node.stopping', node: 'l', error, finally: true } as const;
    const stop = { type: 'run.stopping', status: 'timed-out', error, finally: true } as const;
    const complaintsOf = (...entries: Entry[]): string[] => {
      const journal = new Legality();
      journal.frame(1, 1, [...open, ...entries]);
      return journal.complaints;
    };
    expect(complaintsOf(stopNode, gated, stop, granted)).toEqual([]);
    expect(complaintsOf(stop, gated, { ...stop, compensate: false }, granted)).toEqual([]);
    const left = ['node.granted of l/0/a, which is idle'];
    expect(complaintsOf(gated, stopNode, granted)).toEqual(left);
    // If `l` is a cleanup it continues: only a check that knows the graph can tell.
    expect(complaintsOf(gated, stop, granted)).toEqual([]);
    expect(complaintsOf(gated, { ...stop, finally: false }, granted)).toEqual(left);
    expect(complaintsOf(stopNode, gated, { ...stop, finally: false }, granted)).toEqual(left);
    // The same in a body of the node that is stopped.
    const inner = [
      { type: 'node.opened', node: 'l/0/m', items: inlineValue([1]), count: 1 },
      { type: 'scopes.opened', node: 'l/0/m', from: 0, to: 1 },
      { ...gated, node: 'l/0/m/0/a' },
      stopNode,
    ] as const;
    expect(complaintsOf(...inner, { ...granted, node: 'l/0/m/0/a' })).toEqual([]);
  });

  it('[SIM-8] complains of a finally that one cancel of a failing run, or of a node that ends, takes away', () => {
    const stop = { type: 'run.stopping', status: 'failed', error, finally: true } as const;
    const skip = { ...stop, finally: false };
    const complaintsOf = (...entries: Entry[]): string[] => {
      const journal = new Legality();
      journal.frame(1, 1, [begin, { type: 'node.opened', node: 'g' }, ...entries]);
      return journal.complaints;
    };
    expect(complaintsOf(stop, { ...stop, cancelRequested: true }, skip)).toEqual([]);
    expect(complaintsOf({ ...stop, status: 'cancelled' }, { ...skip, status: 'cancelled' })).toEqual([]);
    expect(complaintsOf(stop, skip)).toEqual(['skips its finally after one cancel']);
    const stopNode = { type: 'node.stopping', node: 'g', error, finally: true } as const;
    const skipNode = { ...stopNode, finally: false };
    expect(
      complaintsOf(stopNode, { ...stopNode, cancelRequested: true }, { ...skipNode, cancelRequested: true }),
    ).toEqual([]);
    expect(complaintsOf(stopNode, skipNode)).toEqual(['g skips its finally after one cancel']);
  });

  it('[SIM-8] complains of compensation out of order, of nodes that did not complete, and in a run that succeeds', () => {
    const journal = new Legality();
    const done = (node: string) => ({ type: 'node.completed', node, undo: NULL_VALUE }) as const;
    journal.frame(1, 1, [
      begin,
      done('a'),
      done('b'),
      { type: 'scope.compensating', scope: '', status: 'failed', error: null },
      { ...started, node: '~undo/a' },
      { ...started, node: '~undo/c' },
      { type: 'node.completed', node: '~undo/a' },
      { type: 'node.completed', node: '~undo/c' },
      { type: 'run.finished', status: 'completed' },
    ]);
    expect(journal.complaints).toEqual([
      '~undo/a is undone before ~undo/b',
      '~undo/c undoes what was not done, or is undone already',
      'is undone, and completes',
      'b was to be undone, and is idle',
    ]);
  });

  it('[SIM-8] complains of nodes that begin in a paused run, and of a taken signal that was not buffered', () => {
    const journal = new Legality();
    journal.frame(1, 1, [
      begin,
      { type: 'run.paused' },
      started,
      { type: 'signal.kept', signal: 's', key: '', payload: inlineValue(1) },
      { type: 'signal.taken', signal: 's', key: '' },
      { type: 'signal.taken', signal: 's', key: '' },
    ]);
    expect(journal.complaints).toEqual([
      'node.started of a in what is over, or paused',
      'signal s  is taken, and was not kept',
    ]);
  });

  it('[SIM-8] lets a finally reach a node that a reopened run has not begun again, and no other queued one', () => {
    const journal = new Legality();
    const scheduled = { type: 'node.scheduled', nodes: ['a'] } as const;
    const stopping = { type: 'run.stopping', status: 'failed', error, finally: true } as const;
    const attempt = { ...started, effect: 'idempotent' } as const;
    journal.frame(1, 1, [begin, attempt, { type: 'node.failed', node: 'a', error, handling: 'fatal' }, stopping]);
    journal.frame(2, 2, [{ type: 'run.finished', status: 'failed', error }]);
    journal.frame(3, 3, [{ type: 'run.reopened', nodes: ['a'] }, scheduled, stopping, scheduled]);
    expect(journal.complaints).toEqual([]);
    journal.frame(4, 4, [
      { ...attempt, attempt: 2 },
      { type: 'node.returned', node: 'a' },
    ]);
    journal.frame(5, 5, [{ ...stopping, cancelRequested: true }, { ...stopping, finally: false }, scheduled]);
    expect(journal.complaints).toEqual(['node.scheduled of a, which is queued']);
  });

  it('[SIM-23] complains of a document that differs from the journal', async () => {
    // In some lives all runs expire.
    const { world } = await liveUntil(({ data }) => data.runs.size > 0);
    const { data, oracle } = world;
    const [executionId] = data.runs.keys();
    const document = await world.living()[0]?.engine.document(executionId as string);
    if (document === undefined) throw new Error('no run has ended');
    oracle.onFinished(document);
    expect(oracle.violations).toEqual([]);
    const [node, shown] = Object.entries(document.nodes)[0] as [string, (typeof document.nodes)[string]];
    oracle.onFinished({ ...document, status: 'timed-out' } as RunDocument);
    oracle.onFinished({ ...document, nodes: {} });
    oracle.onFinished({ ...document, nodes: { ...document.nodes, [node]: { ...shown, attempts: 99 } } });
    expect(oracle.violations.map((what) => what.slice(what.indexOf(':') + 2))).toEqual([
      expect.stringMatching(/^timed-out, not/),
      expect.stringContaining(' is missing'),
      expect.stringContaining(`${node} has 99 attempts`),
    ]);
  });
});
