/** W7: evaluations per second of ten typical expressions, against jsonata and jexl where they can say the same. */
import { createBudget, type Json, parseExpression, type Scope } from '@nebula/core';
import jexl from 'jexl';
import jsonata from 'jsonata';
import { median, round } from '../measure.ts';

const data = {
  user: { name: 'Ada Lovelace', email: 'ada@example.com', age: 36, tags: ['math', 'poetry'] },
  order: {
    total: 479.9,
    currency: 'EUR',
    items: Array.from({ length: 10 }, (_, n) => ({ sku: `S${n}`, price: n * 10 + 0.5, count: (n % 3) + 1 })),
  },
};

/** Ours, jsonata's, jexl's; an empty text where the other cannot say it in one expression. */
const EXPRESSIONS: readonly (readonly [string, string, string, string])[] = [
  ['member', '$input.user.name', 'user.name', 'user.name'],
  ['deep member', '$input.order.items[3].price', 'order.items[3].price', 'order.items[3].price'],
  ['comparison', '$input.order.total > 100', 'order.total > 100', 'order.total > 100'],
  [
    'logic',
    '$input.user.age >= 18 && $input.order.currency == "EUR"',
    'user.age >= 18 and order.currency = "EUR"',
    'user.age >= 18 && order.currency == "EUR"',
  ],
  ['arithmetic', '$input.order.total * 1.19 + 4.9', 'order.total * 1.19 + 4.9', 'order.total * 1.19 + 4.9'],
  [
    'conditional',
    '$input.order.total > 500 ? "big" : "small"',
    'order.total > 500 ? "big" : "small"',
    'order.total > 500 ? "big" : "small"',
  ],
  ['text', '"Dear " + $input.user.name', '"Dear " & user.name', '"Dear " + user.name'],
  ['upper', '$input.user.name.upper()', '$uppercase(user.name)', ''],
  ['filter', '$input.order.items.filter(i => i.price > 50)', 'order.items[price > 50]', 'order.items[.price > 50]'],
  ['sum', '$input.order.items.map(i => i.price * i.count).sum()', '$sum(order.items.(price * count))', ''],
];

export async function w7(): Promise<Record<string, number>> {
  const figures: Record<string, number> = {};
  const ratios: number[] = [];
  for (const [name, ours, theirs, jexls] of EXPRESSIONS) {
    const nebula = await rate(nebulaOf(ours));
    figures[`${name} /s`] = round(nebula);
    const query = jsonata(theirs);
    const others = [await rate(async () => void (await query.evaluate(data)))];
    if (jexls !== '') {
      const compiled = jexl.compile(jexls);
      others.push(await rate(() => void compiled.evalSync(data)));
    }
    figures[`${name} × jsonata`] = round(nebula / (others[0] as number), 1);
    if (others[1] !== undefined) figures[`${name} × jexl`] = round(nebula / others[1], 1);
    ratios.push(nebula / Math.max(...others));
  }
  figures.medianTimesBestPeer = round(median(ratios), 1);
  return figures;
}

function nebulaOf(source: string): () => void {
  const expression = parseExpression(source);
  const scope: Scope = {
    input: data as unknown as Json,
    trigger: null,
    vars: {},
    execution: {},
    workflow: {},
    node: () => undefined,
  };
  return () => void expression.evaluate(scope, createBudget());
}

/** Evaluations per second; an asynchronous evaluator is waited for, as its users must. */
async function rate(evaluate: () => void | Promise<void>): Promise<number> {
  const spin = async (ms: number): Promise<number> => {
    const started = performance.now();
    let count = 0;
    while (performance.now() - started < ms) {
      for (let at = 0; at < 200; at++) {
        const pending = evaluate();
        if (pending !== undefined) await pending;
      }
      count += 200;
    }
    return (count * 1_000) / (performance.now() - started);
  };
  await spin(150);
  return spin(400);
}
