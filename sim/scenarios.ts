/**
 * Small lives with a known end. An action follows its parameter `plan`: one outcome for each call; after the last one
 * it succeeds.
 */
import type { Json } from '@nebula/core';
import type { AttemptContext, Course } from './external-world.ts';

export interface Scenario {
  readonly name: string;
  readonly definition: Record<string, unknown>;
  readonly input?: Json;
  /** Workflows that the scenario runs. */
  readonly others?: readonly Record<string, unknown>[];
  /** A person cancels the run once this node, or a child execution for it, runs. */
  readonly cancelWhenRunning?: string;
  /** A person pauses the run while this node runs, and resumes it once it has ended. */
  readonly pauseWhenRunning?: string;
  /** The number of remote workers; none by default. */
  readonly workers?: number;
  /** A person retries the run once it has failed. */
  readonly retryWhenFailed?: boolean;
}

const WORK_MS = 50;

export function plannedCourse(_context: AttemptContext, input: Json, calls: number): Course {
  const { plan = [] } = (input ?? {}) as { readonly plan?: readonly Course['ending'][] };
  return { beforeMs: WORK_MS, afterMs: WORK_MS, ending: plan[calls - 1] ?? 'ok', ignoresAbort: false };
}

/** Large outputs, however often the action is called. */
const LARGE = Array<'large'>(9).fill('large');
const HANGS = Array<'hang'>(9).fill('hang');
const FAILS = Array<'user'>(9).fill('user');

const UNDO = { action: 'work@1', with: { undoes: '{{ $self.output }}' } };

const node = (action: string, plan: readonly Course['ending'][] = [], more: object = {}): object => ({
  action: `${action}@1`,
  with: { plan },
  ...more,
});
const chain = (nodes: Record<string, object>): Record<string, object> => {
  const ids = Object.keys(nodes);
  return Object.fromEntries(ids.map((id, index) => [id, { needs: index === 0 ? [] : [ids[index - 1]], ...nodes[id] }]));
};

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'retry',
    definition: {
      nodes: chain({
        a: node('work', ['user', 'system'], { retry: { attempts: 5, delay: '300ms' } }),
        b: node('look'),
      }),
    },
  },
  {
    name: 'an unknown outcome that a person settles',
    definition: { nodes: chain({ a: node('work'), b: node('pay', ['unknown but done']), c: node('work') }) },
  },
  {
    name: 'an unknown outcome that verify settles',
    definition: { nodes: chain({ a: node('sure', ['unknown']), b: node('work') }) },
  },
  {
    name: 'cancel',
    definition: { nodes: chain({ a: node('work'), b: node('work', HANGS), c: node('work') }) },
    cancelWhenRunning: 'b',
  },
  {
    name: 'a remote worker',
    definition: {
      nodes: chain({
        a: node('far', ['user'], { retry: { attempts: 3, delay: '300ms' } }),
        b: node('work', LARGE, { labels: ['gpu'] }),
      }),
    },
    workers: 1,
  },
  {
    name: 'large values',
    definition: {
      nodes: chain({
        a: node('work', LARGE),
        b: { action: 'work@1', with: { plan: LARGE, of: '{{ $nodes.a.output }}' } },
      }),
      output: { all: '{{ $nodes.b.output }}' },
    },
    input: { text: 'y'.repeat(900) },
  },
  {
    name: 'fan out and join',
    definition: {
      nodes: {
        a: node('work'),
        b: node('work', [], { needs: ['a'] }),
        c: node('look', [], { needs: ['a'] }),
        d: node('pay', [], { needs: ['a'] }),
        e: node('work', [], { needs: ['b', 'c', 'd'] }),
      },
    },
  },
  {
    name: 'a time limit',
    definition: {
      nodes: chain({
        a: node('work', ['hang'], { timeout: '2s', retry: { attempts: 5, delay: '0s' } }),
        b: node('work'),
      }),
    },
  },
  {
    name: 'loops in loops in loops',
    definition: {
      nodes: {
        a: {
          forEach: { in: [1, 2] },
          do: {
            nodes: {
              b: {
                forEach: { in: [1, 2], parallel: true },
                do: { nodes: { c: { forEach: { in: [1, 2] }, do: { nodes: { d: node('work') } } } } },
              },
            },
          },
        },
      },
    },
  },
  {
    name: 'what was done in a loop is undone after a failure, and retried',
    definition: {
      nodes: chain({
        a: { forEach: { in: [1, 2], parallel: true }, do: { nodes: { b: node('work', [], { compensate: UNDO }) } } },
        c: node('work', [], { compensate: { ...UNDO, action: 'sure@1' } }),
        d: node('work', FAILS),
      }),
    },
    retryWhenFailed: true,
  },
  {
    name: 'a transaction that fails',
    definition: {
      nodes: chain({
        a: { workflow: { id: 'inner', isolation: 'transactional' }, onError: 'ignore' },
        b: node('work'),
      }),
    },
    others: [
      {
        id: 'inner',
        nodes: chain({ x: node('work', [], { compensate: UNDO }), y: node('work', FAILS) }),
      },
    ],
  },
  {
    name: 'an execution for a node',
    definition: { nodes: chain({ a: { workflow: { id: 'inner', mode: 'child' } }, b: node('work') }) },
    others: [{ id: 'inner', nodes: { x: node('work', LARGE) }, output: '{{ $x }}' }],
  },
  {
    name: 'an execution for a node, cancelled with its parent',
    definition: {
      nodes: chain({ a: node('work', [], { compensate: UNDO }), b: { workflow: { id: 'inner', mode: 'child' } } }),
    },
    others: [{ id: 'inner', nodes: { x: node('work', HANGS) } }],
    cancelWhenRunning: 'b',
  },
  {
    name: 'a signal, an approval, a time',
    definition: {
      nodes: chain({
        a: { wait: { signal: 's', key: 'k' } },
        b: { wait: { approval: { title: 'May it?' } } },
        c: { wait: { for: '2s' } },
        d: node('work'),
      }),
    },
  },
  {
    name: 'a pause',
    definition: {
      nodes: chain({
        a: node('work', ['user', 'user'], { retry: { attempts: 5, delay: '700ms' } }),
        b: { forEach: { in: [1, 2] }, do: { nodes: { c: node('look') } } },
      }),
    },
    pauseWhenRunning: 'a',
  },
  {
    name: 'a graph that an action returned',
    definition: {
      nodes: chain({
        a: {
          dynamic: {
            action: 'plan@1',
            with: { graph: { nodes: { x: node('work'), y: { ...node('look'), needs: ['x'] } } } },
          },
        },
        b: node('work'),
      }),
    },
  },
  {
    name: 'split and merge',
    definition: {
      nodes: {
        a: { split: { in: [1, 2] } },
        b: node('work', [], { needs: ['a'] }),
        c: { merge: { wait: 'all' }, needs: ['b'] },
      },
    },
  },
  {
    name: 'failure, and retry from there',
    definition: { nodes: chain({ a: node('work'), b: node('pay', ['user']), c: node('work') }) },
    retryWhenFailed: true,
  },
];
