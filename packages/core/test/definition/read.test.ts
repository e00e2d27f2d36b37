import { describe, expect, it } from 'vitest';
import { readDefinitionObject } from '../../src/definition/check.ts';
import { YAML_LIMITS } from '../../src/definition/yaml/convert.ts';
import { readYaml } from '../../src/definition/yaml/library.ts';
import { DEFINITION_LIMITS } from '../../src/limits.ts';
import { codes, cpuMs, find, json, positions, read, underlined, yaml } from './reading.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const HELLO = 'id: hello\nnodes:\n  a: { action: core.log }\n';

describe('bytes and text', () => {
  it('[DEF-10] bytes, text and text with a byte order mark are the same', () => {
    const expected = { id: 'hello', nodes: { a: { action: 'core.log' } } };
    for (const source of [HELLO, bytes(HELLO), `\uFEFF${HELLO}`, bytes(`\uFEFF${HELLO}`)]) {
      expect(yaml(source)).toMatchObject({ definition: expected, problems: [] });
    }
    expect(json(bytes('\uFEFF{"id":"x","nodes":{"a":{"action":"b"}}}')).problems).toEqual([]);
  });

  it('[DEF-11] wrong bytes are found where they are', () => {
    const source = new Uint8Array([...bytes('id: é\uFFFD\nname: '), 0xc3, 0x28]);
    expect(positions(yaml(source))).toEqual(['NOT_UTF8 2:7']);
    expect(find(yaml(source), 'NOT_UTF8').message).toBe('the file is not UTF-8: byte 0xC3 at position 16');
  });

  it('[DEF-11] UTF-16 is named', () => {
    const utf16 = new Uint8Array([
      0xff,
      0xfe,
      ...new Uint8Array(new Uint16Array([...'id: x'].map((c) => c.charCodeAt(0))).buffer),
    ]);
    expect(find(yaml(utf16), 'NOT_UTF8')).toMatchObject({
      message: 'the file is UTF-16LE, not UTF-8',
      hint: 'save the file with the encoding UTF-8',
    });
  });

  it('[DEF-12] a NUL character is a binary file', () => {
    expect(positions(yaml('id: a\nname: \0x'))).toEqual(['BINARY_FILE 2:7']);
    expect(codes(json('{"id":"\0"}'))).toEqual(['BINARY_FILE']);
  });

  it('[DEF-13] a source beyond the limit is not parsed', () => {
    const huge = new Uint8Array(DEFINITION_LIMITS.maxSourceBytes + 1);
    const result = yaml(huge);
    expect(find(result, 'TOO_LARGE').message).toBe('the source size is 64 MiB; the limit is 64 MiB');
    expect(codes(result)).toEqual(['TOO_LARGE']);
  });

  it.each(['', ' \n\t\n', '# only a comment\n', '---\n', '---\n# x\n...\n', '\uFEFF'])(
    '[DEF-14] %j is empty',
    (text) => {
      expect(codes(yaml(text))).toEqual(['EMPTY_FILE']);
      expect(codes(read(text))).toEqual(['EMPTY_FILE']);
    },
  );

  it('[DEF-14] an empty JSON file is empty too', () => {
    expect(codes(json(' \n'))).toEqual(['EMPTY_FILE']);
  });

  it('[DEF-38] the file name tells the format, else the text', () => {
    expect(codes(json(HELLO))).toEqual(['JSON_SYNTAX']);
    expect(codes(read(HELLO, { format: 'json' }))).toEqual(['JSON_SYNTAX']);
    expect(codes(read(HELLO))).toEqual([]);
    expect(codes(read('{"id":"x","nodes":{"a":{"action":"b"}}}'))).toEqual([]);
    expect(codes(read('{id: x, nodes: {a: {action: b}}}'))).toEqual([]);
    expect(codes(read('{"id":"x","nodes":{"a":{"action":"b"}}}', { file: 'x.yml' }))).toEqual([]);
    expect(codes(read('{"id":"x",}', { file: 'X.JSON' }))).toEqual(['JSON_SYNTAX']);
  });
});

describe('YAML mistakes', () => {
  it.each([
    ['id: x\nnodes:\n  a:\n\t  action: b\n', '4:1', 'a tab is used for indentation'],
    [
      'id: x\nnodes:\n  a:\n    action: b\n   with: {}\n',
      '5:4',
      'this line is indented differently from its neighbours',
    ],
    ['id: x\nname: "open\nnodes: {}\n', '2:7', 'the quoted text is not closed'],
    ['id: x\nname: a: b\n', '2:7', "there is a second ': ' in this line"],
    ['id: x\nnodes\n', '2:1', "this line is not 'key: value'"],
    ['id: x\nnodes: { a: {action: b}\n', '2:23', "the mapping that begins with '{' is not closed"],
    ['id: x\ntags: [a, b\n', '2:11', "the list that begins with '[' is not closed"],
    ['id: x\nname: "\\q"\n', '2:8', 'this is not an escape sequence'],
    ['id: x\nname: @home\n', '2:7', 'a string must not begin with this character'],
    ['id: x\ntags: [a b, , c]\n', '2:13', "there is one ',' too many"],
    ['id: x\ntags: ["a" "b"]\n', '2:12', 'a comma is missing between two items'],
  ])('[DEF-15] %j', (text, place, message) => {
    const result = yaml(text);
    const problem = find(result, 'YAML_SYNTAX');
    expect(`${problem.range?.line}:${problem.range?.column}`).toBe(place);
    expect(problem.message).toBe(message);
    expect(problem.hint).toBeTruthy();
    expect(result.definition).toBeUndefined();
  });

  it('[DEF-140] a tab as indentation is one error; mistakes before it are others', () => {
    const tabs = 'nodes:\n\ta: { action: b }\n\tc:\n\t\taction: b\n\t\tneeds: [a]\n  d: { action: b }\noutput: 1\n';
    const { problems } = yaml(`id: x\n${tabs}`);
    expect(problems.map(({ code, message, range }) => [code, message, range?.line])).toEqual([
      ['YAML_SYNTAX', 'a tab is used for indentation', 3],
    ]);
    expect(yaml(`name: a: b\n${tabs}`).problems.map(({ range }) => range?.line)).toEqual([1, 3]);
  });

  it('[DEF-15] a template without quotes is recognised', () => {
    expect(find(yaml('id: x\noutput: {{ $input.a }}/b\n'), 'YAML_SYNTAX').hint).toContain('"{{ … }}"');
    const result = yaml('id: x\noutput: {{ $input.a }}\n');
    expect(find(result, 'NON_STRING_KEY').hint).toContain('"{{ … }}"');
    expect(underlined(result, find(result, 'NON_STRING_KEY'))).toBe('{{ $input.a }}');
  });

  it('[DEF-15] many mistakes are shown once per line, and only the first', () => {
    const problems = yaml('[]'.repeat(20_000)).problems;
    expect(problems.length).toBe(1);
    expect(yaml('"a" "b"\n'.repeat(1_000)).problems.length).toBeLessThanOrEqual(YAML_LIMITS.maxSyntaxErrors);
  });

  it('[DEF-17] a second document is refused', () => {
    expect(positions(yaml('id: x\n---\nid: y\n'))).toEqual(['SEVERAL_DOCUMENTS 2:1']);
    expect(codes(yaml('---\nid: x\n---\n'.repeat(20_000)))).toContain('SEVERAL_DOCUMENTS');
    expect(codes(yaml('---\nid: x\n...\n'))).toEqual(['NO_NODES']);
  });

  it.each([
    ['- a\n- b\n', 'a list'],
    ['just text\n', 'just a string'],
    ['42\n', 'just a number'],
    ['~\n', 'nothing'],
  ])('[DEF-18] %j is not a definition', (text, found) => {
    expect(find(yaml(text), 'NOT_A_MAPPING').message).toBe(`a definition must be a mapping, not ${found}`);
  });

  it('[DEF-18] nor is a JSON list', () => {
    expect(codes(json('[1]'))).toEqual(['NOT_A_MAPPING']);
  });
});

describe('limits', () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

  it('[DEF-19] the limit of nesting is the same in every format', () => {
    const most = DEFINITION_LIMITS.maxNestingDepth - 1;
    for (const file of ['a.json', 'a.yaml']) {
      expect(codes(read(`{"id": "x", "output": ${nested(most)}}`, { file }))).toEqual(['NO_NODES']);
      expect(codes(read(`{"id": "x", "output": ${nested(most + 1)}}`, { file }))).toEqual(['TOO_DEEP']);
      expect(codes(read(`{"id": "x", "tags": &a [], "output": ${nested(most)}}`, { file: 'a.yaml' }))).toEqual([
        'NO_NODES',
      ]);
      expect(codes(read(`{"id": "x", "tags": &a [], "output": ${nested(most + 1)}}`, { file: 'a.yaml' }))).toEqual([
        'TOO_DEEP',
      ]);
    }
    let value: unknown = [];
    for (let depth = 1; depth < most; depth++) value = [value];
    expect(codes(readDefinitionObject({ id: 'x', output: value }))).toEqual(['NO_NODES']);
    expect(codes(readDefinitionObject({ id: 'x', output: [value] }))).toEqual(['TOO_DEEP']);
  });

  it.each(['[', '{"a":', '[{"a":', '- ', '? ', 'a: ', '{a: [', '&x [', ': '])(
    '[DEF-19] 100,000 times %j ends at once',
    (piece) => {
      const text = piece.repeat(100_000);
      const started = cpuMs();
      expect(codes(yaml(text))).toContain('TOO_DEEP');
      const problems = codes(json(text));
      expect(problems.length).toBe(1);
      expect(cpuMs() - started).toBeLessThan(1_000);
    },
  );

  it('[DEF-19] deeply indented YAML is refused as well', () => {
    const lines = Array.from({ length: 2_000 }, (_, depth) => `${' '.repeat(depth)}a:`);
    expect(codes(yaml(lines.join('\n')))).toEqual(['TOO_DEEP']);
  });

  it('[DEF-37] YAML that needs the library has a limit of tokens', () => {
    const text = `id: x\ntags: &a [b]\nvariables:\n${'  k: [1,2,3,4]\n'.repeat(400)}`;
    const { problems } = readYaml(text, undefined, { ...YAML_LIMITS, maxLexemes: 1_000 });
    expect(problems.sorted().map(({ code }) => code)).toEqual(['TOO_LARGE']);
  });
});

describe('aliases, tags, keys', () => {
  it('[DEF-20] an alias stands for the value of its anchor', () => {
    const result = yaml('id: x\nvariables: { a: &shared { b: [1] }, c: *shared }\noutput: *shared\n');
    expect(result.definition).toMatchObject({ variables: { c: { b: [1] } }, output: { b: [1] } });
  });

  it('[DEF-20] a billion laughs are refused', () => {
    const levels = Array.from({ length: 30 }, (_, n) => `  l${n + 1}: &l${n + 1} [*l${n}, *l${n}, *l${n}]`);
    expect(codes(yaml(`id: x\nvariables:\n  l0: &l0 [ha]\n${levels.join('\n')}\n`))).toEqual(['TOO_MANY_ALIASES']);
    const many = Array.from({ length: 101 }, () => '*a').join(', ');
    expect(codes(yaml(`id: x\nvariables: { a: &a 1, b: [${many}] }\n`))).toEqual(['TOO_MANY_ALIASES']);
    const most = Array.from({ length: 100 }, () => '*a').join(', ');
    expect(codes(yaml(`id: x\nvariables: { a: &a 1, b: [${most}] }\n`))).toEqual(['NO_NODES']);
  });

  it('[DEF-20] aliases cannot be stacked beyond the nesting limit', () => {
    const deep = `${'['.repeat(40)}X${']'.repeat(40)}`;
    const text = `id: x\nvariables:\n  a: &a ${deep.replace('X', '1')}\n  b: &b ${deep.replace('X', '*a')}\n`;
    expect(codes(yaml(text))).toEqual(['TOO_DEEP']);
  });

  it('[DEF-21] unknown and circular aliases are refused', () => {
    const result = yaml('id: x\nvariables: { files: *.txt, a: &abcd 1, b: *abdc, c: &c [*c] }\n');
    expect(positions(result)).toEqual(['UNKNOWN_ALIAS 2:21', 'UNKNOWN_ALIAS 2:43', 'UNKNOWN_ALIAS 2:57']);
    expect(result.problems.map(({ hint }) => hint)).toEqual([
      'if it is a string, put it in quotes: "*.txt"',
      'did you mean *abcd?',
      'if it is a string, put it in quotes: "*c"',
    ]);
  });

  it.each([
    '!!js/function "x"',
    '!custom x',
    '!!binary aGk=',
    '!!set {a}',
    '!!timestamp 2001-01-01',
    '!!int abc',
    '!!map x',
    '!custom {a: 1}',
    '!x [1]',
  ])('[DEF-22] the tag in %s is refused', (value) => {
    expect(codes(yaml(`id: x\noutput: ${value}\n`))).toContain('UNKNOWN_TAG');
  });

  it("[DEF-22] the JSON types' tags are allowed", () => {
    const text = 'id: !!str x\noutput: [!!int "1", !!float 1.5, !!bool true, !!null ~, !!seq [], !!map {}, !!str 5]\n';
    expect(yaml(text).definition?.output).toEqual([1, 1.5, true, null, [], {}, '5']);
  });

  it('[DEF-23] merge keys are refused', () => {
    expect(positions(yaml('id: x\nvariables: &v { a: 1 }\nconfig:\n  <<: *v\n'))).toEqual(['MERGE_KEY 4:3']);
    expect(codes(yaml('id: x\nvariables: { "<<": 1 }\n'))).toEqual(['NO_NODES']);
  });

  it('[DEF-24] duplicate keys are reported with both positions', () => {
    const expected = "the key 'a' is given twice; first in line 3, column 3";
    const inYaml = yaml('id: x\nvariables:\n  a: 1\n  b: 2\n  a: 3\n');
    expect(positions(inYaml)).toContain('DUPLICATE_KEY 5:3');
    expect(find(inYaml, 'DUPLICATE_KEY')).toMatchObject({ message: expected, path: ['variables', 'a'] });
    const inJson = json('{"id": "x",\n"variables": {\n  "a": 1, "b": [{"a": 1}, {"a": 2}],\n  "\\u0061": 3}}');
    expect(positions(inJson)).toContain('DUPLICATE_KEY 4:3');
    expect(find(inJson, 'DUPLICATE_KEY')).toMatchObject({ message: expected, path: ['variables', 'a'] });
  });

  it('[DEF-24] a key given twice does not hide the other problems', () => {
    const text = 'id: x\nnodes:\n  a: { action: b }\n  a: { action: b, needs: [nobody], neds: [] }\n';
    expect(codes(yaml(text)).toSorted()).toEqual(['DUPLICATE_KEY', 'UNKNOWN_KEY', 'UNKNOWN_NODE']);
  });

  it('[DEF-24] forty thousand keys are checked in linear time', { timeout: 60_000 }, () => {
    const keys = Array.from({ length: 40_000 }, (_, n) => `  k${n}: 1`).join('\n');
    const started = cpuMs();
    expect(codes(yaml(`id: x\nvariables:\n${keys}\n  k7: 2\n`))).toContain('DUPLICATE_KEY');
    expect(cpuMs() - started).toBeLessThan(10_000);
  });

  it('[DEF-25] numbers and booleans are keys by their text, with a warning', () => {
    const result = yaml('id: x\nvariables: { 200: ok, true: yes, 0x1F: hex, 1.50: f }\n');
    expect(result.definition?.variables).toEqual({ '200': 'ok', true: 'yes', '0x1F': 'hex', '1.50': 'f' });
    expect(codes(result).filter((code) => code === 'NON_STRING_KEY')).toHaveLength(4);
    expect(result.problems.every(({ severity }) => severity === 'warning')).toBe(true);
  });

  it('[DEF-25] cases of a branch are named by values, whose text is compared', () => {
    const cases = (keys: string): string[] =>
      codes(yaml(`id: x\nnodes: { a: { action: do }, r: { branch: { on: $input.n, cases: { ${keys} } } } }\n`));
    expect(cases('200: a, true: a, -1.5: a')).toEqual([]);
    expect(cases('1.50: a')).toEqual(['NON_STRING_KEY']);
  });

  it.each(['? [a]\n: 1', '? {a: 1}\n: 1', ': 1', '~: 1', 'null: 1'])(
    '[DEF-25] %j has no key that could be text',
    (text) => {
      expect(find(yaml(`id: x\n${text}\n`), 'NON_STRING_KEY').severity).toBe('error');
    },
  );

  it('[DEF-29] __proto__ is refused wherever it stands', () => {
    const inYaml = yaml(
      'id: x\n__proto__: 1\nvariables: { a: { "__proto__": { polluted: true } } }\nnodes: { __proto__: { action: a } }\n',
    );
    expect(positions(inYaml)).toEqual(['RESERVED_KEY 2:1', 'RESERVED_KEY 3:19', 'RESERVED_KEY 4:10']);
    const inJson = json('{"id":"x","variables":{"__proto__":{"polluted":1}}}');
    expect(codes(inJson)).toContain('RESERVED_KEY');
    expect(codes(readDefinitionObject(JSON.parse('{"id":"x","__proto__":{}}')))).toContain('RESERVED_KEY');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('[DEF-29] names of the prototype are ordinary ids and unknown keys', () => {
    const text =
      'id: constructor\nnodes:\n  toString: { action: a }\n  valueOf: { action: a, needs: [toString, constructor] }\n  constructor: { action: a }\n';
    expect(codes(yaml(text))).toEqual([]);
    expect(
      codes(yaml('id: x\nconstructor: 1\nnodes: { a: { action: b, hasOwnProperty: 1, needs: [valueOf] } }\n')),
    ).toEqual(['UNKNOWN_KEY', 'UNKNOWN_KEY', 'UNKNOWN_NODE']);
  });
});

describe('scalars', () => {
  it('[DEF-26] numbers are finite', () => {
    expect(
      positions(yaml('id: x\nvariables: { a: .inf, b: -.INF, c: .nan, d: 1e999 }\nnodes: {a: {action: b}}\n')),
    ).toEqual(['NOT_FINITE 2:17', 'NOT_FINITE 2:26', 'NOT_FINITE 2:36', 'NOT_FINITE 2:45']);
    expect(find(json('{"id":"x","output":1e999}'), 'NOT_FINITE').message).toBe('1e999 is not a finite number');
    expect(codes(yaml('id: x\nversion: .inf\nnodes: {a: {action: b}}\n'))).toEqual(['NOT_FINITE']);
  });

  it('[DEF-27] integers that lose digits are named', () => {
    const result = yaml(
      'id: x\noutput: [9007199254740993, 9007199254740991, 1e300, 9007199254740994, 123456789012345678901234567890]\n',
    );
    expect(result.problems.map(({ message }) => message)).toEqual([
      'the workflow has no nodes, so it does nothing',
      '9007199254740993 is too large to be exact: it becomes 9007199254740992',
      '123456789012345678901234567890 is too large to be exact: it becomes 123456789012345677877719597056',
    ]);
    expect(find(json('{"id":"x","output":9007199254740993}'), 'UNSAFE_INTEGER').severity).toBe('warning');
  });

  it('[DEF-28] dates and words stay text', () => {
    const text = 'id: x\noutput: [2001-12-14, 2001-12-14T21:59:43Z, yes, no, on, off, Y, 12:30:45, 1_000]\n';
    expect(yaml(text).definition?.output).toEqual([
      '2001-12-14',
      '2001-12-14T21:59:43Z',
      'yes',
      'no',
      'on',
      'off',
      'Y',
      '12:30:45',
      '1_000',
    ]);
    expect(yaml(`%YAML 1.1\n---\n${text}`).definition?.output).toEqual(yaml(text).definition?.output);
  });

  it('[DEF-30] half a surrogate pair is refused', () => {
    expect(positions(json('{"id":"x","output":["\\ud83d\\ude00", "\\ud83d", {"\\ude00": 1}]}'))).toContain(
      'INVALID_UNICODE 1:37',
    );
    expect(codes(yaml('id: x\noutput: "\\ud83d"\n'))).toContain('INVALID_UNICODE');
    expect(codes(readDefinitionObject({ id: 'x', output: '\ud83d' }))).toContain('INVALID_UNICODE');
  });

  it('[DEF-31] a future version is reported with the hint to upgrade, and no other problem', () => {
    expect(positions(yaml('nebula: 2\nid: x\nnew-key: 1\nnodes: 5\n'))).toEqual(['FUTURE_VERSION 1:9']);
    expect(find(json('{"nebula":3}'), 'FUTURE_VERSION').hint).toBe('upgrade Nebula to run it');
    expect(codes(yaml('nebula: 1\nid: x\nnodes: {a: {action: b}}\n'))).toEqual([]);
    expect(codes(yaml('nebula: 0\nid: x\nnodes: {a: {action: b}}\n'))).toEqual(['OUT_OF_RANGE']);
    expect(codes(yaml('nebula: "2"\nid: x\nnodes: {a: {action: b}}\n'))).toEqual(['WRONG_TYPE']);
  });
});

describe('objects', () => {
  it('[DEF-34] YAML, JSON and objects give the same definition', () => {
    const text =
      'id: x\nconfig: { mode: levels }\nnodes:\n  a: { action: b, with: { t: "{{ 1 }}" } }\n  c: { action: d@1, needs: a }\nedges: [a -> c]\noutput: [1, null]\n';
    const fromYaml = yaml(text).definition;
    const object = {
      id: 'x',
      config: { mode: 'levels' },
      nodes: { a: { action: 'b', with: { t: '{{ 1 }}' } }, c: { action: 'd@1', needs: 'a' } },
      edges: ['a -> c'],
      output: [1, null],
    };
    expect(fromYaml).toBeDefined();
    expect(json(JSON.stringify(object)).definition).toStrictEqual(fromYaml);
    expect(readDefinitionObject(object).definition).toStrictEqual(fromYaml);
    expect(yaml(`# needs the library\n--- !!map\n${text}`).definition).toStrictEqual(fromYaml);
  });

  it('[DEF-35] a value that is not JSON data is refused', () => {
    const cyclic: Record<string, unknown> = { id: 'x' };
    cyclic.output = cyclic;
    expect(codes(readDefinitionObject(cyclic))).toEqual(['TOO_DEEP']);
    const result = readDefinitionObject({
      id: 'x',
      output: [() => 1, new Date(0), Symbol('s'), 1n, new Map(), undefined],
    });
    expect(result.problems.map(({ message }) => message.replace(' is not JSON data', ''))).toEqual([
      'a function',
      'a Date object',
      'a symbol',
      'a bigint',
      'a Map object',
      'undefined',
    ]);
    expect(codes(readDefinitionObject({ id: 'x', output: Number.NaN }))).toContain('NOT_FINITE');
    expect(codes(readDefinitionObject(undefined))).toEqual(['NOT_JSON']);
    expect(codes(readDefinitionObject('x'))).toEqual(['NOT_A_MAPPING']);
  });

  it('[DEF-35] shared parts that would explode are refused', { timeout: 60_000 }, () => {
    let value: unknown = ['ha'];
    for (let level = 0; level < 40; level++) value = [value, value];
    expect(codes(readDefinitionObject({ id: 'x', output: value }))).toEqual(['TOO_LARGE']);
  });

  it('[DEF-35] undefined members are absent, and the object is copied', () => {
    const object = { id: 'x', name: undefined, nodes: { a: { action: 'b', needs: undefined } } };
    const { definition } = readDefinitionObject(object);
    expect(definition).toStrictEqual({ id: 'x', nodes: { a: { action: 'b' } } });
    object.nodes.a.action = 'changed';
    expect(definition?.nodes?.a?.action).toBe('b');
  });
});
