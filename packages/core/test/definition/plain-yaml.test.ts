import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Composer, Parser } from 'yaml';
import type { Located } from '../../src/definition/source-map.ts';
import { locatePlainYaml, readPlainYaml } from '../../src/definition/yaml/plain.ts';
import { locateYaml } from '../../src/definition/yaml/positions.ts';

/** `FUZZ_RUNS=100000` for a long search. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 500);

const SAMPLE = `# An order
id: order-fulfilment
name: Order fulfilment   # for people
version: 3
tags: [orders, "a, b", 'it''s', 1.5, -2, true, null, ~]
config: { mode: parallel, maxParallelism: 25, "quoted": x, nested: { a: [1, 2], b: {} } }
empty:
variables:
  region: eu
  "key with spaces": 'x'
  url: https://example.com/#anchor
nodes:
  fetch:
    action: http.request@1
    with:
      url: "https://api.example.com/{{ $input.id }}\\n\\u00e9"
      text: |
        first line
          indented

        last # not a comment
      chomped: |-
        one
    retry: { policy: fixed, delay: 1s }

  charge:
    needs:
    - fetch
    - other
    when: $nodes.fetch.output.total > 0
edges:
  - from: fetch
    to: charge
  # a comment between
  - { from: charge, to: tell, on: error }
  - a -> b
  -
    from: x
    to: y
`;

function readWithLibrary(text: string) {
  const composer = new Composer({ version: '1.2', schema: 'core', uniqueKeys: false, prettyErrors: false });
  const documents = [...composer.compose(new Parser().parse(text), true, text.length)];
  const document = documents[0];
  if (documents.length !== 1 || !document || document.errors.length > 0 || document.warnings.length > 0)
    return undefined;
  return document;
}

function flatten(located: Located, path: string, into: Map<string, string>): Map<string, string> {
  const key = `${located.keyStart}-${located.keyEnd}`;
  const value =
    located.style === undefined || located.style === 'literal' ? `${located.start}` : `${located.start}-${located.end}`;
  // An empty value has no place of its own.
  into.set(path, located.start === located.end ? key : `${key} ${value}`);
  for (const [step, member] of located.members()) flatten(member, `${path}/${step}`, into);
  return into;
}

/** True when the plain reader accepted the text. */
function compare(text: string): boolean {
  const plain = readPlainYaml(text);
  if (!plain) return false;
  const document = readWithLibrary(text);
  expect(document, 'the library refuses what the plain reader took').toBeDefined();
  expect(plain.value).toStrictEqual(document?.toJS());
  const ours = flatten(locatePlainYaml(text) as Located, '', new Map());
  const theirs = flatten(locateYaml(document as never, undefined) as Located, '', new Map());
  expect(Object.fromEntries(ours)).toStrictEqual(Object.fromEntries(theirs));
  return true;
}

/** Pieces of YAML, between bars. */
const PIECES =
  '¦ ¦  ¦    ¦\n¦\n\n¦\r\n¦\n  ¦\n    ¦: ¦:¦- ¦-¦# x¦ # x¦"¦\'¦[¦]¦{¦}¦,¦, ¦|¦|-¦>¦&a¦*a¦!!str ¦? ¦%¦@¦`¦~¦null¦true¦0x1f¦1e3¦.5' +
  "¦.inf¦007¦+1¦---¦...¦<<¦a¦b: 1¦c: x y¦d: ''¦é¦\u00a0¦\\¦\\n¦=¦$x¦{{ x }}";

const snippet = fc.constantFrom(...PIECES.split('¦'));

describe('the plain-YAML reader beside the library', () => {
  it('[DEF-36] takes the whole language of ordinary definitions', () => {
    expect(compare(SAMPLE)).toBe(true);
    expect(compare(SAMPLE.replaceAll('\n', '\r\n').replace(/text: \|[\s\S]*chomped/, 'chomped'))).toBe(true);
  });

  it('[DEF-36] gives up rather than misread: sample with random edits', { timeout: 600_000 }, () => {
    let accepted = 0;
    const lines = SAMPLE.split('\n');
    const edit = fc.record({ line: fc.nat(lines.length - 1), at: fc.nat(60), remove: fc.nat(6), insert: snippet });
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
        const changed = [...lines];
        for (const { line, at, remove, insert } of edits) {
          const text = changed[line] as string;
          const from = Math.min(at, text.length);
          changed[line] = text.slice(0, from) + insert + text.slice(from + remove);
        }
        if (compare(changed.join('\n'))) accepted++;
      }),
      { numRuns: RUNS },
    );
    // Proof that the comparison happened.
    expect(accepted).toBeGreaterThan(RUNS / 10);
  });

  it('[DEF-36] gives up rather than misread: small texts of YAML pieces', { timeout: 600_000 }, () => {
    let accepted = 0;
    fc.assert(
      fc.property(fc.array(snippet, { minLength: 1, maxLength: 12 }), (pieces) => {
        if (compare(`k: ${pieces.join('')}`)) accepted++;
        if (compare(pieces.join(''))) accepted++;
      }),
      { numRuns: RUNS },
    );
    // Proof that the comparison happened.
    expect(accepted).toBeGreaterThan(RUNS / 10);
  });
});
