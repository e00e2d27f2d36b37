/** One run that meets every kind of entry: for golden journals, and for comparing states at every frame. */
import { type Drive, drive, type Short } from './drive.ts';

export const everyEntryDefinition: Short = {
  config: { onFailure: 'finish-running', maxParallelism: 2 },
  nodes: {
    e1: { priority: 1 },
    e2: { priority: 1 },
    a: { retry: { attempts: 2, delay: '1s' }, with: { greeting: 'hello {{ $input.name }}' } },
    b: { needs: ['a'], when: '$input.no' },
    c: { needs: ['a'] },
    pay: { action: 'pay@1', needs: ['a'] },
    d: { needs: ['c', 'b', 'pay'], join: 'any' },
    off: { enabled: false, needs: ['c'] },
    f: { needs: ['off'] },
    g: { needs: ['f'] },
    never: {},
  },
  edges: [{ from: 'c', to: 'never', when: '$c.n > 10' }],
};

export function everyEntry(): Drive {
  const run = drive(everyEntryDefinition, { input: { no: false, name: 'Ada' } });
  run.fail('a').advance(1_000).complete('e1').complete('e2').complete('a', { ok: true }).handBack('c').loseWorker();
  run.step({ type: 'settle', node: 'pay', by: 'verify', settlement: { happened: 'unknown' } });
  run.settle('pay', { happened: true, output: null }).complete('c', { n: 3 }).complete('d').fail('f').retry();
  return run.cancel().breakOff('f');
}
