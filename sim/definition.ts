/** Random workflows. What a node may say is a list of features, each with its odds: a new one is a new line. */
import type { Chance } from './chance.ts';

interface NodeInMaking {
  readonly index: number;
  readonly needs: readonly string[];
  readonly chance: Chance;
}

type Keys = Record<string, unknown>;

/** Once in so many nodes: these keys. */
const FEATURES: readonly { readonly oneIn: number; readonly keys: (node: NodeInMaking) => Keys }[] = [
  { oneIn: 4, keys: ({ needs, chance }) => (needs.length > 1 ? { join: chance.pick(['any', needs.length]) } : {}) },
  { oneIn: 3, keys: ({ chance }) => ({ onError: chance.pick(['ignore', 'ignore', 'halt']) }) },
  { oneIn: 2, keys: ({ chance }) => ({ retry: randomRetry(chance) }) },
  { oneIn: 4, keys: ({ chance }) => ({ timeout: randomTimeout(chance) }) },
  { oneIn: 6, keys: ({ chance }) => ({ priority: chance.below(10) }) },
  { oneIn: 10, keys: () => ({ when: '$input.yes' }) },
  { oneIn: 14, keys: () => ({ when: '!$input.yes' }) },
  { oneIn: 25, keys: () => ({ enabled: false }) },
  { oneIn: 30, keys: () => ({ when: '$input.yes.no.never' }) },
  { oneIn: 30, keys: () => ({ with: { of: '{{ $input.text.no.never }}' } }) },
];

const ACTIONS = ['look', 'work', 'work', 'work', 'pay', 'sure'] as const;

export function randomDefinition(chance: Chance, id: string, nodeCount: number): Keys {
  const nodes: Keys = {};
  const edges: Keys[] = [];
  for (let index = 0; index < nodeCount; index++) {
    nodes[`n${index}`] = randomNode(chance, index);
    if (index > 0 && chance.oneIn(6)) edges.push(randomEdge(chance, index));
  }
  return { id, config: randomConfig(chance), nodes, edges };
}

function randomNode(chance: Chance, index: number): Keys {
  const needs = Array.from({ length: index }, (_, other) => `n${other}`).filter(() => chance.oneIn(Math.max(3, index)));
  const node: Keys = {
    action: `${chance.pick(ACTIONS)}@1`,
    needs,
    with: { of: needs.slice(0, 2).map((need) => `{{ $nodes.${need}.output }}`) },
  };
  for (const { oneIn, keys } of FEATURES) if (chance.oneIn(oneIn)) Object.assign(node, keys({ index, needs, chance }));
  return node;
}

function randomEdge(chance: Chance, index: number): Keys {
  const ends = { from: `n${chance.below(index)}`, to: `n${index}` };
  return chance.pick<Keys>([
    { ...ends, on: 'error' },
    { ...ends, on: 'always' },
    { ...ends, on: 'error', match: { code: ['USERS', 'TIMEOUT'] } },
    { ...ends, on: 'result', match: { text: 'done' } },
    { ...ends, when: '$input.yes' },
  ]);
}

function randomRetry(chance: Chance): Keys {
  return {
    attempts: 1 + chance.below(4),
    policy: chance.pick(['fixed', 'exponential', 'exponential-jitter']),
    initial: chance.pick(['0s', '300ms', '5s']),
    ...(chance.oneIn(4) ? { system: chance.below(3) } : {}),
  };
}

function randomTimeout(chance: Chance): unknown {
  return chance.pick<unknown>([
    '2s',
    '20s',
    { attempt: '2s', total: '15s' },
    { queued: '5s' },
    { queued: '40s', total: '2m' },
  ]);
}

function randomConfig(chance: Chance): Keys {
  return {
    mode: chance.pick(['parallel', 'parallel', 'levels', 'sequential']),
    maxParallelism: chance.pick([1, 2, 25]),
    onFailure: chance.pick(['fail-fast', 'finish-running', 'ignore']),
    ...(chance.oneIn(6) ? { timeout: chance.pick(['20s', '90s', '10m']) } : {}),
    ...(chance.oneIn(8) ? { maxTotalRetries: 3 } : {}),
  };
}
