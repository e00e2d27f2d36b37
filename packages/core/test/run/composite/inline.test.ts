import { describe, expect, it } from 'vitest';
import { drive } from '../drive.ts';

const undo = { compensate: { action: 'look@1', with: { of: '{{ $self.output }}' } } };

describe('a workflow inside another', () => {
  const other = {
    input: { type: 'object', required: ['n'], properties: { n: { type: 'number' } } },
    variables: { v: 'inner' },
    nodes: { x: { with: { n: '{{ $input.n }}', w: '{{ $workflow.id }}', v: '{{ $vars.v }}' } } },
    output: { doubled: '{{ $x * 2 }}' },
  };
  const flow = (more: Record<string, unknown> = {}) => ({
    variables: { v: 'outer' },
    nodes: {
      sub: { workflow: { id: 'other', input: { n: '{{ $input.start }}' }, ...more } },
      after: { needs: ['sub'], with: { s: '{{ $sub }}', v: '{{ $vars.v }}' } },
    },
  });

  it('[RUN-160] has an input and a name of its own, and its output is that of the node', () => {
    const run = drive(flow({ isolation: 'isolated' }), { input: { start: 4 }, workflows: { other } });
    expect(run.attempts.get('sub/x')?.input).toEqual({ n: 4, w: 'other', v: 'inner' });
    run.complete('sub/x', 8);
    expect(run.attempts.get('after')?.input).toEqual({ s: { doubled: 16 }, v: 'outer' });
  });

  it('[RUN-475] without `output` gives the outputs of its end nodes by id, inline as a child', () => {
    const inline = (sub: object) => drive({ nodes: { sub: { workflow: { id: 'sub' } } } }, { workflows: { sub } });
    const one = inline({ nodes: { x: {} } }).complete('sub/x', 1);
    expect(one.document.output).toEqual({ sub: { x: 1 } });
    const two = inline({ nodes: { x: {}, y: { when: false } } }).complete('sub/x', 1);
    expect(two.document.output).toEqual({ sub: { x: 1 } });
    expect(inline({ nodes: {} }).document.output).toEqual({ sub: {} });
    const mapped = { workflow: { id: 'sub', output: '{{ $self.output.x }}' } };
    const run = drive({ nodes: { sub: mapped } }, { workflows: { sub: { nodes: { x: {} } } } }).complete('sub/x', 1);
    expect(run.document.output).toEqual({ sub: 1 });
    const group = drive({ nodes: { g: { group: { nodes: { x: {} } } } } }).complete('g/x', 1);
    expect(group.document.output).toEqual({ g: 1 });
  });

  it('[RUN-475] its schema is known: a member that it does not have is an error, except in an accepted definition', () => {
    const nodes = { sub: { workflow: { id: 'sub' } }, a: { needs: ['sub'], with: { n: '{{ $sub.n }}' } } };
    const workflows = { sub: { nodes: { x: {} } } };
    expect(() => drive({ nodes }, { workflows })).toThrow('UNKNOWN_FIELD');
    expect(drive({ nodes }, { workflows, isAccepted: true }).running()).toEqual(['sub/x']);
  });

  it('[RUN-161] shares the variables around it unless it is isolated', () => {
    const sub = { nodes: { s: { set: { v: 'changed' } } } };
    const shared = drive(
      {
        variables: { v: 'outer' },
        nodes: {
          sub: { workflow: { id: 'sub', isolation: 'shared' } },
          a: { needs: ['sub'], with: { v: '{{ $vars.v }}' } },
        },
      },
      { workflows: { sub: { variables: { v: 'own' }, ...sub } } },
    );
    expect(shared.attempts.get('a')?.input).toEqual({ v: 'changed' });
    const isolated = drive(
      {
        variables: { v: 'outer' },
        nodes: {
          sub: { workflow: { id: 'sub', isolation: 'isolated' } },
          a: { needs: ['sub'], with: { v: '{{ $vars.v }}' } },
        },
      },
      { workflows: { sub: { variables: { v: 'own' }, ...sub } } },
    );
    expect(isolated.attempts.get('a')?.input).toEqual({ v: 'outer' });
  });

  it('[RUN-162] an input that does not fit its schema fails the node', () => {
    const run = drive(flow(), { input: { start: 'four' }, workflows: { other } });
    expect(run.error).toMatchObject({ code: 'INPUT_INVALID', node: 'sub' });
  });

  it('[RUN-163] maps its output', () => {
    const run = drive(flow({ output: { just: '{{ $self.output.doubled }}' } }), {
      input: { start: 1 },
      workflows: { other },
    });
    run.complete('sub/x', 3);
    expect(run.attempts.get('after')?.input).toMatchObject({ s: { just: 6 } });
  });

  it('[RUN-164] follows its own failure policy, and its failure is that of the node', () => {
    const sub = { config: { onFailure: 'finish-running' as const }, nodes: { a: {}, b: {} } };
    const run = drive({ nodes: { sub: { workflow: { id: 'sub' } } } }, { workflows: { sub } });
    run.fail('sub/a', { code: 'A' });
    expect(run.running()).toEqual(['sub/b']);
    run.complete('sub/b');
    expect(run.error).toMatchObject({ code: 'A', node: 'sub/a' });
    expect(run.statusOf('sub')).toBe('failed');
  });

  it('[RUN-165] a transactional one undoes its nodes before its failure is seen outside', () => {
    const sub = { nodes: { a: undo, b: { needs: ['a'] } } };
    const run = drive(
      {
        nodes: {
          before: undo,
          sub: { needs: ['before'], workflow: { id: 'sub', isolation: 'transactional' } },
          mend: {},
        },
        edges: [{ from: 'sub', to: 'mend', on: 'error' }],
      },
      { workflows: { sub } },
    );
    run.complete('before').complete('sub/a', 'done').fail('sub/b', { code: 'B' });
    expect(run.running()).toEqual(['sub/~undo/sub:a']);
    expect(run.statusOf('sub')).toBe('running');
    run.complete('sub/~undo/sub:a');
    expect(run.running()).toEqual(['mend']);
    expect(run.complete('mend').status).toBe('completed');
  });

  it('[RUN-166] nodes that a transaction has undone are not undone again with the rest', () => {
    const sub = { nodes: { a: undo, b: { needs: ['a'] } } };
    const run = drive(
      { nodes: { before: undo, sub: { needs: ['before'], workflow: { id: 'sub', isolation: 'transactional' } } } },
      { workflows: { sub } },
    );
    run.complete('before', 1).complete('sub/a', 2).fail('sub/b', { code: 'B' }).complete('sub/~undo/sub:a');
    expect(run.running()).toEqual(['~undo/before']);
    expect(run.complete('~undo/before').status).toBe('failed');
  });
});
