/** Readings of LANGUAGE.md where it leaves room: how the model and the core understand it, one small scenario each. */
import { describe, expect, it } from 'vitest';
import { follow } from './compare.ts';
import type { WorkflowKeys } from './interpreter.ts';

const act = (keys: object = {}): Record<string, unknown> => ({ action: 'do@1', ...keys });
const undo = { compensate: { action: 'do@1' } };

interface Reading {
  readonly definition: WorkflowKeys;
  readonly events: readonly string[];
  /** The state after the events. */
  readonly stand: string;
}

function expectStand({ definition, events, stand }: Reading): void {
  const { difference, stand: got } = follow(definition, events);
  expect(difference).toBe(undefined);
  expect(got).toBe(stand);
}

describe('a reading of the language', () => {
  it('[SIM-25] a join over all fails as soon as one edge is dead by failure', () => {
    expectStand({
      definition: {
        nodes: { a: act(), b: act(), h: act(), c: act({ needs: ['a', 'b'] }) },
        edges: [{ from: 'a', to: 'h', on: 'error' }],
      },
      events: ['fail A a'],
      stand: 'running; running b h; a failed, b running, h running, c skipped',
    });
  });

  it('[SIM-25] a join over any waits until every edge is decided', () => {
    expectStand({
      definition: {
        nodes: { a: act(), b: act(), h: act(), c: act({ needs: ['a', 'b'], join: 'any' }) },
        edges: [{ from: 'a', to: 'h', on: 'error' }],
      },
      events: ['fail A a', 'complete b'],
      stand: 'running; running c h; a failed, b completed, h running, c running',
    });
  });

  it('[SIM-26] a condition that fails on an edge fails the target, although another edge from the same source is taken', () => {
    expectStand({
      definition: {
        config: { onFailure: 'ignore' },
        nodes: { a: act(), b: act(), c: act() },
        edges: [
          { from: 'a', to: 'b', when: '$input.no.such' },
          { from: 'a', to: 'b', on: 'always' },
        ],
      },
      events: ['complete a'],
      stand: 'running; running c; a completed, b failed, c running',
    });
  });

  it('[SIM-27] a cleanup that runs when the run begins to end continues, and is not compensated', () => {
    expectStand({
      definition: {
        nodes: { a: { set: { n: 1 } }, clean: act(undo), b: act() },
        edges: [{ from: 'a', to: 'clean', on: 'always' }],
      },
      events: ['fail A b', 'complete clean'],
      stand: 'failed; running nothing; a completed, clean completed, b failed',
    });
  });

  it('[SIM-27] a target of an always edge that had completed before is compensated', () => {
    expectStand({
      definition: {
        nodes: { a: { set: { n: 1 } }, clean: act(undo), b: act() },
        edges: [{ from: 'a', to: 'clean', on: 'always' }],
      },
      events: ['complete clean', 'fail A b'],
      stand: 'compensating; running ~undo/clean; a completed, clean completed, b failed',
    });
  });

  it('[SIM-28] a finally begins when everything that was told to stop has ended', () => {
    expectStand({
      definition: {
        nodes: { a: act(), b: act(), c: act(), clean: act() },
        edges: [{ from: 'a', to: 'clean', on: 'always' }],
      },
      events: ['fail A b', 'break off a'],
      stand: 'running; running c; a cancelled, b failed, c running, clean unrun',
    });
  });

  it('[SIM-29] in a finally nothing begins to which only ordinary work leads', () => {
    expectStand({
      definition: {
        nodes: { a: act(), b: act(), clean: act(), after: act() },
        edges: [
          { from: 'a', to: 'clean', on: 'always' },
          { from: 'clean', to: 'after', on: 'error' },
          { from: 'a', to: 'after' },
        ],
      },
      events: ['cancel', 'complete a', 'break off b', 'complete clean'],
      stand: 'cancelled; running nothing; a completed, b cancelled, clean completed, after unrun',
    });
  });

  it('[SIM-30] a failing cleanup fails a run that was terminated as completed', () => {
    expectStand({
      definition: {
        nodes: { a: act(), b: act(), end: { terminate: 'completed', needs: ['b'] }, clean: act() },
        edges: [{ from: 'a', to: 'clean', on: 'always' }],
      },
      events: ['complete b', 'break off a', 'fail A clean'],
      stand: 'failed; running nothing; a cancelled, b completed, end completed, clean failed',
    });
  });

  it('[SIM-30] also inside a body that ends with the run', () => {
    expectStand({
      definition: {
        nodes: {
          g: { group: { nodes: { a: act(), clean: act() }, edges: [{ from: 'a', to: 'clean', on: 'always' }] } },
          b: act(),
          end: { terminate: 'completed', needs: ['b'] },
        },
      },
      events: ['complete b', 'break off g/a', 'fail A g/clean'],
      stand: 'failed; running nothing; g cancelled, b completed, end completed',
    });
  });

  it('[SIM-30] onFailure: ignore ignores a failing cleanup, too', () => {
    expectStand({
      definition: {
        config: { onFailure: 'ignore' },
        nodes: { a: act(), b: act(), end: { terminate: 'completed', needs: ['b'] }, clean: act() },
        edges: [{ from: 'a', to: 'clean', on: 'always' }],
      },
      events: ['complete b', 'break off a', 'fail A clean'],
      stand: 'completed; running nothing; a cancelled, b completed, end completed, clean failed',
    });
  });

  it('[SIM-31] terminate: completed does not undo a failure that finish-running has deferred', () => {
    expectStand({
      definition: {
        config: { onFailure: 'finish-running' },
        nodes: { a: act(), b: act(), end: { terminate: 'completed', needs: ['b'] } },
      },
      events: ['fail A a', 'complete b'],
      stand: 'failed; running nothing; a failed, b completed, end completed',
    });
  });

  it('[SIM-32] break ends its own iteration early; other iterations that run are waited for', () => {
    expectStand({
      definition: {
        nodes: {
          l: {
            forEach: { in: [1, 2], parallel: true },
            do: { nodes: { a: act({ break: true }), b: act({ needs: ['a'] }) } },
          },
        },
      },
      events: ['complete l/0/a', 'complete l/1/a'],
      stand: 'completed; running nothing; l completed',
    });
  });

  it('[SIM-33] a loop with minSuccess fails with a code of its own', () => {
    expectStand({
      definition: {
        nodes: { l: { forEach: { in: [1], minSuccess: 1 }, do: { nodes: { a: act() } } }, h: act(), other: act() },
        edges: [
          { from: 'l', to: 'h', on: 'error', match: { code: 'TOO_FEW_SUCCEEDED' } },
          { from: 'l', to: 'other', on: 'error', match: { code: 'A' } },
        ],
      },
      events: ['fail A l/0/a'],
      stand: 'running; running h; l failed, h running, other skipped',
    });
  });

  it('[SIM-33] any other loop fails with the error of its iteration', () => {
    expectStand({
      definition: {
        nodes: { l: { forEach: { in: [1] }, do: { nodes: { a: act() } } }, h: act() },
        edges: [{ from: 'l', to: 'h', on: 'error', match: { code: 'A' } }],
      },
      events: ['fail A l/0/a'],
      stand: 'running; running h; l failed, h running',
    });
  });

  it('[SIM-34] a failure whose handlers are all skipped is unhandled from that moment', () => {
    expectStand({
      definition: {
        nodes: { a: act(), b: act(), h: act({ when: 'false' }) },
        edges: [{ from: 'a', to: 'h', on: 'error' }],
      },
      events: ['fail A a', 'break off b'],
      stand: 'failed; running nothing; a failed, b cancelled, h unrun',
    });
  });

  it('[SIM-34] and with onError: ignore the edges that it had decided stay decided', () => {
    expectStand({
      definition: {
        nodes: {
          a: act({ onError: 'ignore' }),
          b: act(),
          h: act({ needs: ['b'], when: 'false' }),
          c: act({ needs: ['a'] }),
        },
        edges: [{ from: 'a', to: 'h', on: 'error' }],
      },
      events: ['fail A a', 'complete b'],
      stand: 'completed; running nothing; a failed, b completed, h skipped, c skipped',
    });
  });

  it('[SIM-35] the failure node runs after a failure, and not after a cancel', () => {
    expectStand({
      definition: { config: { failureNode: 'last' }, nodes: { a: act(), last: act() } },
      events: ['cancel', 'break off a'],
      stand: 'cancelled; running nothing; a cancelled',
    });
  });

  it('[SIM-36] a loop that is cut off ends when nothing in any of its iterations runs', () => {
    expectStand({
      definition: {
        config: { maxParallelism: 1 },
        nodes: { l: { forEach: { in: [1, 2], parallel: true }, do: { nodes: { a: act() } } } },
      },
      events: ['cancel'],
      stand: 'running; running l/0/a; l running',
    });
  });

  it('[SIM-37] with onFailure: ignore an iteration in which something failed is no success for minSuccess', () => {
    expectStand({
      definition: {
        config: { onFailure: 'ignore' },
        nodes: {
          l: {
            forEach: { in: [1], minSuccess: 1 },
            do: { nodes: { a: act(), b: act() } },
          },
          h: act(),
        },
        edges: [{ from: 'l', to: 'h', on: 'error' }],
      },
      events: ['fail A l/0/a', 'complete l/0/b'],
      stand: 'running; running h; l failed, h running',
    });
  });

  it('[SIM-38] a composite node is not tried again when something inside cannot be undone', () => {
    expectStand({
      definition: {
        nodes: {
          g: { group: { nodes: { a: act(undo), b: act({ needs: ['a'] }) } }, retry: { attempts: 2 } },
          h: act(),
        },
        edges: [{ from: 'g', to: 'h', on: 'error', match: { code: 'A' } }],
      },
      events: ['complete g/a', 'fail A g/b', 'fail B g/~undo/g:a'],
      stand: 'running; running h; g failed, h running',
    });
  });

  it('[SIM-60] the first cancel of a run that is ending by a failure skips nothing, the second one skips its finally', () => {
    const definition = {
      nodes: { a: act(), b: act(), tidy: act() },
      edges: [{ from: 'b', to: 'tidy', on: 'always' }],
    };
    const once = { definition, events: ['fail A a', 'cancel', 'break off b', 'complete tidy'] };
    expectStand({ ...once, stand: 'failed; running nothing; a failed, b cancelled, tidy completed' });
    const twice = { definition, events: ['fail A a', 'cancel', 'break off b', 'cancel', 'break off tidy'] };
    expectStand({ ...twice, stand: 'failed; running nothing; a failed, b cancelled, tidy cancelled' });
  });

  it('[SIM-61] nodes after a terminate run if the terminate is a cleanup', () => {
    expectStand({
      definition: {
        nodes: { a: act(), end: { terminate: 'failed' }, more: act({ needs: ['end'] }) },
        edges: [{ from: 'a', to: 'end', on: 'always' }],
      },
      events: ['complete a'],
      stand: 'running; running more; a completed, end completed, more running',
    });
  });

  it('[SIM-66] with finish-running independent nodes finish first, then the finally begins, and it is not compensated', () => {
    const definition = {
      config: { onFailure: 'finish-running' as const },
      nodes: {
        a: act(),
        b: act(),
        c: act({ needs: ['b'] }),
        clean: act({ compensate: { action: 'do@1' } }),
        all: act({ needs: ['b'] }),
        any: act({ needs: ['b'], join: 'any' }),
        ended: act({ needs: ['b'], join: 'ended' }),
      },
      edges: ['clean', 'all', 'any', 'ended'].map((to) => ({ from: 'a', to, on: 'always' })),
    };
    const held = 'clean pending, all pending, any';
    expectStand({
      definition,
      events: ['fail A a'],
      stand: `running; running b; a failed, b running, c pending, ${held} pending, ended pending`,
    });
    expectStand({
      definition,
      events: ['fail A a', 'complete b'],
      stand: `running; running any c; a failed, b completed, c running, ${held} running, ended pending`,
    });
    const events = ['fail A a', 'complete b', 'complete any', 'complete c'];
    const nodes = 'a failed, b completed, c completed';
    const rest = 'all running, any completed, ended running';
    expectStand({ definition, events, stand: `running; running all clean ended; ${nodes}, clean running, ${rest}` });
    expectStand({
      definition,
      events: [...events, 'complete clean', 'complete all', 'complete ended'],
      stand: `failed; running nothing; ${nodes}, clean completed, all completed, any completed, ended completed`,
    });
  });

  it('[SIM-66] also where the failure seemed handled when it happened', () => {
    expectStand({
      definition: {
        config: { onFailure: 'finish-running' },
        nodes: { a: act(), b: act(), off: act({ needs: ['a'] }), mend: act({ needs: ['off'] }), clean: act() },
        edges: [
          { from: 'a', to: 'mend', on: 'error' },
          { from: 'a', to: 'clean', on: 'always' },
        ],
      },
      events: ['fail A a'],
      stand: 'running; running b; a failed, b running, off skipped, mend skipped, clean pending',
    });
  });

  it('[SIM-67] a break in a finally ends the loop, too', () => {
    expectStand({
      definition: {
        nodes: {
          l: {
            forEach: { in: [1, 2], minSuccess: 1 },
            do: {
              nodes: { a: act(), stop: act({ break: true }) },
              edges: [{ from: 'a', to: 'stop', on: 'always' }],
            },
          },
        },
      },
      events: ['fail A l/0/a', 'complete l/0/stop'],
      stand: 'failed; running nothing; l failed',
    });
  });
});
