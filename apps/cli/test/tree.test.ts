import type { NodeDocument, RunDocument, RunError, ScopeDocument, WorkflowDefinition } from '@nebula/core';
import picocolors from 'picocolors';
import { describe, expect, test } from 'vitest';
import { ShownRun } from '../src/live/shown-run.ts';
import { waitsOf } from '../src/run-waits.ts';
import { outlineOf } from '../src/views/outline.ts';
import { treeLines } from '../src/views/tree.ts';
import { graphOf } from '../src/views/workflow-graph.ts';
import { iso, nodeDocument, ORDER, runDocument, T0 } from './support/runs.ts';

const colors = picocolors.createColors(false);

function picture(run: ShownRun, ms: number, more: { width?: number; height?: number } = {}): string {
  const lines = treeLines(run, { colors, width: 80, now: T0 + ms, frame: 0, ...more });
  return `\n${lines.join('\n')}\n`;
}

function openDocument(nodes: Record<string, NodeDocument>, more: Parameters<typeof runDocument>[0] = {}): RunDocument {
  return runDocument({ status: 'running', finishedAt: null, durationMs: null, nodes, ...more });
}

function errorOf(code: string, message: string): RunError {
  return { code, kind: 'USER', message };
}

function done(from: number, to: number, more: Partial<NodeDocument> = {}): NodeDocument {
  return nodeDocument('completed', { startedAt: iso(from), finishedAt: iso(to), durationMs: to - from, ...more });
}

function running(from: number, more: Partial<NodeDocument> = {}): NodeDocument {
  const attempt = { startedAt: iso(from), worker: 'here' };
  return nodeDocument('running', { startedAt: iso(from), attempt, ...more });
}

const HALF_WAY = {
  fetch: done(10, 310),
  validate: done(320, 950, { attempts: 2 }),
  charge: running(960),
  reserve: nodeDocument('queued', { attempts: 0 }),
};

function orderRun(document: RunDocument): ShownRun {
  return new ShownRun('exe_1', 'Order fulfilment', outlineOf(graphOf(ORDER)), document);
}

function halfWay(): ShownRun {
  const run = orderRun(openDocument(HALF_WAY));
  run.hint('charge', { fraction: 0.5, message: 'asking the bank' });
  run.hint('charge', { log: 'request \x1b[2Jsent' });
  return run;
}

describe('live tree', () => {
  test('[CLI-599] a run that is parked is called so', () => {
    const parked = orderRun({ ...openDocument(HALF_WAY), parked: true } as RunDocument);
    expect(
      picture(parked, 2_000)
        .split('\n')
        .find((line) => line.includes('exe_1')),
    ).toContain('⏸ Order fulfilment · parked · ');
  });

  test('[CLI-51] shows status, attempts, duration, progress and the last log line', () => {
    expect(picture(halfWay(), 2_000)).toMatchInlineSnapshot(`
      "
      ⠋ Order fulfilment · running · 2.0s · 2/7 · exe_1

      ✓ fetch          300ms
      ✓ validate       630ms  2 attempts
      ├─ ⠹ charge       1.0s  ━━━━━━──────  50%  asking the bank  request ␛[2Jsent
      │  ○ tell
      ├─ ◌ reserve            queued
      ○ ship
      ○ invoice
      "
    `);
  });

  test('[CLI-51] shows retries, failures, unknown outcomes and skipped nodes', () => {
    const run = orderRun(
      openDocument({
        ...HALF_WAY,
        charge: nodeDocument('waiting', {
          startedAt: iso(960),
          error: errorOf('NET', 'reset'),
          waitsFor: { kind: 'retry', until: iso(5_000) },
        }),
        reserve: nodeDocument('unknown', { startedAt: iso(2_000), error: errorOf('LOST', 'worker died') }),
        ship: nodeDocument('failed', { error: errorOf('NO_STOCK', 'sold out'), finishedAt: iso(2_100) }),
        tell: nodeDocument('skipped', { skipped: 'choice' }),
        invoice: nodeDocument('cancelled'),
      }),
    );
    expect(picture(run, 3_000)).toMatchInlineSnapshot(`
      "
      ⠋ Order fulfilment · running · 3.0s · 4/7 · exe_1

      ✓ fetch          300ms
      ✓ validate       630ms  2 attempts
      ├─ ⏸ charge             retry in 2.0s  NET: reset
      │  ⊘ tell               skipped
      ├─ ? reserve            outcome unknown  LOST: worker died
      ✗ ship                  NO_STOCK: sold out
      ⊗ invoice               cancelled
      "
    `);
  });

  test('[CLI-380] a run that waits for its concurrency slot is shown as pending, with none of its nodes begun', () => {
    const place = { key: 'nightly', limit: 1 };
    const nodes = { fetch: nodeDocument('pending', { attempts: 0 }) };
    const run = orderRun(openDocument(nodes, { status: 'pending', place }));
    expect(picture(run, 2_000, { width: 100 })).toContain(
      'pending (waits for the concurrency slot of nightly) · 2.0s · 0/7',
    );
    expect(treeLines(run, { colors, width: 100, now: T0, frame: -1 })[0]).toMatch(/^○/);
  });

  test('[CLI-51] nodes that the outline does not know come last; hints stay with their nodes', () => {
    const run = halfWay();
    run.show(openDocument({ ...HALF_WAY, charge: done(960, 2_460, { attempts: 3 }), extra: nodeDocument('failed') }));
    expect(run.counts).toMatchObject({ completed: 3, failed: 1, queued: 1, pending: 3 });
    expect(picture(run, 9_000)).toContain('✓ charge       1.5s  3 attempts\n');
    expect(run.nodes.at(-1)?.path).toBe('extra');
  });

  test('[CLI-54] every line fits the width', () => {
    for (const width of [20, 33, 50]) {
      for (const line of treeLines(halfWay(), { colors, width, now: T0, frame: 3 }))
        expect(line.length).toBeLessThanOrEqual(width);
    }
  });
});

function wideRun(count: number, nodes: Record<string, NodeDocument>): ShownRun {
  const outline = Array.from({ length: count }, (_, at) => ({ id: `n${at}`, name: `n${at}`, prefix: '' }));
  return new ShownRun('exe_1', 'wide', outline, openDocument(nodes));
}

describe('large graphs', () => {
  test('[CLI-52] finished and pending nodes fold, running and failed ones stay', () => {
    const nodes: Record<string, NodeDocument> = { n40: nodeDocument('queued') };
    for (let at = 0; at < 30; at++) nodes[`n${at}`] = at < 28 ? done(at, at) : running(at);
    nodes.n3 = nodeDocument('failed', { error: errorOf('E', 'no'), finishedAt: iso(3) });
    const lines = treeLines(wideRun(60, nodes), { colors, width: 80, height: 14, now: T0 + 100, frame: 0 });
    expect(lines.length).toBeLessThanOrEqual(14);
    const text = lines.join('\n');
    expect(text).toContain('✗ n3 ');
    expect(text).toMatch(/⠋|⠙|⠹|⠸|⠼|⠴|⠦|⠧|⠇|⠏/);
    expect(text).toContain('n28');
    expect(text).toContain('n29');
    expect(text).toContain('✓ n27');
    expect(text).toMatch(/✓ \d+ completed/);
    expect(lines.at(-1)).toMatch(/^… .*○ \d+ pending/);
  });

  test('[CLI-52] more notable nodes than lines: failed and running ones share the screen', () => {
    const nodes: Record<string, NodeDocument> = {};
    for (let at = 0; at < 200; at++) nodes[`n${at}`] = at < 100 ? nodeDocument('failed') : running(at);
    const lines = treeLines(wideRun(200, nodes), { colors, width: 80, height: 20, now: T0, frame: 0 });
    expect(lines.length).toBeLessThanOrEqual(20);
    expect(lines.filter((line) => line.startsWith('✗ n')).length).toBeGreaterThanOrEqual(8);
    expect(lines.filter((line) => /^[⠋-⠿] n/.test(line)).length).toBeGreaterThanOrEqual(4);
  });

  test('[CLI-53] 100,000 nodes', () => {
    const nodes: Record<string, NodeDocument> = {};
    for (let at = 0; at < 100_000; at++) nodes[`n${at}`] = at < 99_900 ? done(at, at + 5) : running(at);
    const run = wideRun(100_000, nodes);
    const started = process.cpuUsage().user;
    run.show(openDocument(nodes));
    const layoutMs = (process.cpuUsage().user - started) / 1_000;
    const paintings = 20;
    const paintStarted = process.cpuUsage().user;
    for (let frame = 0; frame < paintings; frame++) treeLines(run, { colors, width: 100, height: 40, now: T0, frame });
    const perPaintingMs = (process.cpuUsage().user - paintStarted) / 1_000 / paintings;
    // Measured: 90 ms and 1 ms; the limits only catch work that grows with the square of the nodes.
    expect(layoutMs).toBeLessThan(10_000);
    expect(perPaintingMs).toBeLessThan(500);
  });
});

const LOOP: WorkflowDefinition = {
  id: 'loop',
  nodes: {
    items: {
      forEach: { in: '$input' },
      do: { nodes: { pack: { action: 'a@1' }, label: { needs: ['pack'], action: 'a@1' } } },
    },
    sub: { workflow: { id: 'inner' } },
    pay: { workflow: { id: 'payment', mode: 'child' } },
    ok: { wait: { signal: 'go' } },
  },
};
const inner: WorkflowDefinition = { id: 'inner', nodes: { seat: { action: 'a@1' } } };

function loopRun(
  nodes: Record<string, NodeDocument>,
  scopes: Record<string, ScopeDocument>,
  more: Parameters<typeof runDocument>[0] = {},
): ShownRun {
  const outline = outlineOf(graphOf(LOOP, () => inner));
  return new ShownRun('exe_1', 'Loop', outline, openDocument(nodes, { scopes, ...more }));
}

function round(at: number, status: ScopeDocument['status']): ScopeDocument {
  return { node: 'items', round: at, status, error: status === 'failed' ? errorOf('E', 'no') : null };
}

describe('inside of nodes', () => {
  test('[CLI-102, CLI-103] iterations, bodies, other executions, waits and pauses', () => {
    const run = loopRun(
      {
        items: running(0, { rounds: { total: 100, open: 1, succeeded: 1, failed: 1 } }),
        'items/1/pack': nodeDocument('failed', { error: errorOf('E', 'no') }),
        'items/2/pack': running(0),
        sub: running(0),
        'sub/seat': running(0),
        pay: running(0, { child: { executionId: 'exe_2', workflowId: 'payment' } }),
        ok: nodeDocument('waiting', {
          waitsFor: {
            kind: 'event',
            events: [{ kind: 'signal', name: 'go', signal: 'go', key: 'k' }],
            deadline: iso(60_000),
          },
        }),
      },
      {
        'items/1': round(1, 'failed'),
        'items/2': round(2, 'open'),
        sub: { node: 'sub', round: null, status: 'open', error: null },
      },
      { status: 'paused', paused: { since: iso(500), reason: 'lunch' } },
    );
    const text = picture(run, 1_000, { width: 110 });
    expect(text).toContain('⏸ Loop · paused (lunch) · 1.0s');
    expect(text).toMatch(/items +1\.0s {2}─{12} {2}2 of 100 iterations, 1 open, 1 failed\n/);
    expect(text).toMatch(/┊ 2\n.*┊ {3}\S pack .*\n.*┊ {3}○ label\n.*┊ 1\n.*┊ {3}✗ pack .*E: no/);
    expect(text).not.toContain('┊ 0');
    expect(text).toMatch(/sub .*\n {2}┊ \S seat/);
    expect(text).toContain('→ payment exe_2');
    expect(text).toMatch(/waits for signal go \(key k\), at most until 59\.5s after it is resumed/);
  });

  test('[CLI-470] the timers of a paused run stand still, apart from those that were written as a date', async () => {
    const until = (waitsFor: NodeDocument['waitsFor']) => nodeDocument('waiting', { ...(waitsFor && { waitsFor }) });
    const time = { kind: 'time', name: 't', at: iso(60_000) } as const;
    const nodes = {
      moves: until({ kind: 'event', events: [time], deadline: iso(120_000) }),
      fixed: until({ kind: 'event', events: [{ ...time, fixed: true }], deadline: iso(120_000), deadlineFixed: true }),
      again: until({ kind: 'retry', until: iso(30_000) }),
    };
    const document = openDocument(nodes, { status: 'paused', paused: { since: iso(10_000), reason: null } });
    for (const ms of [20_000, 40_000]) {
      const { waits = [] } = (await waitsOf(async () => document, document.executionId, T0 + ms)) ?? {};
      const moved = 'until 50s after it is resumed, at most until 1m 50s after it is resumed';
      expect(waits[0]).toEqual({ node: 'moves', text: moved });
      expect(waits[1]?.text).toMatch(ms === 20_000 ? /\(in 40s\), .*\(in 1m 40s\)/ : /\(in 20s\), .*\(in 1m 20s\)/);
      const text = picture(new ShownRun(document.executionId, 'Paused', [], document), ms, { width: 140 });
      expect(text).toContain(moved);
      expect(text).toContain('retry in 20s\n');
    }
  });

  test('[CLI-103] compensations are listed under a heading', () => {
    const run = loopRun(
      { '~undo/items:3:pack': running(0) },
      { '~undo': { node: null, round: null, undoes: '', status: 'open', error: null } },
      { status: 'compensating' },
    );
    expect(picture(run, 100)).toMatch(/↺ undoing completed nodes, last first\n {2}\S items\/3\/pack/);
  });

  test('[CLI-102] 10,000 iterations that failed take the room of those that run or failed last', () => {
    const nodes: Record<string, NodeDocument> = {};
    const scopes: Record<string, ScopeDocument> = {};
    for (let at = 0; at < 10_050; at++) {
      const isOpen = at >= 10_000;
      scopes[`items/${at}`] = round(at, isOpen ? 'open' : 'failed');
      nodes[`items/${at}/pack`] = isOpen ? running(0) : nodeDocument('failed', { error: errorOf('E', 'no') });
    }
    nodes.items = running(0, { rounds: { total: 200_000, open: 50, succeeded: 90_000, failed: 10_000 } });
    const run = loopRun(nodes, scopes);
    const lines = treeLines(run, { colors, width: 100, now: T0, frame: 0 });
    expect(lines.length).toBeLessThan(35);
    expect(lines.join('\n')).toContain('… 46 more iterations open, 9,997 more iterations failed');
    for (const height of [8, 12, 20]) {
      expect(treeLines(run, { colors, width: 100, height, now: T0, frame: 0 }).length).toBeLessThanOrEqual(height);
    }
  });
});
