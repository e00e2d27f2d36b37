import { builtinActions } from '@nebula/actions';
import type { WorkflowInput } from '@nebula/sdk';
import { fail, testWorkflow } from '@nebula/testing';
import { describe, expect, test } from 'vitest';
import config from '../../nebula.config.ts';
import expense from './expense.ts';
import order from './order.ts';

const known = { config, actions: builtinActions };
const ORDER = {
  id: 'A-1',
  customer: { name: 'Ada', address: 'here' },
  card: 'visa',
  items: [
    { title: 'Atlas', warehouse: 'berlin', grams: 10, price: 2, quantity: 2 },
    { title: 'Lens', warehouse: 'turin', grams: 20, price: 1.5, quantity: 1 },
    { title: 'Cloth', warehouse: 'berlin', grams: 30, price: 1, quantity: 1 },
  ],
};

describe('order.ts', () => {
  const mocks = {
    'file.read': { path: 'x', bytes: 1, content: ORDER },
    'payment.charge': { receipt: 'r1', amount: 6.5, currency: 'EUR' },
    'warehouse.pack': ({ warehouse }: { warehouse: string }) => ({ parcel: `${warehouse}-1`, items: 1, grams: 1 }),
    'courier.book': { booking: 'van-1', parcels: 2 },
  };

  test('one parcel for each warehouse', async () => {
    const run = await testWorkflow(order, { mocks: mocks, ...known });
    expect(run).toMatchObject({ status: 'completed', output: { order: 'A-1', total: 6.5, booking: 'van-1' } });
    expect(run.calls('payment.charge')).toMatchObject([{ input: { card: 'visa', amount: 6.5 } }]);
    expect(run.calls('pack').map(({ input }) => input)).toMatchObject([
      { warehouse: 'berlin', items: [{ title: 'Atlas' }, { title: 'Cloth' }] },
      { warehouse: 'turin', items: [{ title: 'Lens' }] },
    ]);
    expect(run.calls('ship')).toMatchObject([{ input: { parcels: ['berlin-1', 'turin-1'], address: 'here' } }]);
    expect(run.skipped).toEqual(['apologise']);
  });

  test('a declined card ends in an apology', async () => {
    const declined = { ...mocks, 'payment.charge': fail('CARD_DECLINED') };
    const run = await testWorkflow(order, { mocks: declined, input: { card: 'declined' }, ...known });
    expect(run).toMatchObject({ status: 'completed', output: { booking: null } });
    expect(run.path).toContain('apologise');
    expect(run.skipped).toEqual(expect.arrayContaining(['parcels', 'ship']));
  });
});

describe('expense.ts', () => {
  const mocks = { 'payment.charge': ({ amount }: { amount: number }) => ({ receipt: 'r1', amount, currency: 'EUR' }) };
  const start = (input: WorkflowInput<typeof expense>) =>
    testWorkflow(expense, { input: input, mocks: mocks, ...known });

  test('a person approves, after a reminder', async () => {
    const run = await start({ who: 'Ada', amount: 120, kind: 'travel' });
    expect(run.waitingFor).toMatchObject([{ node: 'ask' }]);
    await run.approve('ask', { by: 'ann', form: { account: 'visa', amount: 110 } });
    await run.advance('2d');
    expect(run).toMatchObject({ status: 'completed', output: { receipt: 'r1', gift: false } });
    expect(run.calls('pay')).toMatchObject([{ input: { card: 'visa', amount: 110 } }]);
  });

  test('no answer for three days', async () => {
    const run = await start({ who: 'Ada', amount: 120, kind: 'other' });
    await run.advance('4d');
    expect(run).toMatchObject({ status: 'completed', output: { receipt: null, reminders: 1 } });
    expect(run.path).toContain('refused');
  });

  test('a small book is a gift', async () => {
    const run = await start({ who: 'Ada', amount: 20, kind: 'books' });
    expect(run).toMatchObject({ status: 'completed', output: { receipt: null, gift: true, reminders: 0 } });
    expect(run.skipped).toEqual(expect.arrayContaining(['ask', 'payment']));
  });

  test('a payment that cannot be booked is undone', async () => {
    const run = await start({ who: 'Ada', amount: 20_000, kind: 'travel' });
    await run.approve('ask', { by: 'bob', form: { account: 'visa', amount: 20_000 } });
    expect(run).toMatchObject({ status: 'failed', error: { code: 'ASSERTION_FAILED' } });
    expect(run.calls('core.log').map(({ input }) => input)).toMatchObject([{ message: 'Take back r1' }]);
  });
});
