import { defineAction } from '@nebula/sdk';

/** A folder stands for the courier's own records. */
const bookingFile = (key: string) => `examples/out/courier/${key.replace(/[^\w-]/g, '_')}.json`;

/**
 * The courier treats every booking as new: two bookings would bring two vans. So the effect is `once`, and after a crash
 * `verify` checks whether the booking has arrived.
 */
export const bookCourier = defineAction({
  id: 'courier.book',
  version: '1',
  title: 'Book a courier',
  description: 'Asks for a van to fetch the parcels.',
  effect: 'once',
  capabilities: ['files'],
  input: {
    type: 'object',
    properties: {
      parcels: { type: 'array', items: { type: 'string' }, minItems: 1 },
      address: { type: 'string', minLength: 1 },
    },
    required: ['parcels', 'address'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: { booking: { type: 'string' }, parcels: { type: 'integer' } },
    required: ['booking', 'parcels'],
  },
  async run(ctx, { parcels, address }) {
    const booking = { booking: `van-${ctx.executionId.slice(-6)}`, parcels: parcels.length };
    await ctx.sleep(900);
    await ctx.files.write(bookingFile(ctx.idempotencyKey), JSON.stringify({ ...booking, address }));
    await ctx.sleep(900);
    return booking;
  },
  async verify(ctx) {
    try {
      const record = new TextDecoder().decode(await ctx.files.read(bookingFile(ctx.idempotencyKey)));
      const { booking, parcels } = JSON.parse(record);
      return { happened: true, output: { booking, parcels } };
    } catch (error) {
      if ((error as { code?: string }).code === 'FILE_NOT_FOUND') return { happened: false };
      throw error;
    }
  },
});
