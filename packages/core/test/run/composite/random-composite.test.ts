import { describe, expect, it } from 'vitest';
import { isFinished } from '../../../src/run.ts';
import { liveThrough } from './random-composite.ts';

const SEEDS = Number(process.env.FUZZ_RUNS ?? 300);
const FIRST = Number(process.env.FUZZ_FROM ?? 1);

describe('any workflow with composite nodes', { timeout: 600_000 }, () => {
  it('[RUN-218] folds as it was decided, repeats nothing that is done, and ends once everything is answered', () => {
    for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
      try {
        const run = liveThrough(seed);
        expect(isFinished(run.state.phase.status), `${run.status} ${JSON.stringify(run.statuses())}`).toBe(true);
        expectOnce(run.entries as never);
        expect(run.state.running.size + run.state.children.size).toBe(0);
        for (const scope of run.state.scopes.values()) expect(scope.busy, scope.path).toBe(0);
      } catch (error) {
        throw new Error(`seed ${seed}: ${String((error as Error).stack ?? error)}`, { cause: error });
      }
    }
  });
});

interface AnyEntry {
  readonly type: string;
  readonly node?: string;
  readonly nodes?: readonly string[];
}

/** A node that has completed starts again only after a reopening that names it, or something around it. */
function expectOnce(entries: readonly AnyEntry[]): void {
  const done = new Set<string>();
  for (const { type, node = '', nodes = [] } of entries) {
    if (type === 'node.completed') done.add(node);
    if (type === 'node.started' || type === 'node.opened') expect(done.has(node), `${node} is done`).toBe(false);
    if (type !== 'run.reopened') continue;
    for (const path of [...done]) {
      if (path.startsWith('~undo') || path.includes('/~undo/')) done.delete(path);
      else if (nodes.some((again) => path === again || path.startsWith(`${again}/`))) done.delete(path);
    }
  }
}
