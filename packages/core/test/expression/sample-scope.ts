/** A scope with a bit of everything, and short ways to evaluate in it. */
import { expect } from 'vitest';
import {
  type Budget,
  createBudget,
  type Expression,
  ExpressionError,
  type LoopView,
  type NodeView,
  parseExpression,
  type Scope,
} from '../../src/expression/index.ts';
import { EXPRESSION_LIMITS, type ExpressionLimits } from '../../src/limits.ts';
import type { Json } from '../../src/value.ts';

function nodeView(output: Json, facts: Partial<NodeView> = {}): NodeView {
  return { output, status: 'completed', success: true, error: null, attempts: 1, input: { asked: true }, ...facts };
}

const nodes = new Map<string, NodeView>([
  ['fetch', nodeView({ body: { total: 12, items: [{ price: 1 }, { price: 2 }] } }, { attempts: 2 })],
  ['my-id', nodeView('hyphen')],
  ['skipped', nodeView(null, { status: 'skipped', success: false, attempts: 0 })],
  [
    'broken',
    nodeView(null, {
      status: 'failed',
      success: false,
      error: { code: 'CARD_DECLINED', kind: 'USER', message: 'declined' },
    }),
  ],
]);

const outermost: LoopView = { item: 'outermost', index: 9, items: [] };
const outer: LoopView = { item: 'outer', index: 4, items: ['outer'], parent: outermost };
const innermost: LoopView = {
  item: { sku: 'x' },
  index: 1,
  items: [0, { sku: 'x' }],
  previous: 'before',
  parent: outer,
};

export const sampleScope: Scope = {
  input: {
    order: {
      id: 7,
      email: 'ada@example.com',
      items: [
        { sku: 'a', price: 3, n: 1 },
        { sku: 'b', price: 4, n: 2 },
      ],
    },
    name: 'Ada',
    nothing: null,
    zero: 0,
    'odd-name': 1,
  },
  trigger: { kind: 'manual' },
  vars: { region: 'eu' },
  execution: { id: 'exec_1', startedAt: '2024-05-01T10:00:00.000Z', attempt: 1 },
  workflow: { id: 'orders', version: 3 },
  node: (id) => nodes.get(id),
  nodeIds: () => nodes.keys(),
  loop: innermost,
  self: nodeView({ id: 'ch_1' }),
  draw: () => new Uint8Array(32).map((_, index) => index * 7),
};

/** A scope with this input and nothing else. */
export function scopeOf(input: Json): Scope {
  return { input, trigger: null, vars: {}, execution: {}, workflow: {}, node: () => undefined };
}

export function limited(limits: Partial<ExpressionLimits>): ExpressionLimits {
  return { ...EXPRESSION_LIMITS, ...limits };
}

export function evaluate(source: string, scope: Scope = sampleScope, budget: Budget = createBudget()): Json {
  const expression: Expression = parseExpression(source, budget.limits);
  return expression.evaluate(scope, budget);
}

/** The error that parsing or evaluating throws; anything but an ExpressionError fails the test. */
export function failure(run: string | (() => unknown), scope: Scope = sampleScope): ExpressionError {
  try {
    if (typeof run === 'string') evaluate(run, scope);
    else run();
  } catch (error) {
    expect(error).toBeInstanceOf(ExpressionError);
    return error as ExpressionError;
  }
  throw new Error(`no error: ${run}`);
}

export function parseFailure(source: string): ExpressionError {
  return failure(() => parseExpression(source));
}

/** Processor time of this process: what other processes do in the meantime does not count. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
