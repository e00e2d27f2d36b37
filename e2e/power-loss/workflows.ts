/** The workflows of the recorded engine, their actions, and the results that every run must have in the end. */
import type { Action, ActionContext, Json } from '@nebula/core';

/** Values above this are blobs. */
export const INLINE_LIMIT_BYTES = 1_500;

const PADDING = 3_000;

const RETRY = { policy: 'fixed', delay: '1ms', attempts: 20, lost: 100 };
const INPUT = { type: 'object', properties: { n: { type: 'integer' } } };

const step = (needs: readonly string[], value: string, more: object = {}): Json =>
  ({ needs, action: 'power.step@1', with: { value }, ...more }) as unknown as Json;

export const WORKFLOWS: Readonly<Record<string, Json>> = {
  /** A chain with a `once` node at its end. */
  chain: {
    id: 'chain',
    input: INPUT,
    config: { retry: RETRY },
    nodes: {
      a: step([], 'a{{ $input.n }}'),
      b: step(['a'], '{{ $a.value }}b'),
      c: { needs: ['b'], action: 'power.once@1', with: { value: '{{ $b.value }}c' } },
    },
    output: '{{ $c.value }}',
  },
  /** Large values, a cached output, a permit that all runs share. */
  bulk: {
    id: 'bulk',
    input: INPUT,
    config: { retry: RETRY },
    nodes: {
      large: step([], 'large{{ $input.n }}', { with: { value: 'large{{ $input.n }}', padding: PADDING } }),
      shared: step([], 'shared', { with: { value: 'shared{{ $input.n % 3 }}' }, cache: { version: '1', ttl: '30d' } }),
      alone: step(['large', 'shared'], '{{ $large.value }} {{ $large.padding.length }}', {
        concurrency: { key: 'alone', limit: 1 },
      }),
      after: step(['alone'], '{{ $alone.value }} {{ $shared.value }}'),
    },
    output: '{{ $after.value }}',
  },
  /** Waits for a signal, then runs a child. */
  waiting: {
    id: 'waiting',
    input: INPUT,
    config: { retry: RETRY },
    nodes: {
      before: step([], 'before{{ $input.n }}'),
      go: { needs: ['before'], wait: { signal: 'go', key: '{{ $input.n }}' } },
      child: { needs: ['go'], workflow: { id: 'chain', mode: 'child', input: { n: '{{ $input.n }}' } } },
    },
    output: '{{ $go.payload }} {{ $child }}',
  },
};

export type WorkflowName = 'chain' | 'bulk' | 'waiting';

export function expectedOutput(name: WorkflowName, n: number): string {
  const chain = `a${n}bc`;
  switch (name) {
    case 'chain':
      return chain;
    case 'bulk':
      return `large${n} ${PADDING} shared${n % 3}`;
    case 'waiting':
      return `go${n} ${chain}`;
    default:
      return name satisfies never;
  }
}

export function executionIdOf(name: WorkflowName, n: number): string {
  return `${name}-${n}`;
}

/** The outside world: it counts effects by idempotency key. */
export interface World {
  readonly has: (key: string) => boolean;
  readonly add: (key: string) => void;
}

export function actionsOn(world: World): Action[] {
  const outputOf = (input: Json): Json => {
    const { value, padding = 0 } = input as unknown as { readonly value: string; readonly padding?: number };
    return padding === 0 ? { value } : { value, padding: '·'.repeat(padding) };
  };
  const run = async (ctx: ActionContext, input: Json): Promise<Json> => {
    world.add(ctx.idempotencyKey);
    return outputOf(input);
  };
  return [
    { id: 'power.step', version: '1', effect: 'idempotent', run },
    {
      id: 'power.once',
      version: '1',
      effect: 'once',
      run,
      verify: (ctx, input) =>
        world.has(ctx.idempotencyKey) ? { happened: true, output: outputOf(input) } : { happened: false },
    },
  ];
}
