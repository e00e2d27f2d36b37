import { ActionError, defineAction } from '@nebula/sdk';

/** Stands for a payment provider that supports idempotency keys: two requests with the same key charge once. */
export const charge = defineAction({
  id: 'payment.charge',
  version: '1',
  title: 'Charge a card',
  description: 'Takes money from a card, once for each key.',
  effect: 'idempotent',
  input: {
    type: 'object',
    properties: {
      card: { type: 'string', title: 'Card', description: '`declined` is declined, any other is charged.' },
      amount: { type: 'number', exclusiveMinimum: 0, title: 'Amount' },
      currency: { type: 'string', pattern: '^[A-Z]{3}$', default: 'EUR' },
    },
    required: ['card', 'amount'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: { receipt: { type: 'string' }, amount: { type: 'number' }, currency: { type: 'string' } },
    required: ['receipt', 'amount', 'currency'],
  },
  async run(ctx, { card, amount, currency }) {
    ctx.log.info(`asking for ${amount.toFixed(2)} ${currency}`, { idempotencyKey: ctx.idempotencyKey });
    await ctx.sleep(1_800);
    if (card === 'declined') throw new ActionError('the bank declined the card', { code: 'CARD_DECLINED' });
    return { receipt: `rcpt-${ctx.executionId.slice(-6)}`, amount, currency };
  },
});
