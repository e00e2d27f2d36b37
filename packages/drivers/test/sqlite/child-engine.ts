/**
 * An engine of its own, to be killed: `child-engine.ts <path> idle|append [main|thread]`.
 * Says `<execution> <seq>` for every frame whose append has resolved, and nothing else.
 */
import { writeSync } from 'node:fs';
import type { Write } from '@nebula/ports';
import { realClock } from '../../src/real/index.ts';
import { openSqliteStore } from '../../src/sqlite/index.ts';

const [path, what, commitsIn] = process.argv.slice(2);
const store = await openSqliteStore({
  path: path as string,
  clock: realClock,
  engine: true,
  commitsIn: commitsIn === 'thread' ? 'thread' : 'main',
  walLimitBytes: 256 * 1024,
});

const RUNS = 20;
const heads = new Map<string, number>();

async function append(): Promise<void> {
  const writes: Write[] = [];
  const size = 1 + Math.floor(Math.random() * 60);
  for (let index = 0; index < size; index++) {
    const executionId = `${process.pid}-${Math.floor(Math.random() * RUNS)}`;
    const seq = (heads.get(executionId) ?? 0) + 1;
    heads.set(executionId, seq);
    const entries = JSON.stringify([executionId, seq, 'x'.repeat(Math.floor(Math.random() * 900))]);
    const create = { workflowId: 'orders', version: 1, createdAt: 1, owner: null };
    writes.push({ executionId, ...(seq === 1 ? { create } : {}), frame: { seq, at: 1, entries } });
  }
  const outcomes = await store.append(writes);
  const said = writes.map((write, index) => {
    if (outcomes[index]?.ok !== true) throw new Error('a conflict without a rival');
    return `${write.executionId} ${write.frame?.seq}\n`;
  });
  writeSync(1, said.join(''));
}

if (what === 'idle') {
  await store.append([{ executionId: 'a', create: { workflowId: 'orders', version: 1, createdAt: 1, owner: null } }]);
  writeSync(1, 'ready\n');
  setInterval(() => {}, 60_000);
} else {
  for (;;) {
    await append();
    await new Promise((resolve) => setImmediate(resolve));
  }
}
