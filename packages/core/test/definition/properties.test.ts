import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readDefinitionObject } from '../../src/definition/check.ts';
import { findJsonError } from '../../src/definition/json/syntax.ts';
import { renderProblems } from '../../src/definition/report.ts';
import { json, read, yaml } from './reading.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);

/** Every range lies in the text, problems are in order, and they can be shown. */
function expectSound(result: ReturnType<typeof read>): void {
  let last = -1;
  for (const { range, message } of result.problems) {
    expect(message).not.toBe('');
    if (!range) continue;
    expect(range.offset).toBeGreaterThanOrEqual(last);
    expect(range.offset + range.length).toBeLessThanOrEqual(result.source.text.length + 1);
    last = range.offset;
  }
  expect(result.definition === undefined).toBe(result.problems.some(({ severity }) => severity === 'error'));
  renderProblems(result.problems, { text: result.source.text, color: true });
}

const SAMPLE = `id: order
config: { mode: parallel, timeout: 1h, retry: { policy: fixed, delay: 1s, attempts: 3 } }
nodes:
  fetch:
    action: http.request@1
    with: { url: "https://x/{{ $input.id }}", text: 'it''s' }
    timeout: { attempt: 10s }
  charge: { needs: [fetch], when: $nodes.fetch.output.total > 0, action: pay@2.1, join: any }
  tell:
    action: email.send
    notes: |
      several
      lines
edges:
  - fetch -> charge -> tell
  - { from: charge, to: tell, on: error, match: { code: [A, /B/] } }
output: { a: &a [1, 2], b: *a }
`;

const piece = fc.constantFrom(
  ...'[ ] { } , : - ? & * ! | > % @ # " \' \\ a 1 ~ << null true .inf 1e999 0x1 --- ... {{ }} __proto__'.split(' '),
  ...['\n', '\n  ', '  ', '\t', '\r\n', '\0', '\ud800', '\ufeff', ': ', '- ', '# '],
);

describe('reading anything', { timeout: 600_000 }, () => {
  it('[DEF-32] bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom('a.yaml', 'a.json', 'a'), (bytes, file) =>
        expectSound(read(bytes, { file })),
      ),
      { numRuns: RUNS },
    );
  });

  it('[DEF-32] text of YAML pieces', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        expectSound(yaml(pieces.join('')));
        expectSound(read(pieces.join('')));
      }),
      { numRuns: RUNS },
    );
  });

  it('[DEF-32] a definition with random edits', () => {
    const edit = fc.record({
      at: fc.nat(SAMPLE.length),
      remove: fc.nat(20),
      insert: fc.array(piece, { maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
        const text = edits.reduce(
          (t, { at, remove, insert }) => t.slice(0, at) + insert.join('') + t.slice(at + remove),
          SAMPLE,
        );
        expectSound(yaml(text));
      }),
      { numRuns: RUNS },
    );
  });

  it('[DEF-32] any JSON, as text and as an object', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expectSound(json(text));
        expectSound(yaml(text));
        expectSound(readDefinitionObject(JSON.parse(text)));
      }),
      { numRuns: RUNS },
    );
  });

  it('[DEF-32] any object of code', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
    });
    fc.assert(
      fc.property(anything, (value) => expectSound(readDefinitionObject(value))),
      { numRuns: RUNS },
    );
  });

  it('[DEF-16] an error is found exactly when JSON.parse refuses', () => {
    const accepts = (text: string): boolean => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    const edited = fc.tuple(fc.json(), fc.nat(30), fc.nat(2), piece);
    fc.assert(
      fc.property(edited, ([text, at, remove, insert]) => {
        const changed = text.slice(0, at) + insert + text.slice(at + remove);
        expect(findJsonError(changed) === undefined).toBe(accepts(changed));
      }),
      { numRuns: RUNS * 4 },
    );
  });
});
