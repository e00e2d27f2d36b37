/** The expected result of a run of `order.yaml`, computed independently of the engine. */

const ALWAYS = [
  'fetch',
  'price',
  'stock',
  'customer',
  'contract',
  'digest',
  'quote',
  'reserve',
  'ship',
  'charge',
  'invoice',
  'verdict',
  'pack',
  'label',
  'track',
  'close',
] as const;

export const ONCE: ReadonlySet<string> = new Set(['ship', 'charge', 'invoice']);

export function executionIdOf(n: number): string {
  return `order-${n}`;
}

export interface ExpectedRun {
  readonly completed: ReadonlySet<string>;
  readonly failed: ReadonlySet<string>;
  readonly skipped: ReadonlySet<string>;
  readonly output: string;
}

export function expectedRun(n: number): ExpectedRun {
  const isEven = n % 2 === 0;
  const isDeclined = n % 3 === 0;
  const way = isEven ? 'express' : 'standard';
  const answer = isDeclined ? 'reviewed' : 'approved';
  return {
    completed: new Set([...ALWAYS, way, ...(isDeclined ? ['review'] : ['rate', 'approve'])]),
    failed: new Set(isDeclined ? ['rate'] : []),
    skipped: new Set([isEven ? 'standard' : 'express', isDeclined ? 'approve' : 'review']),
    output: `${answer}, ${way}, order ${n}: ${3 * n} EUR, contract of 80000 characters`,
  };
}
