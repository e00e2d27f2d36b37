import { defineAction } from '@nebula/sdk';
import { DURATION_TYPE, durationMs } from './quantity.ts';

/** Progress is reported at most once a second, and at most a hundred times. */
const MIN_TICK_MS = 1_000;
const MAX_TICKS = 100;

export const coreSleep = defineAction({
  id: 'core.sleep',
  version: '1',
  title: 'Sleep',
  description:
    'Waits inside an attempt: it occupies a slot of the worker, the attempt timeout applies, and a crash restarts it. A `wait` node waits durably and occupies nothing.',
  category: 'time',
  icon: 'moon',
  examples: [{ title: 'Wait ten seconds', with: { duration: '10s' } }],
  input: {
    type: 'object',
    properties: {
      duration: {
        ...DURATION_TYPE,
        title: 'Duration',
        description: 'The time to wait, e.g. `10s`, or milliseconds.',
        examples: ['10s', '1m30s', 250],
      },
    },
    required: ['duration'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: { sleptMs: { type: 'integer', title: 'Slept', description: 'The time slept, in milliseconds.' } },
    required: ['sleptMs'],
  },
  effect: 'pure',
  async run(ctx, input) {
    const totalMs = durationMs(input.duration, 'duration');
    const tickMs = Math.max(MIN_TICK_MS, Math.ceil(totalMs / MAX_TICKS));
    // Counted instead of read from the clock, which may be set back meanwhile.
    for (let sleptMs = 0; sleptMs < totalMs; sleptMs += tickMs) {
      if (sleptMs > 0) ctx.progress(sleptMs / totalMs);
      await ctx.sleep(Math.min(tickMs, totalMs - sleptMs));
    }
    ctx.progress(1);
    return { sleptMs: totalMs };
  },
});
