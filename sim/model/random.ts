/** Random small workflows and random events, for fast-check: each shrinks to fewer nodes, edges, keys and events. */
import fc from 'fast-check';
import type { Keys } from './graph.ts';
import type { WorkflowKeys } from './interpreter.ts';

const CONDITIONS = ['$input.yes', '!$input.yes', 'false', '$input.no.such'];
const MAX_DEPTH = 2;

/** A key that occurs once in so many draws; shrinks to its absence. */
function rarely<T>(oneIn: number, value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof(
    { arbitrary: fc.constant(undefined), weight: oneIn - 1 },
    { arbitrary: value as fc.Arbitrary<T | undefined>, weight: 1 },
  );
}

interface Site {
  readonly depth: number;
  readonly isInLoop: boolean;
}

const retry = fc
  .oneof(
    fc.record({ attempts: fc.integer({ min: 1, max: 3 }), lost: fc.constantFrom(0, 1, 10) }),
    fc.record({ attempts: fc.constantFrom(2, 3), on: fc.constantFrom(['A'], ['/^B/'], ['USER']) }),
    fc.constant([
      { on: ['A'], attempts: 2 },
      { on: ['SYSTEM', 'A'], attempts: 3 },
    ]),
  )
  .map((rules) => [rules].flat().map((rule) => ({ ...rule, delay: '1s', policy: 'fixed' })));

const edge = fc.oneof(
  { arbitrary: fc.constant<Keys>({}), weight: 6 },
  {
    arbitrary: fc.constantFrom<Keys>(
      { on: 'error' },
      { on: 'error', match: { code: 'A' } },
      { on: 'error', match: { kind: ['USER'], code: '/^[AC]/' } },
      { on: 'always' },
      { on: 'always' },
      { on: 'always', when: '!$input.yes' },
      { on: 'result', match: { v: 1 } },
      { when: '$input.yes' },
      { when: '!$input.yes' },
      { on: 'error', when: '!$input.yes' },
      { when: '$input.no.such' },
    ),
    weight: 6,
  },
);

const common = fc.record({
  join: rarely(3, fc.constantFrom<unknown>('any', 2, 'ended')),
  when: rarely(8, fc.constantFrom(...CONDITIONS)),
  enabled: rarely(12, fc.constant(false)),
  onError: rarely(4, fc.constantFrom('ignore', 'halt', 'branch')),
});

function kind(site: Site): fc.Arbitrary<Keys> {
  const action = fc
    .record({
      retry: rarely(3, retry),
      compensate: rarely(4, fc.constant({ action: 'do@1' })),
      break: rarely(6, fc.constant(true)),
    })
    .map(({ break: breaks, ...keys }) => ({
      action: 'do@1',
      ...keys,
      ...(site.isInLoop && breaks ? { break: true } : {}),
    }));
  const instant = fc.constantFrom<Keys>({ set: { n: 1 } }, { branchOn: '$input.yes' }, { branchOn: '$input.no.such' });
  const last = fc.constantFrom<Keys>({ terminate: 'completed' }, { terminate: 'failed' });
  const parts: fc.WeightedArbitrary<Keys>[] = [
    { arbitrary: action, weight: 14 },
    { arbitrary: instant, weight: 3 },
  ];
  if (site.depth === 0) parts.push({ arbitrary: last, weight: 1 });
  if (site.depth < MAX_DEPTH) {
    const repeated = fc.tuple(composite(site), rarely(5, retry));
    parts.push({ arbitrary: repeated.map(([keys, rules]) => defined({ ...keys, retry: rules })), weight: 3 });
  }
  return fc.oneof(...parts);
}

function composite({ depth }: Site): fc.Arbitrary<Keys> {
  const body = (loops: boolean): fc.Arbitrary<Keys> => graph({ depth: depth + 1, isInLoop: loops }, 3);
  const items = fc.constantFrom([1, 2], [1], [], [1, 2, 3]);
  return fc.oneof(
    fc
      .record({ in: items, parallel: fc.boolean(), minSuccess: rarely(4, fc.constant(1)), body: body(true) })
      .map((one) => ({
        forEach: {
          in: one.in,
          parallel: one.parallel,
          ...(one.minSuccess && one.in.length > 0 ? { minSuccess: 1 } : {}),
        },
        do: one.body,
      })),
    body(true).map((one) => ({ while: { condition: '$index < 2' }, do: one })),
    body(false).map((one) => ({ group: one })),
  );
}

/** Nodes in an order in which edges lead forward. */
function graph(site: Site, maxNodes: number): fc.Arbitrary<{ nodes: Record<string, Keys>; edges: Keys[] }> {
  const node = fc.tuple(common, kind(site));
  return fc.array(node, { minLength: 1, maxLength: maxNodes }).chain((nodes) => {
    const pairs = nodes.flatMap((_, to) => nodes.slice(0, to).map((__, from) => [from, to] as const));
    return fc
      .tuple(...pairs.map(() => rarely(2, fc.array(edge, { minLength: 1, maxLength: 2 }))))
      .map((drawn) => put(nodes, pairs, drawn));
  });
}

function put(
  nodes: readonly (readonly [Keys, Keys])[],
  pairs: readonly (readonly [number, number])[],
  drawn: readonly (readonly Keys[] | undefined)[],
): { nodes: Record<string, Keys>; edges: Keys[] } {
  const id = (index: number): string => `n${index}`;
  const edges = pairs.flatMap(([from, to], index) =>
    (drawn[index] ?? []).map((keys): Keys => ({ from: id(from), to: id(to), ...keys })),
  );
  const branches = new Set(nodes.flatMap(([, { branchOn }], index) => (branchOn === undefined ? [] : [id(index)])));
  const unique = [...new Map(edges.map((one) => [JSON.stringify(one), one])).values()].filter(
    ({ from, on = 'success', when }) => on !== 'success' || when === undefined || !branches.has(from as string),
  );
  const made = nodes.map(([keys, { branchOn, ...work }], index): [string, Keys] => {
    const targets = nodes.map((_, other) => id(other)).slice(index + 1);
    const isHandled = unique.some(({ from, on }) => from === id(index) && on === 'error');
    const isJoined = new Set(unique.filter(({ to }) => to === id(index)).map(({ from }) => from)).size > 1;
    const { onError, join, ...rest } = keys;
    return [
      id(index),
      defined({
        ...rest,
        ...(branchOn === undefined ? work : branchKeys(branchOn as string, targets)),
        onError: onError === 'branch' && !isHandled ? undefined : onError,
        join: isJoined ? join : undefined,
      }),
    ];
  });
  return { nodes: Object.fromEntries(made), edges: unique };
}

function branchKeys(on: string, targets: readonly string[]): Keys {
  const [first, second] = targets;
  if (first === undefined) return { set: { n: 2 } };
  return { branch: { on, cases: { true: first }, ...(second === undefined ? {} : { default: second }) } };
}

function defined(keys: Keys): Keys {
  return Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== undefined));
}

export const randomWorkflow: fc.Arbitrary<WorkflowKeys> = fc
  .tuple(
    graph({ depth: 0, isInLoop: false }, 6),
    fc.constantFrom('fail-fast', 'fail-fast', 'finish-running', 'ignore'),
    rarely(5, fc.constant({ action: 'do@1' })),
    rarely(4, fc.constantFrom(1, 2)),
  )
  .map(([body, onFailure, last, maxParallelism]) => ({
    config: defined({ onFailure, maxParallelism, failureNode: last && 'last' }) as Required<WorkflowKeys>['config'],
    edges: body.edges,
    nodes: { ...body.nodes, ...(last && { last }) },
  }));

export interface Happening {
  readonly kind: 'complete' | 'fail A' | 'fail B' | 'lose' | 'cancel' | 'tick';
  readonly pick: number;
}

export const happenings: fc.Arbitrary<readonly Happening[]> = fc.array(
  fc.record({
    kind: fc.oneof(
      {
        arbitrary: fc.constantFrom<Happening['kind']>('complete', 'fail A', 'fail B'),
        weight: 12,
      },
      { arbitrary: fc.constantFrom<Happening['kind']>('lose', 'tick', 'cancel'), weight: 3 },
    ),
    pick: fc.nat(20),
  }),
  { maxLength: 20 },
);
