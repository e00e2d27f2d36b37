import { ActionError, defineAction } from '@nebula/sdk';

const PER_ITEM_MS = 1_400;

/** Packing is idempotent: a second attempt finds the parcel closed. */
export const pack = defineAction({
  id: 'warehouse.pack',
  version: '1',
  title: 'Pack a parcel',
  description: 'Packs the items of an order in one warehouse.',
  effect: 'idempotent',
  input: {
    type: 'object',
    properties: {
      warehouse: { type: 'string', title: 'Warehouse' },
      items: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          properties: { title: { type: 'string' }, grams: { type: 'integer', minimum: 1 } },
          required: ['title', 'grams'],
        },
      },
    },
    required: ['warehouse', 'items'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: { parcel: { type: 'string' }, items: { type: 'integer' }, grams: { type: 'integer' } },
    required: ['parcel', 'items', 'grams'],
  },
  async run(ctx, { warehouse, items }) {
    // The scanner in Lyon always fails at first, so that the example shows a retry.
    if (warehouse === 'lyon' && ctx.attempt === 1) {
      await ctx.sleep(900);
      throw new ActionError('the scanner did not answer', { code: 'SCANNER_OFFLINE' });
    }
    for (const [index, { title }] of items.entries()) {
      ctx.progress(index / items.length, title);
      await ctx.sleep(PER_ITEM_MS);
    }
    const grams = items.reduce((sum, item) => sum + item.grams, 0);
    return { parcel: `${warehouse}-${ctx.executionId.slice(-4)}`, items: items.length, grams };
  },
});
