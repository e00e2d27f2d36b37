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

export function event(
  ms: number,
  type: TimelineEventType,
  node: string | null = null,
  details: TimelineEvent['details'] = {},
): TimelineEvent {
  return { at: T0 + ms, type, node, details };
}

export function nodeDocument(status: NodeStatus, more: Partial<NodeDocument> = {}): NodeDocument {
  return { status, attempts: 1, output: null, error: null, startedAt: null, finishedAt: null, ...more };
}

export function iso(ms: number): string {
  return new Date(T0 + ms).toISOString();
}

export function runDocument(more: Partial<RunDocument> = {}): RunDocument {
  return {
    executionId: 'exe_1',
    workflowId: 'order',
    version: 1,
    status: 'completed',
    output: null,
    error: null,
    startedAt: iso(0),
    finishedAt: iso(2_300),
    nodes: {},
    ...more,
  };
}
