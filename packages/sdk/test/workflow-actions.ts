/** Actions that the tests of the builder write workflows with. */
import { z } from 'zod';
import { defineAction } from '../src/index.ts';

export const fetchUser = defineAction({
  id: 'user.fetch',
  version: '1',
  input: z.object({ id: z.string(), deep: z.boolean().optional() }),
  output: z.object({
    name: z.string(),
    email: z.string(),
    nick: z.string().optional(),
    address: z.object({ city: z.string(), 'post-code': z.string() }).nullable(),
    plan: z.enum(['free', 'paid']),
    orders: z.array(z.object({ sku: z.string(), quantity: z.number(), gift: z.string().optional() })),
  }),
  effect: 'pure',
  run: () => ({ name: 'Ada', email: 'ada@example.com', address: null, plan: 'paid' as const, orders: [] }),
});

export const sendMail = defineAction({
  id: 'mail.send',
  version: '2.1',
  input: {
    type: 'object',
    properties: { to: { type: 'string' }, subject: { type: 'string' }, copies: { type: 'integer' } },
    required: ['to'],
    additionalProperties: false,
  },
  output: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  run: () => ({ id: 'm1' }),
});

export const recallMail = defineAction({
  id: 'mail.recall',
  version: '1',
  input: z.object({ id: z.string() }),
  run: () => null,
});

/** Without schemas: only the compiler knows what it gives. */
export const pack = defineAction({
  id: 'warehouse.pack',
  version: '1',
  run: () => ({ parcel: 'p1', grams: 3 }),
});

export const plan = defineAction({
  id: 'plan.make',
  version: '1',
  input: z.object({ goal: z.string() }),
  run: () => ({ nodes: {} }),
});

export const allActions = [fetchUser, sendMail, recallMail, pack, plan];
