import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Divergence, fail, replay, sequence, testWorkflow } from '../src/index.ts';

type Nodes = Record<string, Record<string, unknown>>;
const node = (more: Record<string, unknown> = {}) => ({ action: 'x.do@1', ...more });

async function divergence(before: Nodes, after: Nodes, more: { mocks?: object; edges?: [unknown[], unknown[]] } = {}) {
  const [oldEdges = [], newEdges = []] = more.edges ?? [];
  const mocks = JSON.stringify(before).includes('x.do') ? { 'x.do': 1, ...more.mocks } : {};
  const run = await testWorkflow({ id: 'w', nodes: before, edges: oldEdges }, { mocks });
  const result = await replay(run.journal, { id: 'w', nodes: after, edges: newEdges });
  return result.same ? undefined : result.divergence;
}

describe('replay of a journal against another version', () => {
  it('[TST-13] the same definition makes the same decisions, whatever happened', async () => {
    const everything = {
      id: 'all',
      variables: { n: 0 },
      nodes: {
        first: node({
          retry: { attempts: 4, policy: 'exponential-jitter', initial: '1s' },
          with: { n: '{{ $input.n }}' },
        }),
        choose: { needs: ['first'], branch: { on: '$input.n', cases: { '1': 'each' }, default: 'other' } },
        other: node(),
        each: {
          forEach: { in: [1, 2, 3], parallel: true, maxConcurrency: 2 },
          do: { nodes: { a: node({ with: { i: '{{ $item }}' } }), b: node({ needs: ['a'] }) } },
        },
        loop: {
          needs: ['each'],
          while: { condition: '$vars.n < 2' },
          do: { nodes: { up: { set: { n: '{{ $vars.n + 1 }}' } } } },
        },
        again: {
          needs: ['loop'],
          retryUntil: { until: '$self.output.ok', attempts: 3, backoff: { delay: '1m' } },
          do: { nodes: { probe: { action: 'x.probe@1' } } },
        },
        nap: { needs: ['again'], wait: { for: '2d' } },
        ok: { needs: ['nap'], wait: { approval: { title: 'Go?' }, deadline: '3d' } },
        late: { needs: ['ok'], action: 'x.slow@1', timeout: '1h', onError: 'ignore' },
        hear: { needs: ['late'], wait: { signal: 's' } },
        bad: { needs: ['hear'], action: 'x.bad@1' },
        paid: node({ compensate: { action: 'x.undo@1', with: { was: '{{ $self.output }}' } } }),
      },
      output: { n: '{{ $vars.n }}' },
    };
    const run = await testWorkflow(everything, {
      input: { n: 1 },
      mocks: {
        first: sequence([fail('BUSY'), fail('BUSY', { kind: 'SYSTEM' }), 1]),
        'x.do': ({ i = 0 }: { i?: number }) => i,
        'x.probe': sequence([{ ok: false }, { ok: true }]),
        'x.slow': 1,
        'x.bad': fail('NO'),
        'x.undo': null,
      },
    });
    await run.crash();
    await run.pause();
    await run.resume();
    await run.approve('ok', { form: { n: 1 }, comment: 'fine' });
    await run.signal('s', { a: 1 });
    expect(run).toMatchObject({ status: 'failed', error: { code: 'NO' } });
    expect(run.path).toContain('~undo/paid');
    const again = await replay(run.journal, everything);
    expect(again).toEqual({ same: true, frames: run.journal.length, unclear: 0 });
  });

  it('[TST-14] says where it would have gone another way', async () => {
    const base = { a: node(), b: node({ needs: ['a'] }) };
    const cases: [Nodes, Partial<Divergence>][] = [
      [{ a: node() }, { kind: 'node-missing', node: 'b' }],
      [
        { a: node({ with: { n: 1 } }), b: base.b },
        { kind: 'other-input', node: 'a', recorded: {}, now: { n: 1 }, frame: 1 },
      ],
      [
        { ...base, c: node({ needs: ['a'] }) },
        { kind: 'would-run', node: 'c', frame: 2 },
      ],
      [
        { a: node(), b: node({ needs: ['a'], when: '$a > 5' }) },
        { kind: 'would-not-run', node: 'b', frame: 2 },
      ],
      [
        { ...base, c: node({ needs: ['b'] }) },
        { kind: 'other-end', node: undefined, frame: 3 },
      ],
    ];
    for (const [after, expected] of cases) expect(await divergence(base, after)).toMatchObject(expected);
    expect((await divergence(base, cases[1]?.[0] as Nodes))?.text).toBe(
      `frame 1: 'a' would get another input: {"n":1} instead of {}`,
    );
  });

  it('[TST-14] other edges', async () => {
    const two = { a: node(), b: node(), c: node() };
    const edges = (to: number): unknown[] => [
      { from: 'a', to: 'b', when: `$a == ${to}` },
      { from: 'a', to: 'c', when: `$a != ${to}` },
    ];
    expect(await divergence(two, two, { edges: [edges(1), edges(2)] })).toMatchObject({
      kind: 'other-edges',
      node: 'a',
    });
  });

  it('[TST-26] other edges are reported with both ways', async () => {
    const two = { a: node(), b: node(), c: node() };
    const edges = (to: number): unknown[] => [
      { from: 'a', to: 'b', when: `$a == ${to}` },
      { from: 'a', to: 'c', when: `$a != ${to}` },
    ];
    const found = await divergence(two, two, { edges: [edges(1), edges(2)] });
    expect(found?.text).toMatch(/^frame \d+: 'a' would lead to '[bc]' instead of '[bc]'$/);
    expect(found).toMatchObject({ recorded: { taken: [expect.any(String)] }, now: { taken: [expect.any(String)] } });
    const branch = (one: string) => ({
      go: { branch: { on: '1', cases: { 1: one }, default: one === 'b' ? 'c' : 'b' } },
      b: node(),
      c: node(),
    });
    expect((await divergence(branch('b'), branch('c')))?.text).toMatch(/'go' would lead to 'c' instead of 'b'$/);
  });

  it('[CLI-598] the change of a wait in words', async () => {
    const ask = (title: string) => ({ a: { wait: { approval: { title } } } });
    const said = async (...given: Parameters<typeof divergence>) => (await divergence(...given))?.text;
    expect(await said(ask('Ship?'), ask('Really?'))).toBe(
      "frame 1: 'a' would wait for an approval “Really?” instead of for an approval “Ship?”",
    );
    const limited = { a: { wait: { ...ask('Ship?').a.wait, deadline: '1d' } } };
    expect(await said(ask('Ship?'), limited)).toMatch(
      /“Ship\?”, at most until \S+ instead of for an approval “Ship\?”$/,
    );
  });

  it('[TST-14] other retries, waits and outputs', async () => {
    const failing = { mocks: { 'x.do': sequence([fail('NO'), 1]) } };
    const once = { a: node() };
    const twice = (delay: string) => ({ a: node({ retry: { attempts: 2, delay } }) });
    expect(await divergence(twice('1m'), twice('5m'), failing)).toMatchObject({ kind: 'other-retry', node: 'a' });
    expect(await divergence(twice('1m'), once, failing)).toMatchObject({ kind: 'other-retry', now: 'failed' });
    const wait = (time: string) => ({ a: { wait: { for: time } } });
    expect(await divergence(wait('1d'), wait('2d'))).toMatchObject({ kind: 'other-wait', node: 'a' });
    expect(await divergence({ a: { set: { n: 1 } } }, { a: { set: { n: 2 } } })).toMatchObject({
      kind: 'other-output',
    });
    const loop = (items: number[]) => ({ a: { forEach: { in: items }, do: { nodes: { b: node() } } } });
    expect(await divergence(loop([1]), loop([1, 2]))).toMatchObject({ kind: 'other-input', node: 'a' });
  });

  it('[TST-15] reads the file that `nebula executions journal --json` writes', async () => {
    const run = await testWorkflow({ id: 'w', nodes: { a: node() } }, { mocks: { a: 1 } });
    const dir = mkdtempSync(path.join(tmpdir(), 'replay-'));
    const file = path.join(dir, 'journal.json');
    writeFileSync(file, JSON.stringify({ executionId: 'exe_1', frames: run.journal }));
    expect(await replay(file, { id: 'w', nodes: { a: node() } })).toMatchObject({ same: true });
    writeFileSync(file, '{}');
    await expect(replay(file, { id: 'w', nodes: {} })).rejects.toMatchObject({ code: 'JOURNAL_INVALID' });
    rmSync(dir, { recursive: true });
  });
});
