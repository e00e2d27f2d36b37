/**
 * An expense that a person approves within three days, with a reminder after one. The payment is undone if it cannot be
 * booked. The outer workflow uses the inner one, with its types.
 */
import { coreAssert, coreLog } from '@nebula/actions';
import { call, expr, maybe, text, wait, workflow } from '@nebula/sdk';
import { charge } from '../actions/payment.ts';

const EXPENSE = {
  type: 'object',
  properties: {
    who: { type: 'string' },
    amount: { type: 'number' },
    kind: { enum: ['travel', 'books', 'other'] },
  },
  required: ['who', 'amount', 'kind'],
} as const;

const FORM = {
  type: 'object',
  properties: { account: { type: 'string' }, amount: { type: 'number' } },
  required: ['account', 'amount'],
} as const;

export const pay = workflow('expense-payment', { input: FORM }, (w) => {
  const paid = w.node(
    'pay',
    charge,
    { card: w.input.account, amount: w.input.amount },
    { compensate: (receipt) => call(coreLog, { message: text`Take back ${receipt.receipt}` }) },
  );
  w.node('book', coreAssert, {
    condition: expr<boolean>`${paid.output.amount} < 10000`,
    message: text`${paid.output.amount} is more than the books can take`,
  });
  return paid.output;
});

export default workflow('expense', { input: EXPENSE, variables: { reminders: 0 } }, (w) => {
  const route = w.branch('route', w.input.kind);
  const small = w.branch('size', {
    small: { when: expr<boolean>`${w.input.amount} <= 50` },
    large: { when: expr<boolean>`${w.input.amount} > 50` },
  });
  w.edge(route.case('books'), small);

  const asked = w.wait(
    'ask',
    wait.approval({ title: text`${w.input.who} asks for ${w.input.amount}`, who: ['ann', 'bob'], form: FORM }),
    { needs: [route.otherwise, small.case('large')], deadline: '3d' },
  );
  const reminded = w.wait('remind', wait.for('1d'), { needs: [route.otherwise, small.case('large')] });
  w.set('count', { reminders: expr<number>`${w.vars.reminders} + 1` }, { needs: [reminded] });

  const paid = w.workflow('payment', pay, asked.output.payload.form, { isolation: 'transactional' });
  const gift = w.node('gift', coreLog, { message: text`A book for ${w.input.who}` }, { needs: [small.case('small')] });
  const refused = w.node('refused', coreLog, { message: text`Not paid: ${asked.error.message}` });
  w.edge(asked, refused, { on: 'error' });

  return { receipt: maybe(paid.output).receipt, gift: gift.success, reminders: w.vars.reminders };
});
