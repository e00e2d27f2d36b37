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
