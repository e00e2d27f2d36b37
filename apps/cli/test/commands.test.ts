import type { RunDocument } from '@nebula/core';
import type { WaitResult } from '@nebula/engine';
import { describe, expect, test } from 'vitest';
import { play } from './support/fake-services.ts';
import { event, iso, nodeDocument, ORDER, runDocument, T0 } from './support/runs.ts';
import { memoryIo, memoryOutput } from './support/screen-text.ts';

const running = runDocument({
  status: 'running',
  finishedAt: null,
  nodes: { fetch: nodeDocument('running', { startedAt: iso(0) }) },
});
const done = runDocument({
  output: { ok: true },
  nodes: { fetch: nodeDocument('completed', { startedAt: iso(0), finishedAt: iso(300) }) },
});
const failed = runDocument({
  status: 'failed',
  error: { code: 'DECLINED', kind: 'USER', message: 'card declined', node: 'charge' },
  nodes: { charge: nodeDocument('failed'), tell: nodeDocument('skipped', { attempts: 0 }) },
});
const unknown = runDocument({ status: 'running', finishedAt: null, nodes: { charge: nodeDocument('unknown') } });

const ofRun = { params: { executionId: 'exe_1' } };
const row = {
  project: 'default',
  workflowId: 'order',
  version: 1,
  createdAt: T0,
  wakeAt: null,
  owner: null,
  expiresAt: null,
};

describe('looking at runs', () => {
  test('[CLI-60] list: filters, JSON and the next page', async () => {
    const rows = [{ ...row, executionId: 'exe_1', status: 'failed' as const, finishedAt: T0 + 5 }];
    const argv = [
      'executions',
      'list',
      '--status',
      'failed',
      '--status',
      'cancelled',
      '--workflow',
      'order',
      '-n',
      '1',
      '--cursor',
      'c',
      '--json',
    ];
    const { io, calls } = await play(argv, { rows, next: 'abc' });
    expect(JSON.parse(io.out.text())).toEqual({
      items: [
        {
          executionId: 'exe_1',
          workflowId: 'order',
          version: 1,
          status: 'failed',
          parked: false,
          startedAt: iso(0),
          finishedAt: iso(5),
        },
      ],
      next: 'abc',
    });
    expect(calls.find(([name]) => name === 'listExecutions')).toEqual([
      'listExecutions',
      { query: { status: 'failed,cancelled', workflowId: 'order', limit: 1, cursor: 'c' } },
    ]);
    const table = await play(['executions', 'list', '-n', '1'], { rows, next: 'abc' });
    expect(table.io.out.lines().at(-1)).toBe('more: --cursor abc');
    const empty = await play(['executions', 'list']);
    expect(empty.io.out.text()).toContain('no runs yet');
    const wrong = await play(['executions', 'list', '-n', 'many']);
    expect([wrong.exitCode, wrong.io.err.text()]).toEqual([
      2,
      'error USAGE: --limit many: not a whole number above 0\n',
    ]);
  });

  test('[CLI-71] list shows runs that wait for a person, and filters that match nothing', async () => {
    const rows = [
      { ...row, executionId: 'exe_2', status: 'running' as const, finishedAt: null },
      { ...row, executionId: 'exe_1', status: 'running' as const, finishedAt: null, wakeAt: T0 },
    ];
    const waits = { ...unknown, executionId: 'exe_2', parked: true };
    const { io } = await play(['executions', 'list', '--json'], { rows, documents: [waits, running] });
    expect(JSON.parse(io.out.text()).items).toMatchObject([
      { executionId: 'exe_2', status: 'running', parked: true, waits: [{ node: 'charge' }] },
      { executionId: 'exe_1', status: 'running', parked: false },
    ]);
    for (const filter of [
      ['--status', 'failed'],
      ['--workflow', 'w'],
    ]) {
      const none = await play(['executions', 'list', ...filter]);
      expect(none.io.out.text()).toBe('no run matches\n');
    }
  });

  test('[CLI-223] show without an id: the newest run', async () => {
    const rows = [{ ...row, executionId: 'exe_1', status: 'completed' as const, finishedAt: T0 + 5 }];
    const { exitCode, io, calls } = await play(['executions', 'show'], { rows, documents: [done] });
    expect([exitCode, io.out.text()]).toEqual([0, expect.stringContaining('exe_1')]);
    expect(calls).toContainEqual(['listExecutions', { query: { limit: 1 } }]);
    const none = await play(['executions', 'show']);
    expect([none.exitCode, none.io.err.text()]).toEqual([2, expect.stringContaining('error NO_RUNS: no runs in')]);
  });

  test('[CLI-221] a text that would flood the screen is cut, and told in full on request', async () => {
    const output = { log: 'x'.repeat(5_000), pair: `${'y'.repeat(399)}😀` };
    const documents = [runDocument({ output, nodes: {} })];
    const show = async (...words: string[]) =>
      (await play(['executions', 'show', 'exe_1', ...words], { documents })).io.out.text();
    const cut = await show();
    expect(cut).toContain(`${'x'.repeat(400)}…" (5,000 characters)`);
    expect(cut).toContain(`${'y'.repeat(399)}…" (401 characters)`);
    expect(cut).toContain('all of it: nebula executions show exe_1 --full');
    for (const whole of [await show('--full'), await show('--json')]) {
      expect(whole).toContain('x'.repeat(5_000));
      expect(whole).not.toContain('characters)');
    }
    const loud = [runDocument({ status: 'failed', error: { code: 'X', kind: 'USER', message: 'z'.repeat(900) } })];
    const { io } = await play(['executions', 'show', 'exe_1'], { documents: loud });
    expect(io.out.text()).toContain(`${'z'.repeat(400)}… (900 characters)`);
  });

  test('[CLI-61] show: the tree, the outcome, the document', async () => {
    const { io } = await play(['executions', 'show', 'exe_1'], { documents: [failed], definition: ORDER });
    expect(io.out.text()).toContain('✗ Order fulfilment v1 · failed · 2.3s');
    expect(io.out.text()).toContain('├─ ✗ charge');
    expect(io.out.text()).toContain('error DECLINED at charge: card declined');
    const json = await play(['executions', 'show', 'exe_1', '--json'], { documents: [failed] });
    expect(JSON.parse(json.io.out.text())).toEqual(failed);
  });

  test('[CLI-62] timeline: chart, events, JSON', async () => {
    const script = {
      documents: [done],
      timeline: [
        event(0, 'WorkflowStarted'),
        event(0, 'NodeStarted', 'fetch'),
        event(300, 'NodeCompleted', 'fetch'),
        event(300, 'WorkflowCompleted'),
      ],
    };
    expect((await play(['executions', 'timeline', 'exe_1'], script)).io.out.text()).toContain('✓ fetch  █');
    expect((await play(['executions', 'timeline', 'exe_1', '--events'], script)).io.out.lines()[2]).toBe(
      '   +0.30s  NodeCompleted          fetch',
    );
    const { io } = await play(['executions', 'timeline', 'exe_1', '--json'], script);
    expect(JSON.parse(io.out.text())).toEqual({ executionId: 'exe_1', events: script.timeline });
  });

  test('[CLI-63] journal', async () => {
    const { io } = await play(['executions', 'journal', 'exe_1', '--json'], { documents: [done] });
    expect(JSON.parse(io.out.text())).toEqual({
      executionId: 'exe_1',
      frames: [{ seq: 1, at: 0, position: 1, entries: [{ type: 'run.started' }] }],
    });
  });

  test('[CLI-64] logs: filtered, followed to the end, as a document', async () => {
    const logs = [1, 2].map((position) => ({
      executionId: 'exe_1',
      node: `n${position}`,
      attempt: 1,
      at: T0,
      level: 'info' as const,
      message: `line ${position}`,
      position,
    }));
    expect(
      (await play(['executions', 'logs', 'exe_1', '--node', 'n2'], { documents: [done], logs })).io.out.text(),
    ).toMatch(/^\S+ info {2}n2 line 2\n$/);
    const read = await play(['executions', 'logs', 'exe_1', '--json'], { documents: [done], logs });
    expect(JSON.parse(read.io.out.text()).lines.map((line: { message: string }) => line.message)).toEqual([
      'line 1',
      'line 2',
    ]);
    const followed = await play(['executions', 'logs', 'exe_1', '--follow'], { documents: [done], logs });
    expect(followed.io.out.lines()).toHaveLength(2);
  });

  test('[CLI-224] logs --follow --json: one document per line', async () => {
    const line = { executionId: 'exe_1', node: 'n', attempt: 1, at: T0, level: 'info' as const, position: 1 };
    const logs = ['a\nb', 'c \x1b[2J'].map((message, at) => ({ ...line, message, position: at + 1 }));
    const { io } = await play(['executions', 'logs', 'exe_1', '--follow', '--json'], { documents: [done], logs });
    const lines = io.out.lines();
    expect(io.out.text()).not.toContain('\x1b');
    expect(lines.map((text) => JSON.parse(text).message)).toEqual(['a\nb', 'c \x1b[2J']);
    expect(JSON.parse(lines[0] as string)).toMatchObject({ node: 'n', level: 'info', at: '2026-01-02T03:04:05.000Z' });
  });

  test('[CLI-65] explain: sentences, and the nearest node for an unknown one', async () => {
    const explanation = {
      node: null,
      status: 'failed',
      causes: [],
      reasons: ['DECLINED in charge.'],
      next: ['nebula executions retry exe_1'],
    };
    const project = { dataDir: '/my data', needsDataDirOption: true };
    const { io } = await play(['executions', 'explain', 'exe_1'], { documents: [failed], explanation, project });
    expect(io.out.lines()).toEqual([
      'the run is failed',
      '  • DECLINED in charge.',
      "  → nebula executions retry exe_1 --data-dir '/my data'",
    ]);
    const wrong = await play(['executions', 'explain', 'exe_1', 'chrage'], { documents: [failed] });
    expect(wrong.exitCode).toBe(2);
    expect(wrong.io.err.text()).toContain('hint: did you mean charge?');
  });

  test.each(['show', 'timeline', 'journal', 'logs', 'explain', 'cancel', 'retry', 'delete'])(
    '[CLI-70] %s of an unknown execution',
    async (verb) => {
      const { exitCode, io } = await play(['executions', verb, 'exe_9']);
      expect(exitCode).toBe(2);
      expect(io.err.text()).toContain('error UNKNOWN_EXECUTION: there is no run exe_9');
    },
  );
});

describe('changing runs', () => {
  test('[CLI-66] cancel: refused for a finished run', async () => {
    const { exitCode, io } = await play(['executions', 'cancel', 'exe_1'], { documents: [done] });
    expect([exitCode, io.err.text()]).toEqual([2, 'error ALREADY_FINISHED: exe_1 has ended already: completed\n']);
  });

  test('[CLI-66, CLI-214] cancel --no-run says when it will take effect', async () => {
    const words = ['executions', 'cancel', 'exe_1', '--reason', 'wrong order', '--no-run'];
    const { exitCode, io, calls } = await play(words, { documents: [running] });
    expect(exitCode).toBe(0);
    expect(calls).toContainEqual(['cancelExecution', { ...ofRun, body: { reason: 'wrong order' } }]);
    expect(calls.map(([name]) => name)).not.toContain('work');
    expect(io.out.text()).toContain('nebula resume exe_1');
  });

  test('[CLI-68] settle takes exactly one answer, for an unknown outcome', async () => {
    const settle = (...words: string[]) =>
      play(['executions', 'settle', 'exe_1', 'charge', ...words], { documents: [unknown] });
    const happened = await settle('--happened', '--output', '{"id": "ch_1"}', '--json');
    expect(happened.calls).toContainEqual([
      'settleNode',
      { ...ofRun, body: { node: 'charge', happened: true, output: { id: 'ch_1' } } },
    ]);
    expect(JSON.parse(happened.io.out.text())).toEqual({ executionId: 'exe_1', node: 'charge', requested: true });
    for (const then of ['retry', 'fail']) {
      expect((await settle(`--${then}`)).calls).toContainEqual([
        'settleNode',
        { ...ofRun, body: { node: 'charge', happened: false, then } },
      ]);
    }
    for (const words of [[], ['--retry', '--fail'], ['--retry', '--output', '1']])
      expect((await settle(...words)).exitCode).toBe(2);
    const known = await play(['executions', 'settle', 'exe_1', 'charge', '--retry'], { documents: [failed] });
    expect(known.io.err.text()).toContain('error NOT_UNKNOWN: charge is failed');
  });

  test('[CLI-69] delete', async () => {
    expect((await play(['executions', 'delete', 'exe_1', '--json'], { documents: [done] })).io.out.text()).toContain(
      '"deleted": true',
    );
    const { exitCode, io } = await play(['executions', 'delete', 'exe_1'], { documents: [running] });
    expect(exitCode).toBe(2);
    expect(io.err.text()).toContain('error NOT_FINISHED');
  });

  test('[CLI-67] retry: leaves the request, opens the run again and waits for its end', async () => {
    const events = [event(0, 'WorkflowReopened', null, { nodes: ['charge'] })];
    const waited = async (): Promise<WaitResult> => ({ parked: false, document: done });
    const { exitCode, calls } = await play(['executions', 'retry', 'exe_1'], { documents: [failed], events, waited });
    expect(exitCode).toBe(0);
    const names = calls.map(([name]) => name);
    expect(names.indexOf('retryExecution')).toBeLessThan(names.indexOf('work'));
    const later = await play(['executions', 'retry', 'exe_1', '--no-run'], { documents: [failed] });
    expect(later.io.out.text()).toContain('nebula resume exe_1');
    expect(later.calls.map(([name]) => name)).not.toContain('work');
    expect((await play(['executions', 'retry', 'exe_1'], { documents: [done] })).io.err.text()).toContain(
      'NOTHING_TO_RETRY',
    );
    expect((await play(['executions', 'retry', 'exe_1'], { documents: [running] })).io.err.text()).toContain(
      'NOT_FINISHED',
    );
  });
});

describe('resume', () => {
  test('[CLI-45] one run, with its lines and its summary', async () => {
    const events = [event(0, 'NodeStarted', 'fetch', { attempt: 2 }), event(300, 'NodeCompleted', 'fetch')];
    const waited = async (): Promise<WaitResult> => ({ parked: false, document: done });
    const { exitCode, io } = await play(['resume', 'exe_1'], { documents: [running], events, waited });
    expect(exitCode).toBe(0);
    expect(io.out.text()).toContain('● fetch started, attempt 2\n');
    expect(io.out.text()).toContain('✓ completed in 2.3s  exe_1');
  });

  test('[CLI-45] everything unfinished: the worst outcome is the exit code', async () => {
    const documents = ['exe_1', 'exe_2', 'exe_3'].map((executionId) => ({ ...running, executionId }));
    const rows = documents.map(({ executionId }) => ({
      ...row,
      executionId,
      status: 'running' as const,
      finishedAt: null,
    }));
    const waited = async (executionId: string): Promise<WaitResult> => {
      if (executionId === 'exe_1') return { parked: false, document: { ...done, executionId } };
      if (executionId === 'exe_2')
        return { parked: true, document: { ...unknown, executionId }, waitingFor: [], inside: [] };
      return { parked: false, document: { ...failed, executionId } };
    };
    const { exitCode, io } = await play(['resume'], { documents, rows, waited });
    expect(exitCode).toBe(1);
    expect(io.out.text()).toContain('3 runs continued: 1 completed, 1 parked, 1 failed');
    const json = await play(['resume', '--json'], { documents, rows, waited });
    expect(JSON.parse(json.io.out.text()).items).toHaveLength(3);
    expect(json.io.err.text()).toContain('parked');
  });

  test('[CLI-430] a run that cannot be read is reported, and the others continue', async () => {
    const documents = ['exe_1', 'exe_2'].map((executionId) => ({ ...running, executionId }));
    const rows = documents.map(({ executionId }) => ({
      ...row,
      executionId,
      status: 'running' as const,
      finishedAt: null,
    }));
    const waited = async (executionId: string): Promise<WaitResult> => ({
      parked: false,
      document: { ...done, executionId },
    });
    const script = { documents, rows, waited, unreadable: ['exe_1'] };
    const { exitCode, io } = await play(['resume'], script);
    expect([exitCode, io.out.text()]).toEqual([1, expect.stringContaining('✓ completed in 2.3s  exe_2')]);
    expect(io.err.text()).toContain(
      "error PLAN_INVALID: exe_1 cannot be continued: Workflow 'w' cannot run here: there is no action 'gone'",
    );
    const none = await play(['resume', '--json'], { ...script, unreadable: ['exe_1', 'exe_2'] });
    expect([none.exitCode, JSON.parse(none.io.out.text())]).toEqual([1, { items: [] }]);
  });

  test('[CLI-45] nothing to continue', async () => {
    const { exitCode, io } = await play(['resume']);
    expect([exitCode, io.out.text()]).toEqual([0, 'nothing to continue: all runs have ended\n']);
    expect(JSON.parse((await play(['resume', '--json'])).io.out.text())).toEqual({ items: [] });
  });

  test.each([
    ['completed', 0],
    ['failed', 1],
    ['cancelled', 3],
    ['timed-out', 3],
  ] as const)('[CLI-40] %s ends with %i', async (status, code) => {
    const waited = async (): Promise<WaitResult> => ({
      parked: false,
      document: { ...failed, status } as RunDocument,
    });
    const { exitCode, io } = await play(['resume', 'exe_1', '--json'], { documents: [running], waited });
    expect(exitCode).toBe(code);
    expect(JSON.parse(io.out.text()).status).toBe(status);
    expect(io.err.text()).toBe('');
  });

  test('[CLI-42] parked exits with 4 and says what to do, even beside the document', async () => {
    const waited = async (): Promise<WaitResult> => ({
      parked: true,
      document: unknown,
      waitingFor: [{ node: 'charge', status: 'unknown', causes: [], reasons: ['It is unknown.'], next: [] }],
      inside: [],
    });
    const { exitCode, io } = await play(['resume', 'exe_1', '--json'], { documents: [unknown], waited });
    expect(exitCode).toBe(4);
    expect(JSON.parse(io.out.text()).status).toBe('running');
    expect(io.err.text()).toContain('nebula executions settle exe_1 charge --retry');
  });

  test('[CLI-43] Ctrl-C hands back, prints the exact command and ends with 130', async () => {
    const waited = (): Promise<WaitResult> => {
      void expect
        .poll(() => process.listenerCount('SIGINT'))
        .toBeGreaterThan(0)
        .then(() => process.emit('SIGINT', 'SIGINT'));
      return new Promise(() => undefined);
    };
    const project = { dataDir: '/data', needsDataDirOption: true };
    const { exitCode, io, calls } = await play(['resume', 'exe_1'], { documents: [running], waited, project });
    expect(exitCode).toBe(130);
    expect(calls).toContainEqual(['stop', { graceMs: 3_000 }]);
    expect(io.out.lines().at(-1)).toBe('  nebula resume exe_1 --data-dir /data');
    expect(process.listenerCount('SIGINT')).toBe(0);
  });

  test('[CLI-47] output of actions goes to stderr when stdout carries the document', async () => {
    const waited = async (): Promise<WaitResult> => {
      process.stdout.write('an action prints\n');
      return { parked: false, document: done };
    };
    const { io } = await play(['resume', 'exe_1', '--json'], { documents: [running], waited });
    expect(JSON.parse(io.out.text())).toEqual(done);
    expect(io.err.text()).toBe('an action prints\n');
  });
});

describe('on a terminal', () => {
  /** Watches a run until the terminal shows what is asked for. */
  const watchUntil = async (isShown: (text: string) => boolean) => {
    const out = memoryOutput({ live: true, columns: 60, rows: 20 });
    const waited = async (): Promise<WaitResult> => {
      await expect.poll(() => isShown(out.text()), { interval: 5, timeout: 10_000 }).toBe(true);
      return { parked: false, document: done };
    };
    const events = [event(0, 'NodeStarted', 'fetch', { attempt: 1 })];
    const io = memoryIo({ out, now: () => Date.now() });
    const { exitCode } = await play(
      ['resume', 'exe_1'],
      { documents: [running], definition: ORDER, events, waited },
      io,
    );
    return { exitCode, text: out.text() };
  };

  test('[CLI-56] at most 12 paintings in a second', async () => {
    const paintingsIn = (text: string): number => text.split('\x1b[?2026h').length - 1;
    const begun = performance.now();
    const { exitCode, text } = await watchUntil((shown) => paintingsIn(shown) > 5);
    const seconds = (performance.now() - begun) / 1_000;
    expect(exitCode).toBe(0);
    expect(paintingsIn(text)).toBeLessThanOrEqual(12 * seconds + 2);
  });

  test('[CLI-55] the cursor is shown again, and the summary follows the last picture', async () => {
    const { text } = await watchUntil((shown) => shown.includes('\x1b[?25l'));
    expect(text.lastIndexOf('\x1b[?25h')).toBeGreaterThan(text.lastIndexOf('\x1b[?25l'));
    expect(text.slice(text.lastIndexOf('\x1b[?25h'))).toBe('\x1b[?25h{ "ok": true }\n');
  });
});
