/** Probes of the thread that checks definitions. Each drives it over a limit that is lowered; true when it answers. */
import type { Json } from '@nebula/core';
import type { BudgetName } from '../../src/budgets.ts';
import type { Job } from '../../src/definitions/questions.ts';
import { type CheckLimits, checkInThread } from '../../src/definitions/side-thread.ts';
import { CHECK_LIMITS } from '../../src/limits.ts';

/** Reading so many pairs takes the YAML library about a second. */
const slow = `id: x\nnodes: {${'a: 1,\n'.repeat(40_000)}}`;

const jobOf = (source: string): Job => ({
  input: { source, filename: 'x.yaml' },
  ceiling: {},
  capabilities: {},
  labels: [],
  isBounded: true,
});
const check = (source: string, limits: Partial<CheckLimits>): Promise<unknown> =>
  checkInThread(jobOf(source), ({ ask }) => (ask === 'action' ? undefined : ([] as Json)), {
    ...CHECK_LIMITS,
    ...limits,
  });

async function isAnswered(checks: readonly Promise<unknown>[], code: string): Promise<boolean> {
  const results = await Promise.allSettled(checks);
  const refused = results.filter((one) => one.status === 'rejected');
  for (const { reason } of refused) if (reason?.code !== code) throw reason;
  return refused.length === 0;
}

export const CHECK_PROBES = {
  'definition.time': (isOver) => isAnswered([check(slow, isOver ? { maxMs: 50 } : {})], 'TOO_LARGE'),
  'definition.memory': (isOver) => isAnswered([check(slow, isOver ? { maxMemoryMb: 24 } : {})], 'TOO_LARGE'),
  'definition.waiting': (isOver) => {
    const small = Array.from({ length: isOver ? 4 : 3 }, () => check('id: x', { maxWaiting: 3 }));
    return isAnswered(small, 'BUSY');
  },
} as const satisfies Partial<Record<BudgetName, (isOver: boolean) => Promise<boolean>>>;
