/** `node record-explorer.ts OPTIONS`: makes one record, goes through its states, and reports to its parent process. */
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { explore } from './exploration.ts';
import { keepFailure } from './kept-failure.ts';
import { recordEngine } from './recorded-engine.ts';
import type { WorkloadOptions } from './workload-options.ts';

export interface ExplorerOptions {
  readonly workload: WorkloadOptions;
  readonly states: number;
  readonly continueEvery: number;
  readonly storeEvery: number;
  readonly scratch: string;
  /** The folder for failing states. */
  readonly keep: string;
}

export type Report =
  | { readonly type: 'recorded'; readonly operations: number; readonly commits: number }
  | { readonly type: 'states'; readonly hashes: readonly string[] }
  | { readonly type: 'failure'; readonly failures: readonly string[]; readonly kept?: string }
  | { readonly type: 'done'; readonly rebuilt: number; readonly continued: number; readonly cpuSeconds: number };

const HASHES_PER_REPORT = 50;

const { workload, states, continueEvery, storeEvery, scratch, keep } = JSON.parse(
  process.argv[2] ?? '{}',
) as ExplorerOptions;
const report = (message: Report): void => void process.send?.(message);

mkdirSync(scratch, { recursive: true });
try {
  const { operations, reference, log, folder } = await recordEngine(workload, scratch);
  report({ type: 'recorded', operations: operations.length, commits: reference.completeAt.length });
  if (reference.failures.length > 0) report({ type: 'failure', failures: reference.failures });
  let hashes: string[] = [];
  const onState = (hash: string): void => {
    hashes.push(hash);
    if (hashes.length < HASHES_PER_REPORT) return;
    report({ type: 'states', hashes });
    hashes = [];
  };
  const { seed, sabotage } = workload;
  const found = await explore({ operations, reference, scratch, seed, states, continueEvery, storeEvery, onState });
  report({ type: 'states', hashes });
  for (const failure of found.failures) {
    const kept = path.join(keep, `${failure.seed}-${failure.cut}-${failure.state}`);
    keepFailure(kept, failure, { log, recordedFolder: folder, sabotage });
    report({ type: 'failure', failures: failure.failures, kept });
  }
  const { user, system } = process.cpuUsage();
  const { rebuilt, continued } = found;
  report({ type: 'done', rebuilt, continued, cpuSeconds: (user + system) / 1e6 });
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.disconnect?.();
