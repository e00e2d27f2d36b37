/** W11: our budgeted check of JSON Schemas against the code that ajv generates: compiling, checking, and hostile schemas. */
import { compileSchema, type Json, type JsonSchema } from '@nebula/core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { median, round } from '../measure.ts';

const ITEM = {
  type: 'object',
  required: ['sku', 'count'],
  properties: {
    sku: { type: 'string', pattern: '^[A-Z]{2}-[0-9]+$' },
    count: { type: 'integer', minimum: 1, maximum: 100 },
    note: { type: ['string', 'null'], maxLength: 200 },
  },
};

const order = (count: number): Json => ({
  id: 'o-1',
  currency: 'EUR',
  items: Array.from({ length: count }, (_, at) => ({ sku: `AB-${at}`, count: (at % 9) + 1, note: null })),
});

/** Typical inputs of workflows and actions. */
const CASES: readonly (readonly [name: string, schema: () => JsonSchema, value: Json])[] = [
  ['text', () => ({ type: 'object', required: ['text'], properties: { text: { type: 'string' } } }), { text: 'hey' }],
  ['order of 3', orderSchema, order(3)],
  ['order of 1,000', orderSchema, order(1_000)],
];

function orderSchema(): JsonSchema {
  return {
    type: 'object',
    required: ['id', 'items'],
    properties: {
      id: { type: 'string', minLength: 1 },
      currency: { enum: ['EUR', 'USD', 'GBP'] },
      items: { type: 'array', minItems: 1, items: structuredClone(ITEM) },
    },
    additionalProperties: false,
  };
}

export async function w11(): Promise<Record<string, number>> {
  const figures: Record<string, number> = {};
  for (const [name, schema, value] of CASES) {
    figures[`${name}: compile ms, ours`] = round(
      timeOf(() => void compileSchema(schema()).problems(value)),
      3,
    );
    // One instance keeps every schema that it has seen, so each gets its own; the meta-schema is not compiled again.
    const compiled = () => new Ajv2020({ meta: false, validateSchema: false }).compile(schema() as object);
    figures[`${name}: compile ms, ajv`] = round(
      timeOf(() => void compiled()(value)),
      3,
    );
    const ours = compileSchema(schema());
    const theirs = compiled();
    if (ours.problems(value) !== undefined || !theirs(value)) throw new Error(`${name} does not fit`);
    figures[`${name}: check µs, ours`] = round(1_000 * timeOf(() => void ours.problems(value), 2_000), 2);
    figures[`${name}: check µs, ajv`] = round(1_000 * timeOf(() => void theirs(value), 2_000), 2);
  }
  for (const levels of [18, 20, 22, 24]) {
    figures[`doubling ${levels} times: ms, ours`] = round(
      timeOf(() => void compileSchema(doubling(levels)).problems('x'), 3),
      1,
    );
    const theirs = new Ajv2020({ meta: false, validateSchema: false }).compile(doubling(levels) as object);
    figures[`doubling ${levels} times: ms, ajv`] = round(
      timeOf(() => void theirs('x'), 3),
      1,
    );
  }
  const figure = timeOf(() => void compileSchema(doubling(40)).problems('x'), 3);
  return { ...figures, 'doubling 40 times: ms, ours': round(figure, 1) };
}

/** Each level refers to the next one twice: a check without a budget takes 2^levels steps. */
function doubling(levels: number): JsonSchema {
  const $defs: Record<string, JsonSchema> = { [`a${levels}`]: { type: 'string' } };
  for (let at = 0; at < levels; at++) {
    const next = { $ref: `#/$defs/a${at + 1}` };
    $defs[`a${at}`] = { allOf: [next, { ...next }] };
  }
  return { $defs, $ref: '#/$defs/a0' } as JsonSchema;
}

/** Milliseconds of one call, once it is warm: the median of five batches. */
function timeOf(work: () => void, calls = 20): number {
  for (let at = 0; at < calls; at++) work();
  const batches = Array.from({ length: 5 }, () => {
    const started = performance.now();
    for (let at = 0; at < calls; at++) work();
    return (performance.now() - started) / calls;
  });
  return median(batches);
}
