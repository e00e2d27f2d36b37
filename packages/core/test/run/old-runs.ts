/**
 * Runs that version 88ae9c6 wrote, before always edges were a finally. `../golden/before-finally.golden.json` has their
 * journals, up to the point that each had reached.
 */
import type { Short } from './drive.ts';

const always = (from: string, to: string) => ({ from, to, on: 'always' }) as const;

export const oldRuns = {
  /** The `always` edge handled the failure, and the run completed. */
  ended: { nodes: { a: {}, tidy: {} }, edges: [always('a', 'tidy')] },
  /** `a` has failed and the run is ending; `slow` has been asked to stop. */
  stopping: {
    nodes: { a: {}, slow: {}, tidy: {}, after: { needs: ['a'] }, never: { needs: ['slow'] } },
    edges: [always('slow', 'tidy')],
  },
  /** The failure was handled by an `always` edge, whose target runs. */
  handled: { nodes: { a: {}, tidy: {}, then: { needs: ['tidy'] } }, edges: [always('a', 'tidy')] },
  /** An iteration is ending: `x` has failed, `y` has been asked to stop. */
  round: {
    nodes: {
      each: {
        forEach: { in: [1] },
        do: { nodes: { x: {}, y: {}, tidy: {} }, edges: [always('y', 'tidy')] },
      },
    },
  },
  /** `mend` handled a failure, and `go`, which needs both, is not decided yet. */
  joined: {
    nodes: { test: {}, mend: {}, go: { needs: ['test', 'mend'] } },
    edges: [{ from: 'test', to: 'mend', on: 'error' }],
  },
} satisfies Record<string, Short>;

const branching = { onError: 'branch' };
const readsPrevious = { needs: ['previous'], with: { n: '{{ $previous.n }}' } };
const twice = (from: string) => ({ needs: [from], join: 2 });

/**
 * Runs of definitions that version 88ae9c6 accepted and that are refused today. `../golden/accepted-1.golden.json` has
 * their journals; `dynamic` returned `acceptedGraph`.
 */
export const acceptedRuns = {
  /** `a` failed; its `always` edge handled the failure, and `tidy` runs. */
  branch: { nodes: { a: branching, tidy: {} }, edges: [always('a', 'tidy')] },
  /** `after` runs with the output of the node `previous`. */
  previous: { nodes: { previous: {}, after: readsPrevious }, output: '{{ $previous }}' },
  /** Both edges of `a` are taken, and `b` runs. */
  join: { nodes: { a: {}, b: twice('a') }, edges: [always('a', 'b')] },
  /** `a` failed and waits for its retry. */
  policy: { config: { retry: { policy: 'ours', attempts: 2 } }, nodes: { a: {} } },
  dynamic: { nodes: { plan: { dynamic: { action: 'do@1' } } } },
} satisfies Record<string, Short>;

const action = 'do@1';
export const acceptedGraph = {
  nodes: {
    a: { action, ...branching },
    tidy: { action },
    previous: { action },
    // Errors of the kind SYSTEM had a budget of their own.
    after: { action, ...readsPrevious, retry: { attempts: 2, system: 3 } },
    twice: { action, ...twice('previous') },
  },
  edges: [always('a', 'tidy'), always('previous', 'twice')],
};

/** A failure node that ended in the turn of the failure left the run `compensating` (`../golden/stuck-1.golden.json`). */
export const stuckRun = {
  config: { failureNode: 'f' },
  variables: { failed: false },
  nodes: { a: {}, f: { set: { failed: true } } },
} satisfies Short;
