/** Made-up runs for the views. */
import type {
  NodeDocument,
  NodeStatus,
  RunDocument,
  TimelineEvent,
  TimelineEventType,
  WorkflowDefinition,
} from '@nebula/core';

export const T0 = Date.parse('2026-01-02T03:04:05.000Z');

export const ORDER = {
  id: 'order',
  name: 'Order fulfilment',
  nodes: {
    fetch: { action: 'http.request@1' },
    validate: { action: 'core.assert@1', needs: ['fetch'] },
    charge: { action: 'payment.charge@2.1', needs: ['validate'], when: '$nodes.fetch.output.total > 0' },
    reserve: { action: 'warehouse.reserve@1', needs: ['validate'] },
    tell: { action: 'email.send@1' },
    ship: { action: 'warehouse.ship@1', needs: ['charge', 'reserve'] },
    invoice: { action: 'core.noop@1', needs: ['ship'] },
  },
  edges: [{ from: 'charge', to: 'tell', on: 'error', match: { code: 'CARD_DECLINED' } }],
} as const satisfies WorkflowDefinition;

export function event<T extends TimelineEventType>(
  ms: number,
  type: T,
  node: string | null = null,
  details: object = {},
): TimelineEvent & { readonly type: T } {
  return { at: T0 + ms, type, node, details } as unknown as TimelineEvent & { readonly type: T };
}

export function nodeDocument(status: NodeStatus, more: Partial<NodeDocument> = {}): NodeDocument {
  const moments = { queuedAt: null, startedAt: null, finishedAt: null, durationMs: null };
  return { status, attempts: 1, input: null, output: null, error: null, ...moments, ...more };
}

export function iso(ms: number): string {
  return new Date(T0 + ms).toISOString();
}

type Members<T> = T extends unknown ? keyof T : never;

export function runDocument(more: { readonly [K in Members<RunDocument>]?: unknown } = {}): RunDocument {
  return {
    executionId: 'exe_1',
    workflowId: 'order',
    version: 1,
    status: 'completed',
    trigger: null,
    parent: null,
    input: null,
    variables: {},
    output: null,
    error: null,
    startedAt: iso(0),
    updatedAt: iso(2_300),
    finishedAt: iso(2_300),
    durationMs: 2_300,
    seq: 1,
    nodes: {},
    scopes: {},
    ...more,
  } as RunDocument;
}
