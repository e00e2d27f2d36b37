/** The project that `npx nebula` finds in this repository: the actions of the examples, which `npm start` serves, too. */
import { defineConfig } from '@nebula/sdk';
import { bookCourier } from './examples/actions/courier.ts';
import { page } from './examples/actions/pager.ts';
import { charge } from './examples/actions/payment.ts';
import { pack } from './examples/actions/warehouse.ts';

export default defineConfig({
  actions: [charge, pack, bookCourier, page],
  server: {
    workflows: ['examples/{hello,order,etl,incident,nightly-report}.yaml', 'examples/typescript/expense.ts'],
  },
});
