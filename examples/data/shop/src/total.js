/** The price of an order in cents: whole numbers, so that nothing is lost in rounding. */
export function totalCents(items) {
  return items.reduce((sum, { cents, quantity }) => sum + cents * quantity, 0);
}
