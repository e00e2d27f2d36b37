/** Random workflows. The kinds and keys of nodes are lists with odds: a new feature is a new line. */
import type { Chance } from './chance.ts';

type Keys = Record<string, unknown>;

/** The position of a node. */
interface Site {
  readonly chance: Chance;
  readonly index: number;
  readonly needs: readonly string[];
  /** The number of loops and bodies around it. */
  readonly depth: number;
  /** The loop around the node. */
  readonly loop: 'forEach' | 'other' | undefined;
  /** Nodes after it in the same graph. */
  readonly later: readonly string[];
  /** Workflows that it may run. */
  readonly others: readonly Other[];
}

/** A workflow that others run, inline or as a child execution. */
interface Other {
  readonly id: string;
  readonly mode: 'inline' | 'child';
}

interface Feature {
  readonly oneIn: number;
  readonly keys: (site: Site) => Keys;
}

const MAX_DEPTH = 3;

/** Keys that a node gets once in so many draws. */
const OF_ALL: readonly Feature[] = [
  { oneIn: 4, keys: ({ needs, chance }) => (needs.length > 1 ? { join: chance.pick(['any', needs.length]) } : {}) },
  { oneIn: 3, keys: ({ chance }) => ({ onError: chance.pick(['ignore', 'ignore', 'halt']) }) },
  { oneIn: 6, keys: ({ chance }) => ({ priority: chance.below(10) }) },
  { oneIn: 12, keys: () => ({ when: '$input.yes' }) },
  { oneIn: 20, keys: () => ({ when: '!$input.yes' }) },
  { oneIn: 30, keys: () => ({ enabled: false }) },
  { oneIn: 40, keys: () => ({ when: '$input.yes.no.never' }) },
  { oneIn: 8, keys: ({ loop }) => (loop === undefined ? {} : { break: true }) },
];

const OF_ACTIONS: readonly Feature[] = [
  {
    oneIn: 8,
    keys: ({ chance }) => ({ concurrency: { key: chance.pick(['k', 'l']), limit: 1 } }),
  },
  { oneIn: 3, keys: () => ({ rateLimit: { key: 'k', limit: 1, per: '1m' } }) },
  { oneIn: 10, keys: () => ({ cache: { version: '1' } }) },
  { oneIn: 2, keys: ({ chance }) => ({ retry: randomRetry(chance) }) },
  { oneIn: 4, keys: ({ chance }) => ({ timeout: randomTimeout(chance) }) },
  { oneIn: 3, keys: ({ chance }) => ({ compensate: randomCompensation(chance) }) },
  { oneIn: 30, keys: () => ({ with: { of: '{{ $input.text.no.never }}' } }) },
  { oneIn: 2, keys: ({ loop }) => (loop === 'forEach' ? { emit: "{{ $index > 1 ? [] : ['more'] }}" } : {}) },
];

const OF_COMPOSITES: readonly Feature[] = [
  { oneIn: 4, keys: ({ chance }) => ({ timeout: chance.pick(['3s', '3s', '20s', '2m']) }) },
  { oneIn: 3, keys: ({ chance }) => ({ retry: randomRetry(chance) }) },
];

interface Kind {
  /** How often the kind is drawn, compared with the others. */
  readonly weight: number;
  readonly keys: (site: Site) => Keys;
  readonly features: readonly Feature[];
  /** Whether the kind is allowed at this position. */
  readonly fits?: (site: Site) => boolean;
}

const KINDS: readonly Kind[] = [
  { weight: 20, keys: action, features: OF_ACTIONS },
  { weight: 6, keys: wait, features: [] },
  { weight: 1, keys: () => ({ set: { n: '{{ $vars.n + 1 }}' } }), features: [] },
  { weight: 1, keys: branch, features: [], fits: ({ later }) => later.length > 1 },
  { weight: 0.3, keys: terminate, features: [] },
  { weight: 5, keys: forEach, features: OF_COMPOSITES, fits: isShallow },
  { weight: 1, keys: whileLoop, features: OF_COMPOSITES, fits: isShallow },
  { weight: 2, keys: group, features: OF_COMPOSITES, fits: isShallow },
  { weight: 2, keys: retryUntil, features: OF_COMPOSITES, fits: isShallow },
  { weight: 2, keys: inline, features: OF_COMPOSITES, fits: (site) => otherOf(site, 'inline') !== undefined },
  { weight: 2, keys: child, features: [], fits: (site) => otherOf(site, 'child') !== undefined },
  { weight: 1, keys: dynamic, features: [] },
];

function isShallow({ depth }: Site): boolean {
  return depth < MAX_DEPTH;
}

const ACTIONS = ['look', 'work', 'work', 'work', 'pay', 'sure'] as const;

/**
 * Workflows that all workflows of a life may run: one for each way to run another, and one that runs others in turn.
 */
export function sharedDefinitions(chance: Chance): Keys[] {
  const leaf: Other[] = [
    { id: 'inside', mode: 'inline' },
    { id: 'beside', mode: 'child' },
  ];
  return [
    { id: 'inside', variables: { n: 0 }, ...graph(chance, { depth: 2, others: [], count: 2 }) },
    {
      id: 'beside',
      variables: { n: 0 },
      config: randomConfig(chance),
      ...graph(chance, { depth: 2, others: [], count: 2 }),
    },
    {
      id: 'above',
      variables: { n: 0 },
      config: randomConfig(chance),
      ...graph(chance, { depth: 2, others: leaf, count: 2 }),
    },
  ];
}

const OTHERS: readonly Other[] = [
  { id: 'inside', mode: 'inline' },
  { id: 'beside', mode: 'child' },
  { id: 'above', mode: 'child' },
];

export function randomDefinition(chance: Chance, id: string): Keys {
  const body = graph(chance, { depth: 0, others: OTHERS, count: 3 + chance.below(3) });
  const hasLast = chance.oneIn(3);
  if (hasLast) (body.nodes as Keys).last = { action: 'work@1' };
  if (chance.oneIn(5)) Object.assign(body.nodes as Keys, splitAndMerge(chance));
  const config = { ...randomConfig(chance), ...(hasLast ? { failureNode: 'last' } : {}) };
  return { id, config, variables: { n: 0 }, ...body };
}

/** The number of nodes of a definition, including bodies. */
export function countNodes({ nodes = {} }: { readonly nodes?: unknown }): number {
  return Object.values(nodes as Record<string, { do?: Keys; group?: Keys }>).reduce(
    (sum, { do: iterations, group: once }) => sum + 1 + countNodes(iterations ?? once ?? {}),
    0,
  );
}

interface GraphOptions {
  readonly depth: number;
  readonly others: readonly Other[];
  readonly count: number;
  readonly loop?: Site['loop'] | undefined;
}

function graph(chance: Chance, { depth, others, count, loop }: GraphOptions): Keys {
  const nodes: Keys = {};
  const edges: Keys[] = [];
  const ids = Array.from({ length: count }, (_, index) => `n${index}`);
  for (const [index, id] of ids.entries()) {
    const needs = ids.slice(0, index).filter(() => chance.oneIn(Math.max(2, index)));
    nodes[id] = node({ chance, index, needs, depth, loop, later: ids.slice(index + 1), others });
    if (index > 0 && chance.oneIn(4)) edges.push(randomEdge(chance, index));
  }
  return { nodes, edges };
}

function node(site: Site): Keys {
  const { chance, needs } = site;
  const kind = pickKind(site);
  const made: Keys = { needs, ...kind.keys(site) };
  for (const { oneIn, keys } of [...OF_ALL, ...kind.features]) if (chance.oneIn(oneIn)) Object.assign(made, keys(site));
  return made;
}

function pickKind(site: Site): Kind {
  const fitting = KINDS.filter(({ fits }) => fits === undefined || fits(site));
  let left = site.chance.fraction() * fitting.reduce((sum, { weight }) => sum + weight, 0);
  for (const kind of fitting) {
    left -= kind.weight;
    if (left < 0) return kind;
  }
  return KINDS[0] as Kind;
}

function action({ chance, needs }: Site): Keys {
  return {
    action: `${chance.pick(ACTIONS)}@1`,
    with: { of: needs.slice(0, 2).map((need) => `{{ $nodes.${need}.output }}`) },
  };
}

/** A schema that some signals do not fit. */
const FITTING = { type: 'object', required: ['fits'] };

function wait({ chance }: Site): Keys {
  const signal = { signal: chance.pick(['s', 't']) };
  const one = chance.pick<Keys>([
    { for: chance.pick(['2s', '15s']) },
    signal,
    { ...signal, key: chance.pick(['a', 'b']) },
    { ...signal, schema: FITTING },
    { ...signal, schema: FITTING },
    { approval: { title: 'May it?' } },
    { approval: { title: 'May it?', who: ['ann'] } },
    { callback: true },
    { any: [signal, { for: '20s' }] },
    { any: [{ approval: { title: 'Or this?' } }, signal] },
  ]);
  return { wait: { ...one, ...(chance.oneIn(4) ? { deadline: chance.pick(['5s', '1m']) } : {}) } };
}

function branch({ chance, later }: Site): Keys {
  const [first, second] = [later[0] as string, later.at(-1) as string];
  return {
    branch: chance.pick<Keys>([
      { on: '$input.yes', cases: { true: first, false: second } },
      { on: '$input.yes', cases: { true: [first, second] }, default: second },
      {
        cases: [
          { when: '$input.yes', to: first },
          { when: 'true', to: second },
        ],
        many: true,
      },
    ]),
  };
}

function terminate({ chance }: Site): Keys {
  return chance.pick<Keys>([
    { terminate: 'completed', with: { output: { early: true } } },
    { terminate: 'failed', with: { error: 'no more' } },
  ]);
}

function body({ chance, depth, others }: Site, loop: Site['loop']): Keys {
  return graph(chance, { depth: depth + 1, others, count: depth > 1 ? 1 : 1 + chance.below(2), loop });
}

function forEach(site: Site): Keys {
  const { chance, depth } = site;
  const items = chance.pick(depth === 0 ? [[1, 2], [1, 2, 3], [], [1]] : [[1, 2], [1], [1, 2]]);
  const limits = chance.oneIn(3) ? {} : { parallel: true, maxConcurrency: 2 };
  const least = items.length > 0 && chance.oneIn(3) ? { minSuccess: chance.pick([1, '50%']) } : {};
  return { forEach: { in: items, ...limits, ...least }, do: body(site, 'forEach') };
}

function whileLoop(site: Site): Keys {
  const maxIterations = site.chance.pick([1, 5, 5]);
  return { while: { condition: '$index < 2', maxIterations }, do: body(site, 'other') };
}

function group(site: Site): Keys {
  return { group: body(site, undefined) };
}

function retryUntil(site: Site): Keys {
  const delay = site.chance.pick(['0s', '1s', '4s']);
  return { retryUntil: { until: '$index > 1', attempts: 3, backoff: { delay } }, do: body(site, 'other') };
}

function otherOf({ chance, others }: Site, mode: Other['mode']): string | undefined {
  const fitting = others.filter((other) => other.mode === mode);
  return fitting.length === 0 ? undefined : chance.pick(fitting).id;
}

const INPUT = { yes: '{{ $input.yes }}', text: '{{ $input.text }}' };

function inline(site: Site): Keys {
  const isolation = site.chance.pick(['shared', 'isolated', 'transactional', 'transactional']);
  return { workflow: { id: otherOf(site, 'inline'), isolation, input: INPUT } };
}

function child(site: Site): Keys {
  const { chance } = site;
  return {
    workflow: { id: otherOf(site, 'child'), mode: 'child', input: INPUT },
    ...(chance.oneIn(3) ? { retry: { attempts: 2, delay: '1s' } } : {}),
    ...(chance.oneIn(3) ? { timeout: chance.pick(['4s', '30s']) } : {}),
    ...(chance.oneIn(4) ? { compensate: randomCompensation(chance) } : {}),
  };
}

/** Text that is an expression in the returned graph, not in the parameters of its action. */
const LATER = '\\{{ $self.output }}';

function dynamic({ chance }: Site): Keys {
  const nodes = {
    x: { action: 'work@1', ...(chance.oneIn(2) ? { compensate: { action: 'work@1', with: { undoes: LATER } } } : {}) },
    y: { action: 'look@1', needs: ['x'] },
  };
  return {
    dynamic: { action: 'plan@1', with: { graph: chance.oneIn(6) ? { nodes: 7 } : { nodes } } },
    ...(chance.oneIn(2) ? { retry: randomRetry(chance) } : {}),
  };
}

function splitAndMerge(chance: Chance): Keys {
  return {
    split: { split: { in: chance.pick([[1, 2, 3], [1, 2], []]) } },
    piece: { needs: ['split'], action: 'work@1', onError: chance.pick(['ignore', undefined]) },
    merge: { needs: ['piece'], merge: { wait: chance.pick(['all', 'any']) } },
  };
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

function randomCompensation(chance: Chance): Keys {
  return {
    action: `${chance.pick(['work', 'work', 'look', 'pay', 'sure'])}@1`,
    with: { undoes: '{{ $self.output }}' },
    ...(chance.oneIn(2) ? { retry: randomRetry(chance) } : {}),
  };
}

function randomRetry(chance: Chance): unknown {
  const rule = randomRule(chance);
  return chance.oneIn(5) ? [{ ...randomRule(chance), on: ['USERS', '/^TIME/'] }, rule] : rule;
}

function randomRule(chance: Chance): Keys {
  return {
    attempts: 1 + chance.below(4),
    policy: chance.pick(['fixed', 'exponential', 'exponential-jitter']),
    initial: chance.pick(['0s', '300ms', '5s']),
    ...(chance.oneIn(4) ? { lost: chance.below(3) } : {}),
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
    ...(chance.oneIn(4) ? { start: { key: '$input.yes', policy: 'debounce', window: '4s' } } : {}),
  };
}
