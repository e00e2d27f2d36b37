import { describe, expect, test } from 'vitest';
import { structureChanges } from '../../src/definition/structure.ts';
import { allSteps } from '../../src/steps.ts';

const changes = (before: object, after: object) =>
  allSteps(structureChanges({ id: 'w', ...before } as never, { id: 'w', ...after } as never));
const NONE = { workflow: [], nodes: [], edges: [] };

describe('the structure of two definitions', () => {
  test('order is no change, nor is a position in `order`', () => {
    const a = { action: 'x', with: { p: 1, q: 2 } };
    const b = { needs: ['a', 'c'], action: 'y' };
    const c = { action: 'z' };
    const before = { name: 'n', nodes: { a, b, c }, order: ['a', 'b', 'c'] };
    const after = {
      order: ['c', 'b', 'a'],
      nodes: { c, b: { ...b, needs: ['c', 'a'] }, a: { with: { q: 2, p: 1 }, action: 'x' } },
      name: 'n',
    };
    expect(changes(before, after)).toEqual(NONE);
    expect(changes({ ...before, version: 3 }, before)).toEqual(NONE);
  });

  test('added, removed and changed nodes, with their keys and edges', () => {
    const before = { nodes: { a: { action: 'x' }, b: { needs: ['a'], action: 'y', retry: { attempts: 2 } } } };
    const after = {
      description: 'd',
      nodes: { b: { action: 'y', with: { v: 1 } }, c: { needs: ['b'], action: 'new' } },
    };
    expect(changes(before, after)).toEqual({
      workflow: ['description'],
      nodes: [
        { change: 'removed', path: 'a' },
        { change: 'changed', path: 'b', keys: ['retry', 'with'] },
        { change: 'added', path: 'c' },
      ],
      edges: [
        { change: 'removed', from: 'a', to: 'b' },
        { change: 'added', from: 'b', to: 'c' },
      ],
    });
  });

  test('a renamed node is one change, with all that names it', () => {
    const before = {
      nodes: {
        fetch: { action: 'x', with: { url: 'u' } },
        pack: { needs: ['fetch'], action: 'y', with: { v: '{{ $nodes.fetch.output }}' } },
        last: { needs: ['pack'], action: 'z', with: { v: "{{ $nodes['pack'].output + $nodes.fetcher.output }}" } },
        fetcher: { action: 'w' },
        choose: { needs: ['fetch'], branch: { on: '{{ $nodes.fetch.output }}', cases: { a: 'pack' } } },
      },
      edges: [{ from: 'fetch', to: 'last', when: '{{ $nodes.fetch.output > 1 }}' }],
      output: '{{ $nodes.pack.output }}',
    };
    const text = JSON.stringify(before)
      .replaceAll('$nodes.fetch.', '$nodes.load.')
      .replaceAll('"fetch"', '"load"')
      .replaceAll('$nodes.pack.', '$nodes.wrap.')
      .replaceAll("$nodes['pack']", "$nodes['wrap']")
      .replaceAll('"pack"', '"wrap"');
    expect(changes(before, JSON.parse(text))).toEqual({
      workflow: [],
      nodes: [
        { change: 'renamed', path: 'load', from: 'fetch' },
        { change: 'renamed', path: 'wrap', from: 'pack' },
      ],
      edges: [],
    });
  });

  test('a node with another id and other content is another node', () => {
    const changed = changes({ nodes: { a: { action: 'x' } } }, { nodes: { b: { action: 'x', with: { v: 1 } } } });
    expect(changed.nodes).toEqual([
      { change: 'removed', path: 'a' },
      { change: 'added', path: 'b' },
    ]);
  });

  test('bodies are compared inside, and their own keys as keys of the node', () => {
    const loop = (body: object, more: object = {}) => ({
      nodes: { items: { forEach: { in: '[1]' }, do: body, ...more } },
    });
    const before = loop({ nodes: { pack: { action: 'x' }, send: { needs: ['pack'], action: 'y' } }, output: '1' });
    const after = loop({
      nodes: { wrap: { action: 'x' }, send: { needs: ['wrap'], action: 'y2' }, more: { needs: ['send'], action: 'z' } },
      output: '2',
    });
    expect(changes(before, after)).toEqual({
      workflow: [],
      nodes: [
        { change: 'changed', path: 'items', keys: ['do'] },
        { change: 'renamed', path: 'items/wrap', from: 'items/pack' },
        { change: 'changed', path: 'items/send', keys: ['action'] },
        { change: 'added', path: 'items/more' },
      ],
      edges: [{ change: 'added', from: 'items/send', to: 'items/more' }],
    });
    const inner = loop({ nodes: { pack: { action: 'x' } } });
    expect(changes(inner, loop({ nodes: { pack: { action: 'y' } } })).nodes).toEqual([
      { change: 'changed', path: 'items/pack', keys: ['action'] },
    ]);
  });

  test('targets of branches and conditions of edges are edges, conditions of cases are content', () => {
    const branch = (cases: object, more: object = {}) => ({
      nodes: { choose: { branch: { on: '$input', cases, ...more } }, a: { action: 'x' }, b: { action: 'y' } },
    });
    expect(changes(branch({ one: 'a' }), branch({ one: 'b' }))).toEqual({
      workflow: [],
      nodes: [],
      edges: [
        { change: 'removed', from: 'choose', to: 'a', label: 'one' },
        { change: 'added', from: 'choose', to: 'b', label: 'one' },
      ],
    });
    const other = changes(branch({ one: 'a' }), branch({ one: 'a', two: ['b'] }, { default: 'b' }));
    expect(other.nodes).toEqual([{ change: 'changed', path: 'choose', keys: ['branch'] }]);
    expect(other.edges.map(({ label }) => label)).toEqual(['two', 'default']);
    const listed = (when: string) => branch([{ when, to: 'a' }]);
    expect(changes(listed('$input > 1'), listed('$input > 2')).nodes).toHaveLength(1);
    const edge = (more: object) => ({ nodes: { a: {}, b: {} }, edges: [{ from: 'a', to: 'b', ...more }] });
    expect(changes(edge({}), edge({ on: 'error', when: '{{ true }}' })).edges).toEqual([
      { change: 'removed', from: 'a', to: 'b' },
      { change: 'added', from: 'a', to: 'b', label: 'on error, when {{ true }}' },
    ]);
    // `needs` and a plain edge are the same edge.
    expect(changes(edge({}), { nodes: { a: {}, b: { needs: ['a'] } } })).toEqual(NONE);
  });
});
