/**
 * The order of `../order.yaml` in TypeScript, with one loop in place of three nodes for three warehouses.
 *
 *     npx nebula run examples/typescript/order.ts
 */
import { coreLog, fileRead } from '@nebula/actions';
import { expr, maybe, or, text, typed, workflow } from '@nebula/sdk';
import { bookCourier } from '../actions/courier.ts';
import { charge } from '../actions/payment.ts';
import { pack } from '../actions/warehouse.ts';

interface Order {
  readonly id: string;
  readonly customer: { readonly name: string; readonly address: string };
  readonly card: string;
  readonly items: readonly {
    readonly title: string;
    readonly warehouse: string;
    readonly grams: number;
    readonly price: number;
    readonly quantity: number;
  }[];
}

const INPUT = {
  type: 'object',
  properties: { file: { type: 'string', default: 'examples/data/order.json' }, card: { type: 'string' } },
} as const;

const CONFIG = {
  timeout: '5m',
  capabilities: {
    files: { read: ['examples/data/**', 'examples/out/courier/**'], write: ['examples/out/courier/**'] },
  },
};

export default workflow('order-in-typescript', { input: INPUT, config: CONFIG }, (w) => {
  const file = w.node('file', fileRead, { path: w.input.file, encoding: 'json' });
  const order = typed<Order>(file.output.content);
  const total = expr<number>`${order.items}.sum(i => i.price * i.quantity).round(2)`;

  const paid = w.node(
    'charge',
    charge,
    { card: or(w.input.card, order.card), amount: total },
    { timeout: '10s', retry: { attempts: 3, initial: '1s', on: ['TIMEOUT'] } },
  );
  const apologise = w.node('apologise', coreLog, {
    level: 'warn',
    message: text`Dear ${order.customer.name}, your card was declined. Nothing was charged.`,
  });
  w.edge(paid, apologise, { on: 'error', match: { code: 'CARD_DECLINED' } });

  const warehouses = expr<readonly string[]>`${order.items}.map(i => i.warehouse).unique()`;
  const parcels = w.forEach(
    'parcels',
    warehouses,
    (b, warehouse) => {
      const items = expr<Order['items']>`${order.items}.filter(i => i.warehouse == ${warehouse})`;
      const packed = b.node('pack', pack, { warehouse, items }, { retry: { attempts: 3, delay: '1s' } });
      return packed.output.parcel;
    },
    { parallel: true, needs: [paid] },
  );

  const shipped = w.node('ship', bookCourier, { parcels: parcels.output, address: order.customer.address });
  return { order: order.id, total, booking: maybe(shipped.output).booking };
});
