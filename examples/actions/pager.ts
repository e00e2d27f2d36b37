import { defineAction } from '@nebula/sdk';

/** Stands for a pager service: it rings until somebody answers. */
export const page = defineAction({
  id: 'pager.page',
  version: '1',
  title: 'Page a person',
  description: 'Rings until the person answers.',
  effect: 'idempotent',
  input: {
    type: 'object',
    properties: {
      who: { type: 'string', minLength: 1 },
      message: { type: 'string' },
      rings: { type: 'integer', minimum: 1, default: 1, description: 'After how many rings this person answers.' },
    },
    required: ['who', 'message'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: { answeredBy: { type: 'string' }, rings: { type: 'integer' } },
    required: ['answeredBy', 'rings'],
  },
  async run(ctx, { who, message, rings }) {
    ctx.log.info(`calling ${who}: ${message}`);
    for (let ring = 1; ring <= rings; ring++) {
      ctx.progress((ring - 1) / rings, `ring ${ring}`);
      await ctx.sleep(500);
    }
    return { answeredBy: who, rings };
  },
});
