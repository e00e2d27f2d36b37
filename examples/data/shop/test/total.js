import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatCents } from '../src/format.js';
import { totalCents } from '../src/total.js';

await test('an order costs the sum of its items', () => {
  const items = [
    { cents: 450, quantity: 3 },
    { cents: 24_000, quantity: 1 },
  ];
  assert.equal(totalCents(items), 25_350);
});

await test('an empty order costs nothing', () => assert.equal(totalCents([]), 0));

await test('amounts are shown with their currency', () => assert.equal(formatCents(25_350), '253.50 EUR'));
