/** A run as people and programs look at it: `nebula run --json`, `nebula executions show`, later the API. */
import type { RunError } from '../error.ts';
import { mayLoseOrder, writtenOrder } from '../node-order.ts';
import type { Json } from '../value.ts';
import { type BlobLookup, heldValue } from './held.ts';
import { runsOnce } from './scopes.ts';
import { pathOf, statusOf } from './standing.ts';
import type { BodyState, NodeState, RunState } from './state.ts';
import type { NodeStatus, RunStatus } from './status.ts';

export interface NodeDocument {
  readonly status: NodeStatus;
  readonly attempts: number;
  readonly output: Json;
  readonly error: RunError | null;
  /** ISO 8601, or null when it has not happened. */
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** Of a skipped node, why: its join failed by choice or because of a failure, its condition, or it is disabled. */
  readonly skipped?: 'choice' | 'failure' | 'when' | 'disabled';
  /** For a loop: how far it is. */
  readonly rounds?: {
    readonly total: number | null;
    readonly open: number;
    readonly succeeded: number;
    readonly failed: number;
  };
}

export interface RunDocument {
  readonly executionId: string;
  readonly workflowId: string;
  readonly version: number;
  readonly status: RunStatus;
  readonly output: Json;
  readonly error: RunError | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** Every node by path, in the order of the definition; skipped ones too. */
  readonly nodes: Readonly<Record<string, NodeDocument>>;
  /** The order of the definition, where the object loses it: ids that look like integers. `idsInOrder` reads both. */
  readonly order?: readonly string[];
}

/** Every node by path, skipped ones too. Values in blobs are looked up. */
export function documentOf(state: RunState, lookup: BlobLookup): RunDocument {
  const nodes = Object.create(null) as Record<string, NodeDocument>;
  for (const scope of state.scopes.values()) {
    for (const node of scope.nodes) nodes[pathOf(node)] = nodeDocument(node, lookup);
  }
  return {
    executionId: state.executionId,
    workflowId: state.plan.workflowId,
    version: state.plan.version,
    status: state.status,
    output: heldValue(state.output, lookup),
    error: state.error,
    startedAt: isoTime(state.startedAt),
    finishedAt: isoTime(state.finishedAt),
    nodes,
    ...orderOf(state, nodes),
  };
}

/** Paths of nodes in bodies have a slash: they do not look like integers. */
function orderOf({ root }: RunState, nodes: RunDocument['nodes']): Pick<RunDocument, 'order'> {
  const order = mayLoseOrder(nodes) ? writtenOrder(root.nodes.map(({ plan }) => plan.id)) : undefined;
  return order === undefined ? {} : { order };
}

function nodeDocument(node: NodeState, lookup: BlobLookup): NodeDocument {
  const { phase } = node;
  return {
    status: statusOf(phase),
    attempts: node.attempts,
    output: phase.status === 'completed' ? heldValue(node.output, lookup) : null,
    error: 'error' in phase ? (phase.error ?? null) : null,
    startedAt: isoTime(node.startedAt),
    finishedAt: isoTime('at' in phase && phase.status !== 'unknown' ? phase.at : null),
    ...(phase.status === 'skipped' ? { skipped: phase.why === 'dead' ? 'choice' : phase.why } : {}),
    ...(node.body === undefined || runsOnce(node.plan) ? {} : { rounds: roundsOf(node.body) }),
  };
}

function roundsOf({ total, open, succeeded, failed }: BodyState): NonNullable<NodeDocument['rounds']> {
  return { total: Number.isFinite(total) ? total : null, open, succeeded, failed };
}

let second = Number.NaN;
let upToSecond = '';

/** The moments of a run lie close together: what they have in common is not worked out again for each of them. */
function isoTime(at: number | null): string | null {
  if (at === null || at === 0) return null;
  const whole = Math.floor(at / 1_000);
  if (whole !== second) {
    upToSecond = new Date(whole * 1_000).toISOString().slice(0, -4);
    second = whole;
  }
  return `${upToSecond}${String(Math.floor(at - whole * 1_000)).padStart(3, '0')}Z`;
}
