import { describe, expect, it } from 'vitest';
import { drive } from '../drive.ts';

const flow = {
  nodes: {
    send: { with: { to: '{{ $nodes.reply.callbackUrl }}' } },
    reply: { needs: ['send'], wait: { callback: true } },
  },
};
const callbackUrl = (executionId: string, node: string, generation: number) => `${executionId}/${node}/${generation}`;
const call = (payload: unknown, generation = 0) =>
  ({ type: 'callback', node: 'reply', payload: payload as never, generation }) as const;

describe('the address of a node', () => {
  it('[RUN-263] is known before the node waits', () => {
    const run = drive(flow, { callbackUrl });
    expect(run.attempts.get('send')?.input).toEqual({ to: 'exe_test/reply/0' });
  });

  it('[RUN-263] names the iteration', () => {
    const loop = { forEach: { in: '[1, 2]' }, do: { nodes: flow.nodes } };
    const run = drive({ nodes: { each: loop } }, { callbackUrl });
    run.complete('each/0/send').step({ ...call(1), node: 'each/0/reply' });
    expect(run.attempts.get('each/1/send')?.input).toEqual({ to: 'exe_test/each/1/reply/0' });
  });

  it('[RUN-263] cannot be read without a server, nor of a node that waits for nothing', () => {
    expect(drive(flow).error?.message).toContain('only where a server runs');
    const other = { nodes: { a: {}, b: { needs: ['a'], with: { to: '{{ $nodes.a.callbackUrl }}' } } } };
    const run = drive(other, { callbackUrl });
    expect(run.complete('a').error?.message).toContain("'a' has no callbackUrl");
  });

  it('[RUN-262] is good for one call, early or not', () => {
    const early = drive(flow, { callbackUrl }).step(call('first')).step(call('second'));
    expect(early.running()).toEqual(['send']);
    expect(early.entries.filter(({ type }) => type === 'signal.kept')).toHaveLength(1);
    expect(early.complete('send').document.nodes.reply?.output).toMatchObject({ event: 'callback', payload: 'first' });
    expect(early.status).toBe('completed');
    const late = drive(flow, { callbackUrl }).complete('send').step(call('old', 7));
    expect(late.statusOf('reply')).toBe('waiting');
    expect(late.step(call('now')).status).toBe('completed');
  });

  it('[RUN-262] an address from before a replay is not valid after it', () => {
    const run = drive(flow, { callbackUrl }).complete('send').step(call(1)).step({ type: 'replay', node: 'send' });
    expect(run.attempts.get('send')?.input).toEqual({ to: 'exe_test/reply/1' });
    run.complete('send').step(call('old', 0));
    expect(run.statusOf('reply')).toBe('waiting');
    expect(run.step(call('new', 1)).document.nodes.reply?.output).toMatchObject({ payload: 'new' });
  });
});
