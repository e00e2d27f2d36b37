/** Which attempts a restored data folder had when its backup was made, from its journal alone. */
import path from 'node:path';
import type { Entry } from '@nebula/core';
import { realClock } from '@nebula/drivers/real';
import { openSqliteStore } from '@nebula/drivers/sqlite';
import { FEED_START } from '@nebula/ports';

export interface AtBackup {
  /** `execution/node` of all that had started, and of those that had ended. */
  readonly started: ReadonlySet<string>;
  readonly ended: ReadonlySet<string>;
  readonly executions: readonly string[];
  readonly unfinished: number;
}

export async function readAtBackup(folder: string): Promise<AtBackup> {
  const store = await openSqliteStore({ path: path.join(folder, 'nebula.db'), clock: realClock, engine: false });
  try {
    const [started, ended] = [new Set<string>(), new Set<string>()];
    const executions = new Set<string>();
    for (let after = FEED_START; ; ) {
      const frames = await store.feed({ after, limit: 1_000 });
      for (const { executionId, entries, position } of frames) {
        after = position;
        executions.add(executionId);
        for (const entry of JSON.parse(entries) as Entry[]) {
          if (entry.type === 'node.started') started.add(`${executionId}/${entry.node}`);
          if (entry.type === 'node.completed') ended.add(`${executionId}/${entry.node}`);
        }
      }
      if (frames.length < 1_000) break;
    }
    const { pending, running } = await store.counts({});
    return { started, ended, executions: [...executions], unfinished: pending + running };
  } finally {
    await store.close();
  }
}
