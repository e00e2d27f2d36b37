import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isScalar, parseDocument } from 'yaml';
import { readDefinitionObject } from '../../src/definition/check.ts';
import { readSource } from '../../src/definition/read.ts';
import { replayScalar, type ScalarStyle } from '../../src/definition/scalar-replay.ts';
import type { DocumentPath, SourceRange } from '../../src/problem.ts';
import { json, type read, yaml } from './reading.ts';

const PLAIN = `id: x
nodes:
  fetch:
    action: http.request@1
    needs: [a, b]
    retry: { attempts: 3 }
  "quoted key":
    when: 'it''s'
edges:
  - from: a
    to: b
empty:
`;
const AS_JSON =
  '{\n  "id": "x",\n  "nodes": { "fetch": { "action": "http.request@1", "needs": ["a", "b"] } },\n  "edges": [ { "from": "a" } ]\n}';

type Result = ReturnType<typeof read>;

function slice({ source }: Result, range: SourceRange | undefined): string | undefined {
  return range && `${range.line}:${range.column} ${source.text.slice(range.offset, range.offset + range.length)}`;
}

const valueAt = (result: Result, path: DocumentPath) => slice(result, result.source.rangeOf(path));
const keyAt = (result: Result, path: DocumentPath) => slice(result, result.source.rangeOf(path, 'key'));

describe('ranges of keys and values', () => {
  it.each([
    ['plain YAML', yaml(PLAIN)],
    ['YAML by the library', yaml(`${PLAIN}# é\u2028\n`)],
  ])('[DEF-40] %s', (_, result) => {
    expect(valueAt(result, ['id'])).toBe('1:5 x');
    expect(keyAt(result, ['nodes', 'fetch'])).toBe('3:3 fetch');
    expect(valueAt(result, ['nodes', 'fetch', 'action'])).toBe('4:13 http.request@1');
    expect(valueAt(result, ['nodes', 'fetch', 'needs', 1])).toBe('5:16 b');
    expect(keyAt(result, ['nodes', 'fetch', 'retry', 'attempts'])).toBe('6:14 attempts');
    expect(valueAt(result, ['nodes', 'fetch', 'retry'])).toBe('6:12 { attempts: 3 }');
    expect(keyAt(result, ['nodes', 'quoted key'])).toBe('7:3 "quoted key"');
    expect(valueAt(result, ['nodes', 'quoted key', 'when'])).toBe("8:11 'it''s'");
    expect(valueAt(result, ['edges', 0, 'to'])).toBe('11:9 b');
  });

  it('[DEF-40] JSON', () => {
    const result = json(AS_JSON);
    expect(valueAt(result, ['id'])).toBe('2:9 "x"');
    expect(keyAt(result, ['nodes', 'fetch', 'action'])).toBe('3:25 "action"');
    expect(valueAt(result, ['nodes', 'fetch', 'needs', 1])).toBe('3:68 "b"');
    expect(valueAt(result, ['edges', 0])).toBe('4:14 { "from": "a" }');
  });

  it('[DEF-41] a missing member has the position of its container', () => {
    const result = yaml(PLAIN);
    expect(valueAt(result, ['nodes', 'fetch', 'timeout', 'attempt'])).toBe('3:3 fetch');
    expect(valueAt(result, ['nodes', 'fetch', 'action', 'x'])).toBe('4:13 http.request@1');
    expect(valueAt(result, ['empty'])).toBe('12:1 empty');
    expect(valueAt(result, [])?.startsWith('1:1 id: x')).toBe(true);
    expect(readDefinitionObject({ id: 'x' }).source.rangeOf(['id'])).toBeUndefined();
  });

  it('[DEF-43] a path through an alias leads to the anchor', () => {
    const result = yaml('id: x\nvariables:\n  a: &a\n    deep: [1, 22]\n  b: *a\n');
    expect(valueAt(result, ['variables', 'b', 'deep', 1])).toBe('4:15 22');
    expect(keyAt(result, ['variables', 'b'])).toBe('5:3 b');
  });

  it('[DEF-44] the ends of an edge in short form have places', () => {
    const result = yaml(
      'id: x\nnodes: { a: {action: x}, b: {action: x}, c: {action: x} }\nedges:\n  - { from: a, to: b, on: error }\n  - "a -> b ->c"\n',
    );
    expect(result.definition?.edges).toEqual([
      { from: 'a', to: 'b', on: 'error' },
      { from: 'a', to: 'b' },
      { from: 'b', to: 'c' },
    ]);
    expect(valueAt(result, ['edges', 1, 'to'])).toBe('5:11 b');
    expect(valueAt(result, ['edges', 2, 'from'])).toBe('5:11 b');
    expect(valueAt(result, ['edges', 2, 'to'])).toBe('5:15 c');
    expect(valueAt(result, ['edges', 2])).toBe('5:5 "a -> b ->c"');
    expect(valueAt(result, ['edges', 0, 'on'])).toBe('4:27 error');
    expect(result.source.documentPath(['edges', 2, 'to'])).toEqual(['edges', 1]);
  });
});

describe('ranges inside strings', () => {
  /** Where the word WHAT of the value of `output` stands in the text. */
  function inside(text: string): string | undefined {
    const result = text.startsWith('{') ? json(text) : yaml(text);
    const value = String(result.definition?.output);
    return slice(result, result.source.rangeInside(['output'], value.indexOf('WHAT'), 4));
  }

  it.each([
    ['id: x\noutput: a WHAT b\n', '2:11 WHAT'],
    ['id: x\noutput: "\\u00e9\\t\\"WHAT\\""\n', '2:20 WHAT'],
    ["id: x\noutput: 'it''s WHAT'\n", '2:16 WHAT'],
    ['id: x\noutput: |\n  first\n    WHAT\n', '4:5 WHAT'],
    ['id: x\noutput: |2-\n    first\n   WHAT\n', '4:4 WHAT'],
    ['id: x\noutput: >-\n  folded\n  text\n\n  with WHAT\n', '6:8 WHAT'],
    ['id: x\noutput: plain\n  over WHAT\n', '3:8 WHAT'],
    ['id: x\noutput: "double  \n\n   over \\\n   WHAT"\n', '5:4 WHAT'],
    ['{"id": "x", "output": "\\ud83d\\ude00\\n WHAT"}', '1:39 WHAT'],
  ])('[DEF-42] %j', (text, place) => {
    expect(inside(text)).toBe(place);
  });

  it('[DEF-42] an escape is underlined whole', () => {
    const result = yaml('id: x\noutput: "a\\u00e9b"\n');
    expect(slice(result, result.source.rangeInside(['output'], 1, 1))).toBe('2:11 \\u00e9');
    expect(slice(result, result.source.rangeInside(['output'], 1, 2))).toBe('2:11 \\u00e9b');
  });

  it('[DEF-42] offsets beyond the string stay in it', () => {
    const result = yaml('id: x\noutput: abc\n');
    expect(slice(result, result.source.rangeInside(['output'], 99, 5))).toBe('2:12 ');
    expect(slice(result, result.source.rangeInside(['output'], 1, 99))).toBe('2:10 bc');
    expect(slice(result, result.source.rangeInside(['output'], -1, 1))).toBe('2:9 a');
  });

  const STYLES: Record<string, ScalarStyle> = {
    PLAIN: 'plain',
    QUOTE_SINGLE: 'single',
    QUOTE_DOUBLE: 'double',
    BLOCK_LITERAL: 'literal',
    BLOCK_FOLDED: 'folded',
  };

  it("[DEF-42] the replay of a scalar is the library's value, in every style", () => {
    const RUNS = Number(process.env.FUZZ_RUNS ?? 2_000);
    const word = fc.constantFrom(
      'a',
      'bc',
      ' ',
      '  ',
      '\n',
      '\n\n',
      '\n  ',
      '\t',
      "''",
      '\\n',
      '\\t',
      '\\x41',
      '\\"',
      '\\\n',
      'é',
      '😀',
      '#',
      '\r\n',
    );
    const head = fc.constantFrom('"', "'", '', '|', '|-', '>', '>-');
    let compared = 0;
    fc.assert(
      fc.property(head, fc.array(word, { minLength: 1, maxLength: 15 }), (style, words) => {
        const body = words.join('');
        const block = /[|>]/.test(style);
        const value = block
          ? `${style}\n  x${body.replaceAll('\n', '\n  ')}\n`
          : `${style}x${body.replaceAll('\n', '\n  ')}${style}\n`;
        const text = `k: ${value}`;
        const document = parseDocument(text, { strict: false });
        const node = document.get('k', true);
        if (document.errors.length > 0 || !isScalar(node) || typeof node.value !== 'string' || !node.range) return;
        const [start, end] = node.range;
        const replay = replayScalar(text.slice(start, end), STYLES[node.type ?? 'PLAIN'] as ScalarStyle);
        expect(replay.text).toBe(node.value);
        expect(replay.starts.length).toBe(node.value.length);
        compared++;
      }),
      { numRuns: RUNS },
    );
    expect(compared).toBeGreaterThan(RUNS / 4);
  });
});

describe('members', () => {
  it.each([
    ['plain YAML', PLAIN],
    ['YAML by the library', `${PLAIN}# \u2028\n`],
    ['JSON', AS_JSON],
  ])('[DEF-145] %s: keys and values in order', (_, text) => {
    const { source } = readSource(text);
    const fetch = source.locate(['nodes', 'fetch']);
    const members = [...(fetch?.members() ?? [])].slice(0, 2);
    expect(members.map(([key]) => key)).toEqual(['action', 'needs']);
    const [, needs] = members;
    const { keyStart, keyEnd, start, end, isShared } = needs![1];
    expect(text.slice(keyStart, keyEnd).replaceAll('"', '')).toBe('needs');
    expect(text.slice(start, end).replaceAll('"', '')).toBe('[a, b]');
    expect(isShared).toBe(false);
    expect(source.locate(['nodes', 'missing'])).toBeUndefined();
  });

  it('[DEF-145] anchors, aliases and tags are marked', () => {
    const { source } = readSource('a: &x { b: 1 }\nc: *x\nd: !!str 1\ne: 1\n');
    const isShared = (key: string) => source.locate([key])?.isShared;
    expect([isShared('a'), isShared('c'), isShared('d'), isShared('e')]).toEqual([true, true, true, false]);
  });

  it('[DEF-146] data is read as written', () => {
    expect(readSource('needs: a\nedges: [a -> b]\n').value).toEqual({ needs: 'a', edges: ['a -> b'] });
    expect(readSource('a: [').value).toBeUndefined();
  });
});
