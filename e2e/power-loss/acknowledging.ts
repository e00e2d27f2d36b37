/** The drivers of an engine, which mark everything that they promise to be durable, at the moment of the promise. */
import type { SqliteStore } from '@nebula/drivers/sqlite';
import type { Blobs, Records, Secrets, Write, WriteOutcome } from '@nebula/ports';
import { fact, type Marking } from './marks.ts';

type Promised = (args: readonly never[], result: never) => readonly string[];

/** The facts that a resolved call promises. Calls that are not named here promise nothing, or only read. */
const PROMISES: Readonly<Record<string, Promised>> = {
  append: ([writes]: readonly [readonly Write[]], outcomes: readonly WriteOutcome[]) =>
    writes.flatMap((write, index) => (outcomes[index]?.ok === true ? factsOf(write) : [])),
  send: ([message]: readonly [{ executionId: string; messageId: string }], isKnown: boolean) =>
    isKnown ? [fact.message(message.executionId, message.messageId)] : [],
  publish: ([signal]: readonly [{ messageId: string }]) => [fact.signal(signal.messageId)],
  saveSnapshot: ([executionId, { seq }]: readonly [string, { seq: number }]) => [fact.snapshot(executionId, seq)],
  deleteExecution: ([executionId]: readonly [string], isDeleted: boolean) =>
    isDeleted ? [fact.deleted(executionId)] : [],
  registerWorkflow: (
    [{ workflowId, hash }]: readonly [{ workflowId: string; hash: string }],
    outcome: { ok: boolean; version: number },
  ) => (outcome.ok ? [fact.workflow(workflowId, outcome.version, hash)] : []),
  heartbeat: ([leases]: readonly [readonly { worker: string; expiresAt: number }[]]) =>
    leases.map(({ worker, expiresAt }) => fact.lease(worker, expiresAt)),
} as unknown as Readonly<Record<string, Promised>>;

function factsOf({ executionId, create, frame, sends = [], cache = [] }: Write): string[] {
  const facts = cache.map((row) => fact.cached(row.key, row.at));
  if (create !== undefined) facts.push(fact.run(executionId));
  if (frame !== undefined) facts.push(fact.frame(executionId, frame.seq, frame.entries));
  for (const message of sends) facts.push(fact.message(message.executionId, message.messageId));
  return facts;
}

/** `early`: a call is marked before it is made, as a store would acknowledge that does not wait for its commit. */
export function acknowledgingStore(store: SqliteStore, mark: Marking, early: boolean): SqliteStore {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      const promised = typeof name === 'string' ? PROMISES[name] : undefined;
      if (promised === undefined) return member.bind(target);
      return async (...args: never[]) => {
        const isEarly = early && name === 'append';
        if (isEarly)
          promise(promised(args, (args[0] as unknown as readonly Write[]).map(() => ({ ok: true })) as never));
        const result = await member.apply(target, args);
        if (!isEarly) promise(promised(args, result as never));
        return result;
      };
    },
  });

  function promise(facts: readonly string[]): void {
    if (facts.length > 0) mark({ type: 'promised', facts });
  }
}

export function acknowledgingRecords(records: Records, mark: Marking): Records {
  return {
    get: (kind, id) => records.get(kind, id),
    list: (kind, page) => records.list(kind, page),
    purge: (now, limit) => records.purge(now, limit),
    async commit(changes) {
      const outcome = await records.commit(changes);
      const facts = changes.flatMap(({ kind, id, body }) =>
        outcome.ok && body !== null ? [fact.record(kind, id, outcome.revision, body)] : [],
      );
      mark({ type: 'promised', facts });
      return outcome;
    },
  };
}

export function acknowledgingBlobs(blobs: Blobs, mark: Marking): Blobs {
  return {
    get: (owner, sha256) => blobs.get(owner, sha256),
    executions: () => blobs.executions(),
    async put(owner, sha256, data) {
      await blobs.put(owner, sha256, data);
      mark({ type: 'blob', owner, sha256 });
    },
    async deleteExecution(owner) {
      mark({ type: 'blobs-deleted', owner });
      await blobs.deleteExecution(owner);
    },
  };
}

export async function setSecret(secrets: Secrets, mark: Marking, name: string, value: string): Promise<void> {
  mark({ type: 'secret-begun', name, value });
  await secrets.set(name, value);
  mark({ type: 'secret', name, value });
}
