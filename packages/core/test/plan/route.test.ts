import { describe, expect, it } from 'vitest';
import {
  type Action,
  announcedAction,
  compilePlan,
  createCatalog,
  mayServe,
  parseRoute,
  readDefinition,
} from '../../src/index.ts';
import { HERE } from '../../src/run.ts';

const own: Action = { id: 'own', version: '1', run: () => null };
const shout = announcedAction({
  id: 'text.shout',
  version: '1.2',
  effect: 'pure',
  input: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } },
  output: { type: 'object', properties: { text: { type: 'string' } }, additionalProperties: false },
});

function routes(yaml: string, labels: readonly string[] = []): Record<string, string> {
  const { definition, problems: found } = readDefinition(yaml);
  if (definition === undefined) throw new Error(found.map(({ message }) => message).join());
  const catalog = createCatalog([own], {}, {}, labels);
  catalog.announce([shout]);
  const { plan, problems } = compilePlan(definition, catalog);
  if (plan === undefined) throw new Error(problems.map(({ message }) => message).join());
  return Object.fromEntries(plan.root.nodes.map(({ id, route }) => [id, route]));
}

describe('where nodes run', () => {
  it('[PLN-31] here, unless the action was announced or a label is missing here', () => {
    const yaml = `id: x
nodes:
  a: { action: own }
  b: { action: own, labels: gpu }
  c: { action: text.shout@1, with: { text: x } }
  d: { action: text.shout, with: { text: x }, labels: [z, a, z] }
  e: { set: { x: 1 } }`;
    expect(routes(yaml)).toEqual({
      a: HERE,
      b: '["own","1","gpu"]',
      c: '["text.shout","1.2"]',
      d: '["text.shout","1.2","a","z"]',
      e: HERE,
    });
    expect(routes(yaml, ['gpu', 'eu'])['b']).toBe(HERE);
  });

  it('[PLN-31] a compensation goes where its action is, with the labels of its node', () => {
    const { definition } = readDefinition(
      'id: x\nnodes: { a: { action: own, labels: [gpu], compensate: { action: text.shout, with: { text: x } } } }',
    );
    const catalog = createCatalog([own], {}, {}, ['gpu']);
    catalog.announce([shout]);
    const { plan } = compilePlan(definition as NonNullable<typeof definition>, catalog);
    const [node] = plan?.root.nodes ?? [];
    expect(node?.route).toBe(HERE);
    expect(parseRoute(node?.compensate?.route ?? '')).toEqual({
      action: 'text.shout',
      version: '1.2',
      labels: ['gpu'],
    });
  });

  it('[PLN-32] announced actions are checked like any action, and own actions take precedence', () => {
    const catalog = createCatalog([own]);
    expect(catalog.announce([shout, { ...announcedAction({ id: 'own', version: '1' }) }])).toBe(true);
    expect(catalog.announce([shout, { ...announcedAction({ id: 'own', version: '1' }) }])).toBe(false);
    expect(catalog.revision).toBe(1);
    expect(catalog.action('own')).toBe(own);
    const { definition } = readDefinition('id: x\nnodes: { a: { action: text.shout, with: { text: 7 } } }');
    const { problems } = compilePlan(definition as NonNullable<typeof definition>, catalog);
    expect(problems.map(({ path }) => path.join('.'))).toEqual(['nodes.a.with.text']);
    expect(() => shout.run({} as never, null)).toThrow(/remote workers/);
    expect(catalog.announce([])).toBe(true);
    expect(catalog.action('text.shout')).toBeUndefined();
  });

  it('[PLN-33] a worker serves a route with its action, no older, and all of its labels', () => {
    const route = '["text.shout","1.2","a","z"]';
    const labels = new Set(['z', 'a', 'more']);
    expect(mayServe(route, new Set(['text.shout@1.2']), labels)).toBe(true);
    expect(mayServe(route, new Set(['x@1', 'text.shout@1.3']), labels)).toBe(true);
    expect(mayServe(route, new Set(['text.shout@1.1']), labels)).toBe(false);
    expect(mayServe(route, new Set(['text.shout@2.2']), labels)).toBe(false);
    expect(mayServe(route, new Set(['text.shout@1.2']), new Set(['a']))).toBe(false);
    expect(mayServe(HERE, new Set(['text.shout@1.2']), labels)).toBe(false);
  });
});
