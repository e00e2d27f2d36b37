import type { Json, TimelineEventType } from '@nebula/core';
import picocolors from 'picocolors';
import { describe, expect, test } from 'vitest';
import { visibleWidth } from '../src/terminal/width.ts';
import { errorLines } from '../src/views/error.ts';
import { EventLines, logLine } from '../src/views/event-line.ts';
import { executionLines } from '../src/views/executions.ts';
import { explanationLines } from '../src/views/explanation.ts';
import { journalLines } from '../src/views/journal.ts';
import { jsonLines } from '../src/views/json.ts';
import { storedLogLine } from '../src/views/logs.ts';
import { parkedLines } from '../src/views/parked.ts';
import { summaryLines } from '../src/views/summary.ts';
import { timelineEventLines, timelineLines } from '../src/views/timeline.ts';
import { agoText, clockText, countText, momentText, offsetText } from '../src/views/words.ts';
import { event, iso, nodeDocument, runDocument, T0 } from './support/runs.ts';

const colors = picocolors.createColors(false);
const command = (verb: string, rest?: string): string => ['nebula', verb, 'exe_1', rest].filter(Boolean).join(' ');
const options = { colors, width: 80, command };
const text = (lines: readonly string[]): string => `\n${lines.join('\n')}\n`;

const RETRIED = [
  event(0, 'WorkflowStarted'),
  event(0, 'NodeScheduled', 'fetch'),
  event(200, 'NodeStarted', 'fetch', { attempt: 1 }),
  event(500, 'NodeRetried', 'fetch', { error: { code: 'NET', kind: 'SYSTEM', message: 'reset' }, until: T0 + 800 }),
  event(800, 'NodeStarted', 'fetch', { attempt: 2 }),
  event(1_000, 'NodeCompleted', 'fetch'),
  event(1_000, 'NodeStarted', 'charge', { attempt: 1 }),
  event(1_000, 'NodeSkipped', 'tell', { why: 'when' }),
  event(2_000, 'NodeFailed', 'charge', { error: { code: 'DECLINED', kind: 'USER', message: 'no' } }),
  event(2_000, 'WorkflowFailed', null, { error: { code: 'DECLINED', kind: 'USER', message: 'no' } }),
];

test.each([
  ['UTC', '12:30:05.007Z', '2026-07-01 12:30:05Z'],
  ['Asia/Kolkata', '18:00:05.007+05:30', '2026-07-01 18:00:05+05:30'],
  ['America/St_Johns', '10:00:05.007-02:30', '2026-07-01 10:00:05-02:30'],
])('[CLI-544] times of %s have their offset from UTC', (zone, clock, moment) => {
  const before = process.env.TZ;
  process.env.TZ = zone;
  try {
    const at = Date.parse('2026-07-01T12:30:05.007Z');
    expect([clockText(at), momentText(at)]).toEqual([clock, moment]);
    expect(momentText(at, at - 60_000)).toBe(`${moment.slice(11)} (in 1m)`);
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
});

describe('timeline', () => {
  test('[CLI-62] a bar per node, with queue time, retries and outcome', () => {
    expect(text(timelineLines(RETRIED, { colors, width: 70, now: T0 + 9_000 }))).toMatchInlineSnapshot(`
      "
                ╷0                  ╷1s                 ╷2s
      ✓ fetch   ░░░░█████╳┄┄┄┄┄┄████                      500ms ×2
      ✗ charge                      ███████████████████╳  1s
      ⊘ tell                                              skipped

      ░ queued   █ ran   ╳ failed attempt   ┄ waits
      "
    `);
  });

  test('[CLI-62] bars of unfinished nodes end now', () => {
    const lines = timelineLines(RETRIED.slice(0, 3), { colors, width: 70, now: T0 + 400 });
    expect(lines[1]).toMatch(/^● fetch {2}░+█+ +200ms$/);
  });

  test('[CLI-62] the events, one per line', () => {
    expect(text(timelineEventLines(RETRIED, colors))).toMatchInlineSnapshot(`
      "
         +0.00s  WorkflowStarted
         +0.00s  NodeScheduled          fetch
         +0.20s  NodeStarted            fetch
         +0.50s  NodeRetried            fetch  NET: reset
         +0.80s  NodeStarted            fetch
         +1.00s  NodeCompleted          fetch
         +1.00s  NodeStarted            charge
         +1.00s  NodeSkipped            tell  its condition is false
         +2.00s  NodeFailed             charge  DECLINED: no
         +2.00s  WorkflowFailed         DECLINED: no
      "
    `);
  });

  test('[CLI-62] a long list of nodes is cut, with a note', () => {
    const events = Array.from({ length: 30 }, (_, at) => event(at, 'NodeStarted', `n${at}`));
    const lines = timelineLines(events, { colors, width: 70, now: T0 + 50, maxRows: 10 });
    expect(lines).toContain('… 20 more nodes: --all');
  });
});

describe('lines when piped', () => {
  test('[CLI-49] one per event, with the time since the start', () => {
    const events = new EventLines({ executionId: 'exe_1', title: 'Order' }, { colors, startedAt: T0 });
    const lines = RETRIED.map((one) => events.line(one));
    expect(text(lines.filter((line) => line !== undefined))).toMatchInlineSnapshot(`
      "
         0.00s  ● run started  Order  exe_1
         0.20s  ● fetch started
         0.50s  ⏸ fetch attempt 1 failed, retry in 300ms: NET: reset
         0.80s  ● fetch started, attempt 2
         1.00s  ✓ fetch completed in 200ms
         1.00s  ● charge started
         1.00s  ⊘ tell skipped: its condition is false
         2.00s  ✗ charge failed after 1s: DECLINED: no
         2.00s  ✗ run failed
      "
    `);
    const line = {
      executionId: 'exe_1',
      node: 'fetch',
      attempt: 1,
      at: T0 + 250,
      level: 'warn',
      message: 'slow\x1b[1A',
      position: 1,
    } as const;
    expect(logLine(line, { colors, startedAt: T0 })).toBe('   0.25s  │ fetch: warn slow␛[1A');
  });
});

describe('the end of a run', () => {
  test('[CLI-40] completed: status, duration, output', () => {
    expect(summaryLines(runDocument({ output: { packed: [1, 2], note: 'ok' } }), options)).toEqual([
      '✓ completed in 2.3s  exe_1',
      '',
      '{ "packed": [1, 2], "note": "ok" }',
    ]);
  });

  test('[CLI-40] a large output is cut, with the way to see all of it', () => {
    const output = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`key${at}`, 'x'.repeat(40)]));
    const lines = summaryLines(runDocument({ output }), options);
    expect(lines.length).toBeLessThan(30);
    expect(lines.at(-1)).toBe('… 78 more lines; all of it: nebula executions show exe_1 --full');
  });

  test('[CLI-40] failed: error, node, next commands', () => {
    const error = { code: 'DECLINED', kind: 'USER', message: 'card declined', node: 'charge' } as const;
    const retry = ['nebula executions retry exe_1'];
    expect(text(summaryLines(runDocument({ status: 'failed', error }), { ...options, retry }))).toMatchInlineSnapshot(`
      "
      ✗ failed in 2.3s  exe_1

      error DECLINED at charge: card declined

      next  nebula executions explain exe_1 charge   why it ended like this
            nebula executions show exe_1 charge      its attempts and input
            nebula executions timeline exe_1         when each step ran
            nebula executions retry exe_1            run the failed nodes again
            nebula executions retry exe_1 --to FILE  continue with a corrected file
      "
    `);
  });

  test('[CLI-42] parked: lists the waits and the commands that end them', () => {
    const document = runDocument({ status: 'running', finishedAt: null, nodes: { charge: nodeDocument('unknown') } });
    const explanations = [
      { node: 'charge', status: 'unknown', causes: [], reasons: ['It is unknown whether it took effect.'], next: [] },
    ];
    const command = (id: string, verb: string, rest = ''): string => `nebula ${verb} ${id} ${rest}`.trimEnd();
    const run = { document, explanations, inside: [] };
    expect(text(parkedLines([run], { ...options, command, now: T0 }))).toMatchInlineSnapshot(`
      "
      ⏸ parked  exe_1

      charge
        It is unknown whether it took effect.

      next
        # it took effect, and this is its output
        nebula executions settle exe_1 charge --happened --output JSON
        # it did not: run it again
        nebula executions settle exe_1 charge --retry
        # it did not: let the node fail
        nebula executions settle exe_1 charge --fail
        # then continue the run
        nebula resume exe_1
      "
    `);
  });
});

describe('events in words', () => {
  const waits = [
    { kind: 'approval', name: 'approval', title: 'Pay?', who: ['ann'] },
    { kind: 'time', name: 'for', at: T0 + 60_000 },
  ];
  const cases: [TimelineEventType, string | null, object, string | RegExp][] = [
    ['NodeOpened', 'n', { items: 3 }, 'opened: 3 items'],
    ['ItemsAdded', 'n', { items: 1 }, '1 item added'],
    ['RoundDelayed', 'n', { until: T0 + 5_000 }, /next iteration at .*\(in 5s\)/],
    ['RoundFailed', 'n/3', { error: { code: 'E', kind: 'USER', message: 'no' } }, 'n/3 failed: E: no'],
    ['ChildRequested', 'n', { executionId: 'exe_2', workflowId: 'sub', attempt: 1 }, 'workflow sub as exe_2'],
    ['NodeWaiting', 'n', { waits, deadline: null }, /waits for an approval “Pay\?” by ann or until .*\(in 1m\)/],
    ['NodeAnswered', 'n', { approved: false, by: 'ann', comment: 'why' }, 'rejected by ann: why'],
    ['NodeGated', 'n', { kind: 'concurrency', key: 'bank', limit: 2 }, 'waits for a permit of bank (limit 2)'],
    ['NodeGated', 'n', { kind: 'concurrency', key: 'bank', limit: 1 }, 'waits for a permit of bank (limit 1)'],
    [
      'NodeGated',
      'n',
      { kind: 'rate', key: 'api', limit: 1, perMs: 1 },
      'waits for its turn under the rate limit of api',
    ],
    ['NodeGated', 'n', { kind: 'reserve', key: 'c' }, 'waits for a run that computes the same output'],
    ['NodeStopping', 'n', { error: { code: 'E', kind: 'USER', message: 'no' } }, 'is ending: E: no'],
    ['SignalKept', null, { signal: 'go', key: 'k' }, 'signal go (key k) arrived early and is buffered'],
    ['SignalTaken', null, { signal: 'go', key: '' }, 'buffered signal go is taken'],
    ['SignalRefused', 'n', { event: 'go', problem: 'bad' }, 'go does not fit, so the wait continues: bad'],
    ['CompensationStarted', null, { status: 'failed' }, 'undone, last first; then it ends as failed'],
    ['CompensationCompleted', null, { undone: 2, left: 1 }, 'compensation ended: 2 steps undone, 1 not'],
    [
      'WorkflowStarted',
      null,
      { place: { key: 'p', limit: 1 } },
      '○ run started: waits for a concurrency slot: 1 at once of p',
    ],
    ['WorkflowHeld', null, { until: T0 + 5_000 }, /run begins at .*\(in 5s\)/],
    ['WorkflowBegun', null, {}, 'run begins'],
    ['WorkflowPaused', null, { reason: 'lunch' }, 'run paused: lunch'],
    ['WorkflowResumed', null, {}, 'run resumed'],
    ['WorkflowStopping', null, { status: 'cancelled' }, 'run is ending: cancelled'],
    ['WorkflowReopened', null, { nodes: ['a', 'b'] }, 'run reopened: a, b run again'],
    [
      'WorkflowReopened',
      null,
      { nodes: ['x/10', 'x/9', 'e', 'd', 'c', 'b', 'a'] },
      'a, b, c, d, e and 2 more run again',
    ],
  ];

  test('[CLI-595] a duration of zero is not printed', () => {
    const lines = new EventLines({ executionId: 'exe_1', title: 'order' }, { colors, startedAt: T0 });
    const error = { code: 'E', kind: 'USER', message: 'no' };
    const said = (...given: Parameters<typeof event>) => lines.line(event(...given))?.trim();
    expect(said(0, 'NodeFailed', 'n', { error, handling: 'fatal' })).toBe('0.00s  ✗ n failed: E: no');
    said(0, 'NodeStarted', 'n', { attempt: 1, worker: 'w' });
    expect(said(0, 'NodeCompleted', 'n', {})).toBe('0.00s  ✓ n completed');
    said(0, 'NodeStarted', 'n', { attempt: 1, worker: 'w' });
    expect(said(5, 'NodeCompleted', 'n', {})).toBe('0.01s  ✓ n completed in 5ms');
  });

  test.each(cases)('[CLI-104] %s', (type, node, details, words) => {
    const one = event(0, type, node, details);
    const lines = new EventLines({ executionId: 'exe_1', title: 'order' }, { colors, startedAt: T0 });
    const line = lines.line(one) ?? '';
    expect(line).toMatch(words instanceof RegExp ? words : new RegExp(words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')));
    expect(timelineEventLines([one], colors)[0]).toContain(type);
  });
});

describe('other views', () => {
  test('[CLI-6] an error', () => {
    expect(errorLines({ code: 'X_Y', message: 'no \x1b[2Jgood', hint: 'do\nthis' }, colors)).toEqual([
      'error X_Y: no ␛[2Jgood',
      'hint: do',
      '      this',
    ]);
  });

  test('[CLI-60, CLI-71, CLI-216, CLI-222, CLI-545] the table of runs', () => {
    const row = { project: 'default', workflowId: 'order', version: 2, wakeAt: null, owner: null, expiresAt: null };
    const rows = [
      {
        ...row,
        executionId: 'exe_3',
        status: 'running',
        trigger: { type: 'schedule', id: 'order--1' },
        createdAt: T0 - 4_000,
        finishedAt: null,
      },
      { ...row, executionId: 'exe_2', status: 'running', createdAt: T0 - 5_000, finishedAt: null, wakeAt: T0 },
      { ...row, executionId: 'exe_1', status: 'failed', createdAt: T0 - 3_600_000, finishedAt: T0 - 3_598_000 },
    ] as const;
    const wait = (node: string) => ({ node, text: 'for signal go' });
    const standings = new Map([
      ['exe_3', { parked: true, waits: [wait('a'), wait('b'), wait('c'), wait('d')] }],
      ['exe_2', { parked: false, waits: [{ node: 'out', text: 'for exe_9', executionId: 'exe_9' }] }],
    ]);
    expect(text(executionLines(rows, { colors, width: 80, now: T0 }, standings))).toMatchInlineSnapshot(`
      "
      EXECUTION  STATUS     WORKFLOW  TRIGGER            STARTED  DURATION
      exe_3      ⏸ parked   order v2  schedule order--1  4s ago          –
        ↳ a waits for signal go
        ↳ b waits for signal go
        ↳ … and 2 more waits
      exe_2      ● running  order v2  –                  5s ago          –
        ↳ out waits for exe_9
      exe_1      ✗ failed   order v2  –                  1h ago         2s
      "
    `);
    expect(text(executionLines(rows.slice(1), { colors, width: 30, now: T0 }, standings))).toMatchInlineSnapshot(`
      "
      exe_2
        ● running  order v2  5s ago
        ↳ out waits for exe_9
      exe_1
        ✗ failed  order v2  1h ago
        2s
      "
    `);
  });

  test('[CLI-63] the journal, one entry per line', () => {
    const frames = [
      {
        seq: 1,
        at: T0,
        position: 1,
        entries: [
          { type: 'run.started', workflowId: 'order', version: 1, input: { value: { id: 7 } } },
          { type: 'node.scheduled', nodes: ['a', 'b'] },
        ],
      },
      {
        seq: 2,
        at: T0,
        position: 2,
        entries: [
          { type: 'node.failed', node: 'a', error: { code: 'E', kind: 'USER', message: 'no\n' }, handling: 'fatal' },
        ],
      },
    ];
    const lines = journalLines(frames, { colors, width: 120 });
    expect(lines.map((line) => line.replace(/\d\d:\d\d:\d\d\.\d{3}(?:Z|[+-]\d\d:\d\d)/, 'HH:MM:SS.mmm'))).toEqual([
      '    1  HH:MM:SS.mmm  run.started         workflowId=order version=1 input={"id":7}',
      '    ·                node.scheduled      a b',
      '    2  HH:MM:SS.mmm  node.failed         a error=E "no\\n" handling=fatal',
    ]);
  });

  test('[CLI-64] a log line', () => {
    const line = {
      executionId: 'e',
      node: 'fetch',
      attempt: 2,
      at: T0,
      level: 'info',
      message: 'a\nb',
      fields: { status: 200, body: { x: 1 } },
      position: 1,
    } as const;
    const shown = storedLogLine(line, colors).replace(/^\d\d:\d\d:\d\d\.\d{3}(?:Z|[+-]\d\d:\d\d)/, 'T');
    expect(shown).toBe(`T info  fetch #2 a\n${' '.repeat(19)}b status=200 body={"x":1}`);
  });

  test('[CLI-65] an explanation', () => {
    const explanation = {
      node: 'ship',
      status: 'pending',
      causes: [],
      reasons: ['It waits for charge (running), which is a rather long sentence that wraps.'],
      next: ['Wait.'],
    };
    expect(explanationLines(explanation, { colors, width: 44 })).toEqual([
      'ship is pending',
      '  • It waits for charge (running), which is',
      '    a rather long sentence that wraps.',
      '  → Wait.',
    ]);
  });

  test('JSON for people', () => {
    const value: Json = {
      a: [],
      b: {},
      c: [1, 'x', null, true],
      deep: {
        list: [
          { id: 1, text: 'y'.repeat(60) },
          { id: 2, text: 'z' },
        ],
      },
    };
    const { lines, cut } = jsonLines(value, { colors, width: 60 });
    expect(JSON.parse(lines.join('\n'))).toEqual(value);
    expect(lines).toContain('  "c": [1, "x", null, true],');
    expect(cut).toBe(0);
    expect(jsonLines('\x1b[2J', { colors, width: 60 }).lines.join('')).not.toContain('\x1b');
    for (const line of jsonLines(
      [1, 2, 3].map((n) => ({ n })),
      { colors, width: 12 },
    ).lines)
      expect(visibleWidth(line)).toBeLessThanOrEqual(12);
  });

  test('words', () => {
    expect([0, 61_000, 7_200_000, 90_000_000].map((ms) => agoText(T0 - ms, T0))).toEqual([
      'just now',
      '1m ago',
      '2h ago',
      '1d ago',
    ]);
    expect(agoText(T0 - 40 * 86_400_000, T0)).toBe('2025-11-23');
    expect(countText(1_234_567)).toBe('1,234,567');
    expect([0, 12_345, 125_100].map(offsetText)).toEqual(['0.00s', '12.35s', '2:05.1']);
    expect(iso(0)).toBe('2026-01-02T03:04:05.000Z');
  });
});
