/** Random workflows for the engine: what the core does with graphs is tested there, so these are small. */
import type { Chance } from './random-chance.ts';

const ACTIONS = ['work', 'work', 'work', 'pay', 'sure'] as const;

export function randomDefinition(chance: Chance, id: string): Record<string, unknown> {
  const count = 1 + chance.below(7);
  const nodes: Record<string, unknown> = {};
  const edges: unknown[] = [];
  for (let index = 0; index < count; index++) {
    const needs = Array.from({ length: index }, (_, other) => `n${other}`).filter(() => chance.oneIn(3));
    nodes[`n${index}`] = {
      action: `${chance.pick(ACTIONS)}@1`,
      needs,
      ...(needs.length > 1 && chance.oneIn(4) ? { join: 'any' } : {}),
      ...(chance.oneIn(3) ? { onError: chance.pick(['ignore', 'ignore', 'halt']) } : {}),
      ...(chance.oneIn(2)
        ? { retry: { attempts: 1 + chance.below(3), delay: chance.pick(['0s', '300ms', '5s']) } }
        : {}),
      ...(chance.oneIn(4) ? { timeout: chance.pick(['2s', '20s']) } : {}),
      with: { of: needs.map((need) => `{{ $nodes.${need}.output }}`) },
    };
    if (index > 0 && chance.oneIn(5)) {
      const on = chance.pick(['error', 'always']);
      edges.push({ from: `n${chance.below(index)}`, to: `n${index}`, on });
    }
  }
  const config = {
    mode: chance.pick(['parallel', 'parallel', 'levels', 'sequential']),
    maxParallelism: chance.pick([1, 2, 25]),
    onFailure: chance.pick(['fail-fast', 'finish-running', 'ignore']),
    ...(chance.oneIn(6) ? { timeout: '90s' } : {}),
  };
  return { id, config, nodes, edges };
}
