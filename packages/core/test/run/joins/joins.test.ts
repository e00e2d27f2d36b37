import { describe, expect, it } from 'vitest';
import { explainNode } from '../../../src/run.ts';
import { drive } from '../drive.ts';

describe('joins and edges', () => {
  it('[RUN-1] starts every node without incoming edges', () => {
    const run = drive({ nodes: { a: {}, b: {}, c: { needs: ['a'] } } });
    expect(run.running()).toEqual(['a', 'b']);
    expect(run.statusOf('c')).toBe('pending');
  });

  it('[RUN-2] join all waits until every edge is decided', () => {
    const run = drive({ nodes: { a: {}, b: {}, c: { needs: ['a', 'b'] } } });
    run.complete('a');
    expect(run.statusOf('c')).toBe('pending');
    run.complete('b');
    expect(run.running()).toEqual(['c']);
  });

  it('[RUN-3] join any starts with the first taken edge and ignores later ones', () => {
    const run = drive({ nodes: { a: {}, b: {}, c: { needs: ['a', 'b'], join: 'any' } } });
    run.complete('b');
    expect(run.running()).toEqual(['a', 'c']);
    run.complete('c').complete('a');
    expect(run.document.nodes.c?.attempts).toBe(1);
    expect(run.status).toBe('completed');
  });

  it('[RUN-3] join any is skipped when every edge is dead', () => {
    const run = drive({
      nodes: { a: {}, b: {}, c: { join: 'any' } },
      edges: [
        { from: 'a', to: 'c', when: 'false' },
        { from: 'b', to: 'c', when: 'false' },
      ],
    });
    run.complete('a');
    expect(run.statusOf('c')).toBe('pending');
    run.complete('b');
    expect(run.statusOf('c')).toBe('skipped');
  });

  it('[RUN-4] join n starts at n taken edges', () => {
    const nodes = { a: {}, b: {}, c: {}, d: { needs: ['a', 'b', 'c'], join: 2 } };
    const run = drive({ nodes });
    run.complete('a');
    expect(run.statusOf('d')).toBe('pending');
    run.complete('c');
    expect(run.running()).toEqual(['b', 'd']);
  });

  it('[RUN-4] join n is skipped when fewer than n can be taken', () => {
    const run = drive({
      nodes: { a: {}, b: {}, c: { needs: ['a'], join: 2 } },
      edges: [{ from: 'b', to: 'c', when: 'false' }],
    });
    run.complete('a').complete('b');
    expect(run.statusOf('c')).toBe('skipped');
    expect(run.status).toBe('completed');
  });

  it('[RUN-480] join ended starts when every source has ended, whichever of its edges are taken', () => {
    const nodes = { a: { when: 'false' }, b: { needs: ['a'] }, c: {}, d: { needs: ['b', 'c'], join: 'ended' } };
    const run = drive({ config: { onFailure: 'finish-running' }, nodes });
    expect(run.statuses()).toMatchObject({ a: 'skipped', b: 'skipped', d: 'pending' });
    expect(explainNode(run.state, 'd', run.now)?.causes).toMatchObject([{ message: 'It waits for c (running).' }]);
    run.fail('c');
    expect(run.running()).toEqual(['d']);
    expect(run.complete('d').status).toBe('failed');
    const alone = drive({ nodes: { a: { when: 'false' }, b: { needs: ['a'], join: 'ended' } } });
    expect(alone.running()).toEqual(['b']);
    expect(alone.complete('b').status).toBe('completed');
  });

  it('[RUN-480] join ended is cancelled with its scope, unless an always edge leads to it', () => {
    const run = drive({
      nodes: { a: {}, plain: { needs: ['a'], join: 'ended' }, clean: { join: 'ended' } },
      edges: [{ from: 'a', to: 'clean', on: 'always' }],
    });
    run.fail('a');
    expect(run.statuses()).toEqual({ a: 'failed', plain: 'cancelled', clean: 'running' });
  });

  it('[RUN-5] skips a node whose edges are all dead, and its targets by always edges', () => {
    const run = drive({
      nodes: { a: {}, b: {}, c: {} },
      edges: [
        { from: 'a', to: 'b', when: 'false' },
        { from: 'b', to: 'c', on: 'always' },
      ],
    });
    run.complete('a');
    expect(run.statuses()).toEqual({ a: 'completed', b: 'skipped', c: 'skipped' });
    expect(run.status).toBe('completed');
  });

  it('[RUN-6] [RUN-7] success follows success edges only, failure error edges only', () => {
    const edges = [
      { from: 'a', to: 'well', on: 'success' },
      { from: 'a', to: 'badly', on: 'error' },
    ] as const;
    const nodes = { a: {}, well: {}, badly: {} };
    expect(drive({ nodes, edges }).complete('a').statuses()).toMatchObject({ well: 'running', badly: 'skipped' });
    expect(drive({ nodes, edges }).fail('a').statuses()).toMatchObject({ well: 'skipped', badly: 'running' });
  });

  it('[RUN-7] an error edge asks its matcher', () => {
    const edges = [
      { from: 'a', to: 'declined', on: 'error', match: { code: 'DECLINED' } },
      { from: 'a', to: 'other', on: 'error', match: { code: ['LATE', 'LOST'] } },
    ] as const;
    const run = drive({ nodes: { a: {}, declined: {}, other: {} }, edges }).fail('a', { code: 'LOST' });
    expect(run.statuses()).toMatchObject({ declined: 'skipped', other: 'running' });
  });

  it('[RUN-8] an always edge is taken after success and after failure, which it does not handle', () => {
    const short = { nodes: { a: {}, after: {} }, edges: [{ from: 'a', to: 'after', on: 'always' }] } as const;
    expect(drive(short).complete('a').complete('after').status).toBe('completed');
    const failed = drive(short).fail('a');
    expect(failed.running()).toEqual(['after']);
    expect(failed.complete('after').status).toBe('failed');
  });

  it('[RUN-9] a result edge asks the output', () => {
    const edges = [
      { from: 'a', to: 'big', on: 'result', match: { total: { gt: 100 } } },
      { from: 'a', to: 'small', on: 'result', match: { total: { lte: 100 } } },
    ] as const;
    const run = drive({ nodes: { a: {}, big: {}, small: {} }, edges }).complete('a', { total: 7 });
    expect(run.statuses()).toMatchObject({ big: 'skipped', small: 'running' });
  });

  it('[RUN-10] an edge with a condition is taken only if it holds', () => {
    const edges = [
      { from: 'a', to: 'b', when: '$nodes.a.output.n > 1' },
      { from: 'a', to: 'c', when: '{{ $a.n > 5 }}' },
    ];
    const run = drive({ nodes: { a: {}, b: {}, c: {} }, edges }).complete('a', { n: 3 });
    expect(run.statuses()).toMatchObject({ b: 'running', c: 'skipped' });
  });

  it('[RUN-10] on and when must both hold', () => {
    const edges = [{ from: 'a', to: 'b', on: 'error', when: '$input.careful' }] as const;
    const short = { nodes: { a: {}, b: {} }, edges };
    expect(
      drive(short, { input: { careful: true } })
        .fail('a')
        .running(),
    ).toEqual(['b']);
    expect(drive(short, { input: { careful: false } }).fail('a').status).toBe('failed');
  });

  it('[RUN-11] an expression that fails on an edge fails its target', () => {
    const edges = [{ from: 'a', to: 'b', when: '$nodes.a.output.missing.deep > 1' }];
    const run = drive({ nodes: { a: {}, b: {} }, edges }).complete('a', {});
    expect(run.statusOf('a')).toBe('completed');
    expect(run.statusOf('b')).toBe('failed');
    expect(run.error).toMatchObject({ node: 'b', kind: 'USER' });
    expect(run.error?.code).toMatch(/^EXPRESSION_/);
  });

  it('[RUN-12] a false when skips the node, a broken one fails it', () => {
    const skipped = drive({ nodes: { a: { when: '$input.go' }, b: { needs: ['a'] } } }, { input: { go: false } });
    expect(skipped.statuses()).toEqual({ a: 'skipped', b: 'skipped' });
    const broken = drive({ nodes: { a: { when: '$input.nothing.here' } } });
    expect(broken.status).toBe('failed');
    expect(broken.error?.message).toContain('when');
  });

  it('[RUN-13] a disabled node is passed over', () => {
    const run = drive({
      nodes: { a: {}, off: { needs: ['a'], enabled: false }, b: { needs: ['off'] }, c: {}, d: {} },
      edges: [
        { from: 'off', to: 'c', on: 'error' },
        { from: 'off', to: 'd', on: 'always' },
      ],
      output: '{{ $nodes.off.output }}',
    });
    expect(run.statusOf('off')).toBe('pending');
    run.complete('a');
    expect(run.statuses()).toMatchObject({ off: 'skipped', b: 'running', c: 'skipped', d: 'running' });
    expect(run.complete('b').complete('d').output).toBeNull();
  });

  it('[RUN-14] a branch that is not taken does not block the join', () => {
    const run = drive({
      nodes: { a: {}, left: {}, right: {}, right2: { needs: ['right'] }, join: { needs: ['left', 'right2'] } },
      edges: [
        { from: 'a', to: 'left', when: '$a.go == "left"' },
        { from: 'a', to: 'right', when: '$a.go == "right"' },
      ],
    });
    run.complete('a', { go: 'left' }).complete('left');
    expect(run.running()).toEqual(['join']);
    expect(run.complete('join').status).toBe('completed');
  });
});
