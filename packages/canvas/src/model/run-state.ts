/** The state of nodes in a run, as it is drawn. */

export const NODE_STATUSES = [
  'pending',
  'queued',
  'running',
  'waiting',
  'completed',
  'failed',
  'skipped',
  'cancelled',
  'unknown',
] as const;

export type DrawnStatus = (typeof NODE_STATUSES)[number];

export interface NodeRunState {
  readonly status: DrawnStatus;
  readonly attempts?: number;
  readonly durationMs?: number | null;
  readonly iterations?: {
    readonly total: number | null;
    readonly open: number;
    readonly succeeded: number;
    readonly failed: number;
  };
}

/** The part of a run document that is drawn. */
export interface DrawnRun {
  readonly nodes: Readonly<
    Record<
      string,
      {
        readonly status: DrawnStatus;
        readonly attempts?: number;
        readonly durationMs?: number | null;
        readonly rounds?: NodeRunState['iterations'];
      }
    >
  >;
}

export function statesOf({ nodes }: DrawnRun): Map<string, NodeRunState> {
  return new Map(
    Object.entries(nodes).map(([path, { status, attempts, durationMs, rounds }]) => [
      path,
      {
        status,
        ...(attempts === undefined ? {} : { attempts }),
        ...(durationMs === undefined ? {} : { durationMs }),
        ...(rounds === undefined ? {} : { iterations: rounds }),
      },
    ]),
  );
}
