import { describe, expect, it } from 'vitest';
import { codes } from './verifying.ts';

describe('time', () => {
  it('[VER-12] is required for actions that call over the network', () => {
    expect(codes('nodes: { a: { action: call } }')).toEqual(['NO_TIMEOUT nodes.a.action']);
    expect(codes('nodes: { a: { dynamic: { action: call } } }')).toEqual(['NO_TIMEOUT nodes.a.dynamic.action']);
    expect(codes('nodes: { a: { action: call, timeout: { queued: 5s } } }')).toEqual(['NO_TIMEOUT nodes.a.action']);
    expect(codes('config: { timeout: 1h }\nnodes: { a: { action: do, compensate: { action: call } } }')).toEqual([
      'NO_TIMEOUT nodes.a.compensate.action',
    ]);
  });

  it('[VER-12] by the parameters, the action, the node, a node around it, or the workflow', () => {
    expect(codes('nodes: { a: { action: call, with: { timeout: 5s } } }')).toEqual([]);
    expect(codes('nodes: { a: { action: bounded } }')).toEqual([]);
    expect(codes('nodes: { a: { action: call, timeout: 5s } }')).toEqual([]);
    expect(codes('nodes: { a: { action: call, timeout: { total: 5s } } }')).toEqual([]);
    expect(codes('config: { timeout: 1h }\nnodes: { a: { action: call } }')).toEqual([]);
    expect(
      codes('nodes: { each: { timeout: 1m, forEach: { in: [1] }, do: { nodes: { a: { action: call } } } } }'),
    ).toEqual([]);
    expect(codes('nodes: { a: { action: do, compensate: { action: call, timeout: 5s } } }')).toEqual([]);
  });
});
