/** How the sandbox tells what does not fit; what fits is decided, and tested, in core. */
import type { Json, JsonSchema } from '@nebula/core';
import { describe, expect, test } from 'vitest';
import { realClock } from '../../src/real/clock.ts';
import { checkSchema } from '../../src/sandbox-inprocess/schema.ts';

const checking = (schema: JsonSchema, value: Json) => () =>
  checkSchema('input', schema, value, 'test.action@1', realClock);

describe('schemas of actions', () => {
  test('[SBX-3] formats, references and conditions count too', () => {
    const schema = {
      type: 'object',
      properties: { mail: { type: 'string', format: 'email' }, tags: { $ref: '#/$defs/tags' } },
      $defs: { tags: { type: 'array', items: { enum: ['a', 'b'] } } },
      required: ['mail'],
    };
    expect(checking(schema, { mail: 'ada@example.com', tags: ['a'] })).not.toThrow();
    expect(checking(schema, { mail: 'nobody', tags: ['z'] })).toThrow(
      expect.objectContaining({
        code: 'INPUT_INVALID',
        details: {
          problems: [expect.objectContaining({ path: 'mail' }), expect.objectContaining({ path: 'tags[0]' })],
        },
      }),
    );
    expect(checking(schema, {})).toThrow(/mail is missing/);
  });

  test('[SBX-3] two actions may use the same $id', () => {
    const text = { $id: 'https://example.com/one', anyOf: [{ type: 'string' }] };
    const number = { $id: 'https://example.com/one', anyOf: [{ type: 'number' }] };
    expect(checking(text, 'x')).not.toThrow();
    expect(checking(number, 1)).not.toThrow();
    expect(checking(number, 'x')).toThrow(/input of test\.action@1/);
  });

  test('[SBX-3] true takes everything, false nothing', () => {
    expect(checking(true, null)).not.toThrow();
    expect(checking({ title: 'anything' }, [1])).not.toThrow();
    expect(checking(false, null)).toThrow(/the input is not allowed/);
  });

  test('[SBX-4] defaults are filled into an input, and never into an output', () => {
    const schema = { type: 'object', properties: { n: { type: 'integer', default: 3 } } };
    const [input, output] = [{}, {}];
    void checkSchema('input', schema, input, 'a', realClock);
    void checkSchema('output', schema, output, 'a', realClock);
    expect([input, output]).toEqual([{ n: 3 }, {}]);
  });

  test('[SBX-12] only the first of many problems are reported', () => {
    const schema = { type: 'array', items: { type: 'string' } };
    expect(checking(schema, Array(10_000).fill(1))).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^.{1,2000}$/s) }),
    );
  });
});
