import { type DocumentPath, isJsonObject, type Json, type JsonObject, jsonEquals, readDefinition } from '@nebula/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { copyNodes, duplicateNodes, pasteNodes } from '../../src/language/edits/fragments.ts';
import { connect, disconnect } from '../../src/language/edits/links.ts';
import { insertNode, removeNodes, renameNode, setTriggers, setValue } from '../../src/language/edits/nodes.ts';
import type { EditResult } from '../../src/language/edits/refusal.ts';
import { applyEdits, invertEdits, TextDraft } from '../../src/language/edits/text-edit.ts';
import { wrapNodes } from '../../src/language/edits/wrap.ts';
import { commentsOf, dataOf, documents, nodePaths } from './documents.ts';

const RUNS = { numRuns: 300 };
const aDocument = fc.constantFrom(...documents);

/** The text after an edit; checks that the edit can be undone. */
function edited(text: string, result: EditResult): string {
  if ('refused' in result) throw new Error(`Refused: ${result.refused}`);
  const after = applyEdits(text, result.edits);
  expect(applyEdits(after, invertEdits(text, result.edits))).toBe(text);
  return after;
}

function refusal(result: object): string {
  return (result as { refused?: string }).refused ?? 'not refused';
}

/** Codes of the problems of a text, without those that the actions of an example cause. */
function codesOf(text: string): string[] {
  return readDefinition(text)
    .problems.map(({ code }) => code)
    .sort();
}

function withMember(value: Json, [key, ...rest]: DocumentPath, member: Json | undefined): Json {
  if (key === undefined) return member ?? null;
  if (Array.isArray(value)) return value.map((item, index) => (index === key ? withMember(item, rest, member) : item));
  const object = isJsonObject(value) ? value : {};
  if (rest.length > 0) return { ...object, [key]: withMember(object[key] ?? {}, rest, member) };
  const { [String(key)]: _, ...others } = object;
  return member === undefined ? others : { ...object, [key]: member };
}

function pathsOf(value: Json, path: DocumentPath = []): DocumentPath[] {
  if (value === null || typeof value !== 'object') return [path];
  const keys = Array.isArray(value) ? value.keys() : Object.keys(value);
  return [path, ...[...keys].flatMap((key) => pathsOf((value as never)[key] as Json, [...path, key]))];
}

const aText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom(
    '',
    'null',
    '1e3',
    '- a',
    'a: b',
    'a #b',
    '{{ $x }}',
    "it's",
    'a\nb',
    'a\n\nb\n',
    ' lead',
    'tab\there',
    '| x',
    'ü',
    '"q"',
    '~',
    '#',
  ),
);
const aScalar = fc.oneof(
  aText,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const aValue = fc
  .letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 2, depthSize: 'small' },
      aScalar,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.oneof(fc.stringMatching(/^[a-z_]{1,8}$/), aText), tie('value'), {
        maxKeys: 3,
        noNullPrototype: true,
      }),
    ) as fc.Arbitrary<Json>,
  }))
  .value.map((value) => JSON.parse(JSON.stringify(value)) as Json);

describe('a draft of a text', () => {
  test('[EDT-1] the edits of several steps lead from the original to the last text, and back', () => {
    const anEdit = fc.record({ at: fc.nat(), length: fc.nat(6), insert: fc.string({ maxLength: 6 }) });
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), fc.array(anEdit, { maxLength: 6 }), (text, steps) => {
        const draft = new TextDraft(text);
        for (const { at, length, insert } of steps) {
          const from = at % (draft.text.length + 1);
          draft.apply([{ from, to: Math.min(from + length, draft.text.length), insert }]);
        }
        const edits = draft.edits();
        expect(applyEdits(text, edits)).toBe(draft.text);
        expect(applyEdits(draft.text, invertEdits(text, edits))).toBe(text);
      }),
    );
  });
});

describe('values', () => {
  test('[EDT-2] setting any value at any path is what the same change of the data gives', () => {
    fc.assert(
      fc.property(aDocument, fc.nat(), aValue, (text, choice, value) => {
        const before = dataOf(text);
        const paths = pathsOf(before).filter((path) => path.length > 0);
        const path = paths[choice % paths.length] as DocumentPath;
        const after = edited(text, setValue(text, '', path, value));
        expect(dataOf(after)).toEqual(withMember(before, path, value));
      }),
      { numRuns: 600 },
    );
  });

  test('[EDT-2] a new key of a mapping is added, with the mappings that it needs', () => {
    fc.assert(
      fc.property(aDocument, fc.nat(), aValue, fc.stringMatching(/^[a-z_]{1,8}$/), (text, choice, value, key) => {
        const before = dataOf(text);
        const nodes = nodePaths(before);
        const node = nodes[choice % nodes.length] as string;
        const after = edited(text, setValue(text, node, ['with', `new_${key}`, 'deep'], value));
        const place = placeOf(before, node);
        expect(dataOf(after)).toEqual(withMember(before, [...place, 'with', `new_${key}`, 'deep'], value));
        for (const comment of commentsOf(text)) expect(commentsOf(after)).toContain(comment);
      }),
      RUNS,
    );
  });

  test('[EDT-3] removing a member removes it and leaves the rest; lines of others stay', () => {
    fc.assert(
      fc.property(aDocument, fc.nat(), (text, choice) => {
        const before = dataOf(text);
        const paths = pathsOf(before).filter((path) => path.length > 0 && typeof path.at(-1) === 'string');
        const path = paths[choice % paths.length] as DocumentPath;
        const after = edited(text, setValue(text, '', path, undefined));
        const expected = withMember(before, path, undefined);
        const container = path.slice(0, -1).reduce<Json>((at, key) => (at as never)[key] as Json, expected);
        const isLast = path.length > 1 && Object.keys(container as object).length === 0;
        if (isLast) return;
        expect(dataOf(after)).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  test('[EDT-4] setting a value that is there changes nothing', () => {
    for (const text of documents) {
      const value = dataOf(text) as JsonObject;
      for (const [key, member] of Object.entries(value)) {
        expect(setValue(text, '', [key], member)).toEqual({ edits: [] });
      }
    }
  });

  const cases: readonly (readonly [name: string, before: string, path: DocumentPath, value: Json, after: string])[] = [
    ['keeps double quotes', 'a: "x" # why\nb: 1\n', ['a'], 'y z', 'a: "y z" # why\nb: 1\n'],
    ['keeps single quotes', "a: 'x'\n", ['a'], "it's", "a: 'it''s'\n"],
    ['keeps plain text', 'a: x\n', ['a'], 'hello there', 'a: hello there\n'],
    ['quotes what plain text cannot be', 'a: x\n', ['a'], '{{ $b }}', 'a: "{{ $b }}"\n'],
    ['keeps a literal block', 'a: |\n  one\n  two\nb: 1\n', ['a'], 'three\nfour\n', 'a: |\n  three\n  four\nb: 1\n'],
    [
      'a comment before a list stays',
      'a: # list\n  - x # first\n  - y\n',
      ['a', 1],
      'z',
      'a: # list\n  - x # first\n  - z\n',
    ],
    ['flow stays flow', 'a: { b: 1, c: 2 }\n', ['a', 'd'], [1], 'a: { b: 1, c: 2, d: [1] }\n'],
    [
      'an empty key gets lines',
      'nodes:\nid: x\n',
      ['nodes', 'a', 'action'],
      'core.log@1',
      'nodes:\n  a: { action: core.log@1 }\nid: x\n',
    ],
    [
      'an empty key with a comment',
      'nodes: # none\n',
      ['nodes'],
      { a: { with: { b: 1 } } },
      'nodes: # none\n  a:\n    with:\n      b: 1\n',
    ],
    ['no final line break', 'a: 1', ['b'], 2, 'a: 1\nb: 2'],
    [
      'carriage returns',
      'a: 1\r\nb:\r\n  c: 1\r\n',
      ['b', 'd'],
      { e: { f: 1 } },
      'a: 1\r\nb:\r\n  c: 1\r\n  d:\r\n    e: { f: 1 }\r\n',
    ],
    [
      'a comment at the end of a block',
      'a:\n  b: 1\n  # about c\nd: 1\n',
      ['a', 'e'],
      2,
      'a:\n  b: 1\n  # about c\n  e: 2\nd: 1\n',
    ],
    ['quoted keys', '"a b": { \'c d\': 1 }\n', ['a b', 'c d'], 2, '"a b": { \'c d\': 2 }\n'],
    ['a list that is not indented', 'a:\n- x\n- y\nb: 1\n', ['a', 2], 'z', 'a:\n- x\n- y\n- z\nb: 1\n'],
    ['Unicode', 'ä: "☕ é" # ☕\n', ['ä'], '𝒳', 'ä: "𝒳" # ☕\n'],
    ['a tab before a comment', 'a: 1\t# one\nb: 2\n', ['a'], 3, 'a: 3\t# one\nb: 2\n'],
    [
      'JSON on lines',
      '{\n  "a": 1\n}\n',
      ['b'],
      { c: [1] },
      '{\n  "a": 1,\n  "b": {\n    "c": [\n      1\n    ]\n  }\n}\n',
    ],
    ['JSON on one line', '{"a":1}', ['b'], 'x', '{"a":1, "b": "x"}'],
  ];
  test.each(cases)('[EDT-5] %s', (_, before, path, value, after) => {
    expect(edited(before, setValue(before, '', path, value))).toBe(after);
  });

  test('[EDT-6] a part with an anchor, an alias or a tag is refused, and its neighbours can be edited', () => {
    const text = 'a: &x { b: 1 }\nc: *x\nd: !!str 1\ne: 1\n';
    for (const path of [['a'], ['a', 'b'], ['c'], ['c', 'b'], ['d']]) {
      expect(refusal(setValue(text, '', path, 5))).toMatch(/anchor/);
    }
    expect(edited(text, setValue(text, '', ['e'], 2))).toBe(text.replace('e: 1', 'e: 2'));
    expect(edited(text, setValue(text, '', ['f'], 3))).toBe(`${text}f: 3\n`);
  });

  test('[EDT-6] broken text is refused', () => {
    expect(refusal(setValue('a: [', '', ['a'], 1))).toMatch(/errors/);
    expect(refusal(setValue('- a', '', ['a'], 1))).toMatch(/not a workflow/);
  });

  test('[EDT-7] triggers are set as a list, and the key goes with the last one', () => {
    const text = 'id: x\n# when\ntriggers:\n  - interval: { every: 5m } # often\nnodes: {}\n';
    const two = edited(text, setTriggers(text, [{ interval: { every: '5m' } }, { webhook: { path: '/a' } }]));
    expect(two).toContain('  - interval: { every: 5m } # often\n');
    expect(dataOf(two)).toMatchObject({ triggers: [{ interval: { every: '5m' } }, { webhook: { path: '/a' } }] });
    expect(edited(text, setTriggers(text, []))).toBe('id: x\n# when\nnodes: {}\n');
  });
});

/** The place of a node in the data. */
function placeOf(value: Json, node: string): DocumentPath {
  let place: DocumentPath = [];
  let at = value;
  for (const id of node.split('/')) {
    if (place.length > 0) {
      const key = isJsonObject((at as JsonObject).do) ? 'do' : 'group';
      place = [...place, key];
      at = (at as JsonObject)[key] as Json;
    }
    place = [...place, 'nodes', id];
    at = ((at as JsonObject).nodes as JsonObject)[id] as Json;
  }
  return place;
}

function pick<T>(list: readonly T[], choice: number): T {
  return list[choice % list.length] as T;
}

describe('nodes', () => {
  test('[EDT-10] a renamed node keeps its meaning, and renaming it back gives the same text', () => {
    fc.assert(
      fc.property(aDocument, fc.nat(), (text, choice) => {
        const path = pick(nodePaths(dataOf(text)), choice);
        const id = path.slice(path.lastIndexOf('/') + 1);
        const renamed = edited(text, renameNode(text, path, 'zz_renamed'));
        expect(codesOf(renamed)).toEqual(codesOf(text));
        expect(JSON.stringify((dataOf(renamed) as JsonObject).nodes)).not.toMatch(
          new RegExp(`\\$${id}\\b(?!-)|\\$nodes\\.${id}\\b|"${id}":\\{`),
        );
        for (const [index, line] of text.split('\n').entries()) {
          if (!line.includes(id)) expect(renamed.split('\n')[index]).toBe(line);
        }
        const back = edited(renamed, renameNode(renamed, `${path.slice(0, path.length - id.length)}zz_renamed`, id));
        expect(dataOf(back)).toEqual(dataOf(text));
      }),
      RUNS,
    );
  });

  const graph = [
    'nodes:',
    '  a: { action: x@1 }',
    '  b:',
    '    needs: a',
    "    when: $a.ok && $nodes['a'].success && $nodes.a.output.x",
    "    with: { t: \"{{ $a }} and '$a' {{ $nodes.a.status }}\", u: $a, v: '{{ $a }}' }",
    '  c:',
    '    branch: { on: $a.x, cases: { one: a, two: [a, b] }, default: b }',
    '  loop:',
    '    forEach: { in: $a.items }',
    '    do:',
    '      nodes:',
    '        inner: { set: { v: "{{ $a }}" } }',
    'edges: [a -> b -> c, { from: a, to: c, on: error, when: $a == 1 }]',
    'output: "{{ $a }}"',
    '',
  ].join('\n');

  test('[EDT-10] needs, edges, targets and expressions follow the new name', () => {
    const after = edited(graph, renameNode(graph, 'a', 'fetch'));
    expect(after).toBe(
      graph
        .replace('  a: {', '  fetch: {')
        .replace('needs: a', 'needs: fetch')
        .replace(
          "$a.ok && $nodes['a'].success && $nodes.a.output",
          '$fetch.ok && $nodes.fetch.success && $nodes.fetch.output',
        )
        .replace("{{ $a }} and '$a' {{ $nodes.a.status }}", "{{ $fetch }} and '$a' {{ $nodes.fetch.status }}")
        .replace("v: '{{ $a }}'", "v: '{{ $fetch }}'")
        .replace('on: $a.x, cases: { one: a, two: [a, b] }', 'on: $fetch.x, cases: { one: fetch, two: [fetch, b] }')
        .replace('in: $a.items', 'in: $fetch.items')
        .replace('v: "{{ $a }}"', 'v: "{{ $fetch }}"')
        .replace(
          '[a -> b -> c, { from: a, to: c, on: error, when: $a == 1 }]',
          '[fetch -> b -> c, { from: fetch, to: c, on: error, when: $fetch == 1 }]',
        )
        .replace('output: "{{ $a }}"', 'output: "{{ $fetch }}"'),
    );
  });

  test('[EDT-11] an id that is no name is written with brackets, in quotes where YAML needs them', () => {
    const after = edited(graph, renameNode(graph, 'a', 'my-id'));
    expect(codesOf(after)).toEqual(codesOf(graph));
    const value = dataOf(after) as { nodes: Record<string, JsonObject>; output: string };
    expect(value.nodes.b?.when).toBe(
      "$nodes['my-id'].output.ok && $nodes['my-id'].success && $nodes['my-id'].output.x",
    );
    expect(value.nodes.b?.with).toEqual({
      t: "{{ $nodes['my-id'].output }} and '$a' {{ $nodes['my-id'].status }}",
      u: '$a',
      v: "{{ $nodes['my-id'].output }}",
    });
    expect(value.nodes.c?.branch).toMatchObject({ on: "$nodes['my-id'].output.x" });
  });

  test('[EDT-11] a folded expression keeps its lines', () => {
    const text =
      'nodes:\n  a: { set: { x: 1 } }\n  b:\n    set:\n      y: >-\n        {{ $a.x\n        + $a.x }} # no comment\n';
    const after = edited(text, renameNode(text, 'a', 'first'));
    expect(after).toBe(text.replace('  a:', '  first:').replaceAll('$a', '$first'));
  });

  test('[EDT-12] a name that would hide another one is refused', () => {
    expect(refusal(renameNode(graph, 'a', 'b'))).toMatch(/already/);
    expect(refusal(renameNode(graph, 'a', 'inner'))).toMatch(/inside or around/);
    expect(refusal(renameNode(graph, 'loop/inner', 'a'))).toMatch(/inside or around/);
    expect(refusal(renameNode(graph, 'a', 'no spaces'))).toMatch(/letters/);
    expect(refusal(renameNode(graph, 'missing', 'x'))).toMatch(/no node/);
  });

  test('[EDT-13] an inserted node is all that the definition has more', () => {
    fc.assert(
      fc.property(aDocument, fc.nat(), (text, choice) => {
        const before = dataOf(text);
        const after = pick(nodePaths(before), choice);
        const [id, parent] = [
          after.slice(after.lastIndexOf('/') + 1),
          after.slice(0, Math.max(0, after.lastIndexOf('/'))),
        ];
        const node = { action: 'core.log@1', with: { message: 'hello' } };
        const result = edited(text, insertNode(text, { graph: parent, id: 'zz_new', node, after: id }));
        const place = [...placeOf(before, after).slice(0, -1), 'zz_new'];
        expect(dataOf(result)).toEqual(withMember(before, place, { needs: [id], ...node }));
        for (const line of text.trimEnd().split(/\r?\n/)) {
          if (!line.startsWith('{')) expect(result).toContain(line.replace(/[,}\]]*$/, ''));
        }
      }),
      RUNS,
    );
  });

  test('[EDT-13] a node is inserted into an empty workflow and between two nodes', () => {
    const empty = 'id: x # a workflow\nnodes:\n';
    expect(
      edited(empty, insertNode(empty, { graph: '', id: 'a', node: { action: 'core.log@1', with: { message: 'Hi' } } })),
    ).toBe('id: x # a workflow\nnodes:\n  a:\n    action: core.log@1\n    with:\n      message: Hi\n');
    const none = 'id: x\n';
    expect(dataOf(edited(none, insertNode(none, { graph: '', id: 'a', node: { set: {} } })))).toEqual({
      id: 'x',
      nodes: { a: { set: {} } },
    });
    const two = 'nodes:\n  a:\n    set: {}\n\n  # the second\n  b:\n    needs: [a] # after a\n    set: {}\n';
    const between = edited(two, insertNode(two, { graph: '', id: 'm', node: { set: {} }, after: 'a', before: 'b' }));
    expect(dataOf(between)).toEqual({
      nodes: { a: { set: {} }, m: { needs: ['a'], set: {} }, b: { needs: ['m'], set: {} } },
    });
    expect(commentsOf(between)).toContain('# the second');
  });

  test('[EDT-14] a removed node is gone with its edges, and nothing else', () => {
    fc.assert(
      fc.property(aDocument, fc.nat(), (text, choice) => {
        const before = dataOf(text);
        const path = pick(nodePaths(before), choice);
        const after = edited(text, removeNodes(text, [path]));
        expect(dataOf(after)).toEqual(withoutNode(before, path));
      }),
      RUNS,
    );
  });

  test('[EDT-15] a duplicate has a free id and the same content; comments stay', () => {
    fc.assert(
      fc.property(aDocument, fc.nat(), (text, choice) => {
        const before = dataOf(text);
        const path = pick(nodePaths(before), choice);
        const result = duplicateNodes(text, [path]);
        const after = edited(text, result);
        const [copy = ''] = 'paths' in result ? result.paths : [];
        const at = (value: Json, node: string): Json =>
          placeOf(value, node).reduce<Json>((one, key) => (one as never)[key] as Json, value);
        expect(copy).not.toBe(path);
        const copied = JSON.stringify(at(dataOf(after), copy));
        expect(copied.length).toBeGreaterThan(0);
        expect(at(dataOf(after), path)).toEqual(at(before, path));
        expect(withMember(dataOf(after), placeOf(dataOf(after), copy), undefined)).toEqual(before);
        for (const comment of commentsOf(text)) expect(commentsOf(after)).toContain(comment);
      }),
      RUNS,
    );
  });

  test('[EDT-16] copied nodes are pasted with their comments, their edges and new ids', () => {
    const text =
      'nodes:\n  # loads\n  a: { set: { x: 1 } } # one\n  b:\n    needs: [a, gone]\n    set: { y: "{{ $a.x }}" }\nedges:\n  - { from: a, to: b, on: error }\n';
    const fragment = copyNodes(text, ['a', 'b']) ?? '';
    expect(fragment).toContain('# loads');
    const other = 'id: o\nnodes:\n  a:\n    set: {}\n';
    const result = pasteNodes(other, { graph: '', fragment });
    expect(result).toMatchObject({ paths: ['a_2', 'b'] });
    const after = edited(other, result);
    expect(commentsOf(after)).toEqual(['# loads', '# one']);
    expect(dataOf(after)).toEqual({
      id: 'o',
      nodes: { a: { set: {} }, a_2: { set: { x: 1 } }, b: { needs: ['a_2'], set: { y: '{{ $a_2.x }}' } } },
      edges: [{ from: 'a_2', to: 'b', on: 'error' }],
    });
    expect(refusal(pasteNodes(other, { graph: '', fragment: 'hello' }))).toMatch(/clipboard/);
    expect(copyNodes(text, ['a', 'missing/b'])).toBeUndefined();
  });
});

/** The data without a node, its edges and its name. */
function withoutNode(value: Json, path: string): Json {
  const place = placeOf(value, path);
  const id = String(place.at(-1));
  const graphPlace = place.slice(0, -2);
  const graph = graphPlace.reduce<Json>((at, key) => (at as never)[key] as Json, value) as JsonObject;
  const without = (targets: Json | undefined): Json | undefined => {
    if (targets === id) return undefined;
    if (!Array.isArray(targets) || !targets.includes(id)) return targets;
    const rest = targets.filter((one) => one !== id);
    return rest.length === 0 ? undefined : rest;
  };
  const nodes: Record<string, Json> = {};
  for (const [key, node] of Object.entries(graph.nodes as JsonObject)) {
    if (key === id) continue;
    let next = node as JsonObject;
    const needs = without(next.needs);
    if (!jsonEquals(needs ?? null, next.needs ?? null)) next = withMember(next, ['needs'], needs) as JsonObject;
    if (isJsonObject(next.branch)) next = { ...next, branch: withoutTargets(next.branch, without) };
    nodes[key] = next;
  }
  let result = withMember(graph, ['nodes'], nodes) as JsonObject;
  if (Array.isArray(graph.edges)) {
    const edges = graph.edges.flatMap((edge): Json[] => {
      if (isJsonObject(edge)) return edge.from === id || edge.to === id ? [] : [edge];
      const parts = String(edge)
        .split('->')
        .map((part) => part.trim());
      if (!parts.includes(id)) return [edge];
      const chains: string[][] = [[]];
      for (const part of parts) part === id ? chains.push([]) : chains.at(-1)?.push(part);
      return chains.filter((chain) => chain.length > 1).map((chain) => chain.join(' -> '));
    });
    result = withMember(result, ['edges'], edges.length === 0 ? undefined : edges) as JsonObject;
  }
  if (isJsonObject(result.config) && result.config.failureNode === id) {
    const { failureNode: _, ...config } = result.config;
    result = withMember(result, ['config'], Object.keys(config).length === 0 ? undefined : config) as JsonObject;
  }
  return withMember(value, graphPlace, result);
}

function withoutTargets(branch: JsonObject, without: (targets: Json | undefined) => Json | undefined): JsonObject {
  const cases: Json = Array.isArray(branch.cases)
    ? branch.cases.flatMap((one): Json[] => {
        const to = without((one as JsonObject).to);
        return to === undefined ? [] : [{ ...(one as JsonObject), to: typeof to === 'string' ? to : to }];
      })
    : Object.fromEntries(
        Object.entries(branch.cases as JsonObject).flatMap(([key, to]) => {
          const rest = without(to);
          return rest === undefined ? [] : [[key, rest] as const];
        }),
      );
  const otherwise = without(branch.default);
  const { default: _, ...rest } = branch;
  return { ...rest, cases, ...(otherwise !== undefined && { default: otherwise }) };
}

describe('edges', () => {
  /** Pairs of nodes of one graph. */
  function pairIn(value: Json, one: number, other: number): [string, string] | undefined {
    const paths = nodePaths(value);
    const from = pick(paths, one);
    const graph = from.slice(0, from.lastIndexOf('/') + 1);
    const others = paths.filter((path) => path !== from && path.slice(0, path.lastIndexOf('/') + 1) === graph);
    return others.length === 0 ? undefined : [from, pick(others, other)];
  }

  test('[EDT-20] a connection on success is a need, any other one an edge; the rest stays', () => {
    const kinds = fc.constantFrom('success' as const, 'error' as const, 'always' as const);
    fc.assert(
      fc.property(aDocument, fc.nat(), fc.nat(), kinds, (text, one, other, kind) => {
        const before = dataOf(text);
        const pair = pairIn(before, one, other);
        if (pair === undefined) return;
        const [from, to] = pair;
        const ids = pair.map((path) => path.slice(path.lastIndexOf('/') + 1)) as [string, string];
        const after = dataOf(edited(text, connect(text, { from, to, kind })));
        const place = placeOf(before, to);
        const at = (value: Json, path: DocumentPath): Json =>
          path.reduce<Json>((part, key) => ((part as never)[key] ?? null) as Json, value);
        if (kind === 'success') {
          const needs = at(before, [...place, 'needs']);
          const list = typeof needs === 'string' ? [needs] : ((needs ?? []) as string[]);
          const expected = list.includes(ids[0]) ? before : withMember(before, [...place, 'needs'], [...list, ids[0]]);
          expect(after).toEqual(expected);
        } else {
          const edges = [...place.slice(0, -2), 'edges'];
          const list = (at(before, edges) ?? []) as Json[];
          expect(after).toEqual(withMember(before, edges, [...list, { from: ids[0], to: ids[1], on: kind }]));
        }
      }),
      RUNS,
    );
  });

  test('[EDT-21] connecting and disconnecting gives the same meaning', () => {
    fc.assert(
      fc.property(
        aDocument,
        fc.nat(),
        fc.nat(),
        fc.constantFrom('success' as const, 'error' as const),
        (text, one, other, kind) => {
          const before = dataOf(text);
          const pair = pairIn(before, one, other);
          if (pair === undefined) return;
          const [from, to] = pair;
          const bare = edited(text, disconnect(text, { from, to }));
          const joined = edited(bare, connect(bare, { from, to, kind }));
          expect(dataOf(edited(joined, disconnect(joined, { from, to, kind })))).toEqual(dataOf(bare));
        },
      ),
      RUNS,
    );
  });

  test('[EDT-22] cases of a branch are connected by their port', () => {
    const text =
      'nodes:\n  b:\n    branch: { on: $input.x, cases: { one: c } }\n  c: { set: {} }\n  d:\n    needs: [b]\n    set: {}\n';
    const more = edited(text, connect(text, { from: 'b', to: 'd', kind: 'case', port: 'one' }));
    expect(dataOf(more)).toMatchObject({ nodes: { b: { branch: { cases: { one: ['c', 'd'] } } } } });
    const otherwise = edited(text, connect(text, { from: 'b', to: 'd', kind: 'case', port: 'default' }));
    expect(dataOf(otherwise)).toMatchObject({ nodes: { b: { branch: { default: 'd' } } } });
    const gone = edited(more, disconnect(more, { from: 'b', to: 'd', kind: 'case', port: 'one' }));
    expect(dataOf(gone)).toMatchObject({ nodes: { b: { branch: { cases: { one: ['c'] } } } } });
    const list =
      'nodes:\n  b:\n    branch:\n      cases:\n        - when: $input.x # yes\n          to: c\n  c: { set: {} }\n  d: { set: {} }\n';
    expect(dataOf(edited(list, connect(list, { from: 'b', to: 'd', kind: 'case', port: '0' })))).toMatchObject({
      nodes: { b: { branch: { cases: [{ to: ['c', 'd'] }] } } },
    });
    expect(refusal(connect(list, { from: 'b', to: 'd', kind: 'case', port: '7' }))).toMatch(/no case/);
  });

  test('[EDT-23] a chain that loses an edge becomes two', () => {
    const text =
      'nodes: { a: { set: {} }, b: { set: {} }, c: { set: {} }, d: { set: {} } }\nedges:\n  - a -> b -> c -> d # all\n';
    const after = edited(text, disconnect(text, { from: 'b', to: 'c' }));
    expect(dataOf(after)).toMatchObject({ edges: ['a -> b', 'c -> d'] });
    expect(commentsOf(after)).toEqual(['# all']);
    expect(refusal(connect(text, { from: 'a', to: 'a', kind: 'success' }))).toMatch(/itself/);
  });
});

describe('bodies', () => {
  test('[EDT-30] a wrapped node is in the body, with its comments; edges across the border lead to the new node', () => {
    fc.assert(
      fc.property(aDocument, fc.nat(), fc.constantFrom('group' as const, 'forEach' as const), (text, choice, kind) => {
        const before = dataOf(text);
        const path = pick(nodePaths(before), choice);
        const setting = kind === 'forEach' ? { in: '$input.items' } : {};
        const result = wrapNodes(text, { paths: [path], id: 'zz_wrap', kind, setting });
        if ('refused' in result) {
          expect(result.refused).toMatch(/leads to|failure node/);
          return;
        }
        const after = edited(text, result);
        const id = path.slice(path.lastIndexOf('/') + 1);
        const place = [
          ...placeOf(before, path).slice(0, -1),
          'zz_wrap',
          kind === 'group' ? 'group' : 'do',
          'nodes',
          id,
        ];
        const inner = place.reduce<Json>((at, key) => (at as never)[key] as Json, dataOf(after)) as JsonObject;
        const outer = placeOf(before, path).reduce<Json>((at, key) => (at as never)[key] as Json, before) as JsonObject;
        expect(inner).toEqual(withMember(outer, ['needs'], undefined));
        expect(nodePaths(dataOf(after)).filter((one) => !one.includes('zz_wrap')).length).toBeLessThan(
          nodePaths(before).length,
        );
        expect(commentsOf(after).sort()).toEqual(commentsOf(text).sort());
        expect(codesOf(after).filter((code) => code === 'UNKNOWN_NODE' || code === 'CYCLE')).toEqual([]);
      }),
      RUNS,
    );
  });

  test('[EDT-30] several nodes with edges between them', () => {
    const text = [
      'nodes:',
      '  a:',
      '    set: {}',
      '',
      '  # second',
      '  b:',
      '    needs: [a]',
      '    set: { x: 1 } # one',
      '',
      '  c:',
      '    needs: [b]',
      '    set: { y: "{{ $b.x }}" }',
      '',
      '  d:',
      '    needs: [c]',
      '    set: { z: "{{ $c.y }}" }',
      '',
    ].join('\n');
    const after = edited(text, wrapNodes(text, { paths: ['b', 'c'], id: 'both', kind: 'group' }));
    expect(after).toBe(
      [
        'nodes:',
        '  a:',
        '    set: {}',
        '',
        '  both:',
        '    needs: [a]',
        '    group:',
        '      nodes:',
        '        # second',
        '        b:',
        '          set: { x: 1 } # one',
        '',
        '        c:',
        '          needs: [b]',
        '          set: { y: "{{ $b.x }}" }',
        '',
        '  d:',
        '    needs: [both]',
        '    set: { z: "{{ $both.y }}" }',
        '',
      ].join('\n'),
    );
    expect(refusal(wrapNodes(text, { paths: ['b', 'd'], id: 'g', kind: 'group' }))).toMatch(/comes back/);
  });
});
