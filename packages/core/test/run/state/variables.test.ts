import { describe, expect, it } from 'vitest';
import { decodeSnapshot, encodeSnapshot, type RunState } from '../../../src/run.ts';
import { drive } from '../drive.ts';

const replayed = (node: string) => ({ type: 'replay', node }) as const;

function varsOf(state: RunState): Record<string, unknown> {
  return Object.fromEntries([...state.root.realm.vars].map(([name, { value }]) => [name, value]));
}

describe('variables of a run that is replayed', () => {
  const counter = {
    variables: { n: 0 },
    nodes: {
      loop: {
        while: { condition: '$vars.n < 3' },
        do: { nodes: { work: {}, count: { needs: ['work'], set: { n: '{{ $vars.n + 1 }}' } } } },
      },
      after: { needs: ['loop'], with: { n: '{{ $vars.n }}' } },
    },
  };

  it('[RUN-346] a while over a counter runs its iterations again', () => {
    const run = drive(counter);
    for (let iteration = 0; iteration < 3; iteration++) run.complete(`loop/${iteration}/work`);
    expect(run.attempts.get('after')?.input).toEqual({ n: 3 });
    run.complete('after').step(replayed('loop'));
    expect(varsOf(run.state)).toEqual({ n: 0 });
    expect(run.running()).toEqual(['loop/0/work']);
    for (let iteration = 0; iteration < 3; iteration++) run.complete(`loop/${iteration}/work`);
    expect(run.attempts.get('after')?.input).toEqual({ n: 3 });
  });

  it('[RUN-346] a node before a `set` does not see its later assignment', () => {
    const run = drive({
      variables: { x: 'first' },
      nodes: {
        a: { with: { x: '{{ $vars.x }}' } },
        s: { needs: ['a'], set: { x: 'later', y: 1 } },
        b: { needs: ['s'], with: { x: '{{ $vars.x }}', y: '{{ $vars.y }}' } },
      },
    });
    run.complete('a').complete('b').step(replayed('a'));
    expect(run.attempts.get('a')?.input).toEqual({ x: 'first' });
    expect(varsOf(run.state)).toEqual({ x: 'first' });
    run.complete('a');
    expect(run.attempts.get('b')?.input).toEqual({ x: 'later', y: 1 });
  });

  it('[RUN-346] assignments of other nodes stand, the newest one wins', () => {
    const run = drive({
      variables: { x: 0, z: 0 },
      nodes: {
        s1: { set: { x: 1 } },
        a: { needs: ['s1'] },
        s2: { needs: ['a'], set: { x: 2 } },
        beside: { needs: ['s1'] },
        s3: { needs: ['beside'], set: { z: 3 } },
      },
    });
    run.complete('a').complete('beside');
    expect(varsOf(run.state)).toEqual({ x: 2, z: 3 });
    run.step(replayed('a'));
    expect(varsOf(run.state)).toEqual({ x: 1, z: 3 });
  });

  it('[RUN-346] assignments of a shared inline workflow are withdrawn with it, including its initial values', () => {
    const run = drive(
      {
        nodes: {
          sub: { workflow: { id: 'other', isolation: 'shared' } },
          b: { needs: ['sub'], with: { k: '{{ $vars?.k }}' } },
        },
      },
      { workflows: { other: { variables: { k: 1 }, nodes: { a: {}, s: { needs: ['a'], set: { k: 5 } } } } } },
    );
    run.complete('sub/a');
    expect(run.attempts.get('b')?.input).toEqual({ k: 5 });
    run.complete('b').step(replayed('sub'));
    expect(varsOf(run.state)).toEqual({ k: 1 });
  });

  it('[RUN-346] an undone node that a retry runs anew begins with the variables before it', () => {
    const undo = { compensate: { action: 'look@1' } };
    const run = drive({
      variables: { n: 0 },
      nodes: { a: undo, s: { needs: ['a'], set: { n: '{{ $vars.n + 1 }}' } }, b: { needs: ['s'] } },
    });
    run.complete('a').fail('b').complete('~undo/a').retry();
    expect(varsOf(run.state)).toEqual({ n: 0 });
    run.complete('a');
    expect(varsOf(run.state)).toEqual({ n: 1 });
  });

  it('[RUN-346] retry from failed keeps completed nodes, and their variables', () => {
    const run = drive({ variables: { n: 0 }, nodes: { s: { set: { n: 1 } }, b: { needs: ['s'] } } });
    run.fail('b').retry();
    expect(varsOf(run.state)).toEqual({ n: 1 });
  });

  it('[RUN-346] a snapshot records which node assigned which variable', () => {
    const run = drive(counter);
    for (let iteration = 0; iteration < 3; iteration++) run.complete(`loop/${iteration}/work`);
    const restored = decodeSnapshot(run.plan, 'exe_test', encodeSnapshot(run.state)) as RunState;
    const [loop] = restored.root.nodes;
    const own = loop && restored.root.realm.assigned.byNode.get(loop);
    expect([...(own ?? [])]).toEqual([['n', { order: 3, value: { value: 3 } }]]);
    expect(restored.root.realm.assigned.count).toBe(3);
  });

  it('[RUN-346] of 1,000 iterations that assign one variable, one assignment is kept', () => {
    const run = drive(
      {
        variables: { n: 0 },
        nodes: {
          loop: {
            while: { condition: '$vars.n < 1000', maxIterations: 2000 },
            do: { nodes: { c: { set: { n: '{{ $vars.n + 1 }}' } } } },
          },
          hold: {},
        },
      },
      { foldEvery: 1_000_000 },
    );
    while (run.statusOf('loop') !== 'completed') run.advance(0);
    expect([...run.state.root.realm.assigned.byNode.values()].map((own) => own.size)).toEqual([1]);
  });
});
