/** The store as one process sees it. */
import type { Entry } from '@nebula/core';
import { type MemoryData, memoryStore } from '@nebula/drivers/memory';
import type { InboxRow, PublishedSignal, SnapshotRow, Store, WorkerLease, Write, WriteOutcome } from '@nebula/ports';
import type { Chance } from '../chance.ts';
import type { Target } from '../coverage.ts';
import { workName } from '../external-world.ts';
import type { Injector } from '../injector.ts';
import { isLease } from '../leases.ts';
import type { Process } from '../process.ts';

const DELAYS_MS = [1, 20, 400];
const REPEATED_AFTER_MS = [0, 50, 3_000, 20_000];

export interface StoreParts {
  readonly process: Process;
  readonly data: MemoryData;
  readonly exclusive: boolean;
  readonly chance: Chance;
  readonly faults: Injector;
  /** A write was stored. */
  onWrite(process: Process, write: Write, entries: readonly Entry[]): void;
  /** A request was put into an inbox. */
  onSend(message: InboxRow): void;
  /** A write has got moments of rates. */
  onRates(executionId: string, moments: readonly { readonly node: string; readonly at: number }[]): void;
  onSnapshot(process: Process, executionId: string, snapshot: SnapshotRow): Promise<void>;
  /** A run was deleted. `frames`: the number of its frames. */
  onDeleted(executionId: string, frames: number): void;
  /** A signal was published, and given to this run. */
  onPublished(signal: PublishedSignal, executionId: string | undefined): void;
}

type Call = (...args: never[]) => Promise<unknown>;

export function faultyStore(parts: StoreParts): Store {
  const store = memoryStore(parts);
  const own: Partial<Store> = {
    append: (writes) => append(parts, store, writes),
    watch: (watcher) => watch(parts, store, watcher),
    saveSnapshot: asked(parts, 'saveSnapshot', async (...snapshot: Parameters<Store['saveSnapshot']>) => {
      await parts.onSnapshot(parts.process, ...snapshot);
      await store.saveSnapshot(...snapshot);
    }) as Store['saveSnapshot'],
    deleteExecution: asked(parts, 'deleteExecution', async (executionId: string) => {
      const frames = parts.data.runs.get(executionId)?.frames.length ?? 0;
      const isDeleted = await store.deleteExecution(executionId);
      if (isDeleted) parts.onDeleted(executionId, frames);
      return isDeleted;
    }) as Store['deleteExecution'],
    publish: asked(parts, 'publish', async (signal: PublishedSignal) => {
      const executionId = await store.publish(signal);
      parts.onPublished(signal, executionId);
      return executionId;
    }) as Store['publish'],
    send: asked(parts, 'send', (...message: Parameters<Store['send']>) =>
      send(parts, store, ...message),
    ) as Store['send'],
  };
  // Methods are wrapped once: an engine calls them a thousand times.
  const methods = new Map<string | symbol, unknown>();
  return new Proxy(store, {
    get: (target, key) => {
      if (methods.has(key)) return methods.get(key);
      const value = (Reflect.get(own, key) ?? Reflect.get(target, key)) as unknown;
      const isPlain = typeof value !== 'function' || key in own;
      const method = isPlain ? value : asked(parts, String(key), (value as Call).bind(target) as Call);
      methods.set(key, method);
      return method;
    },
  });
}

async function append(parts: StoreParts, store: Store, writes: readonly Write[]): Promise<readonly WriteOutcome[]> {
  const { process } = parts;
  const entries = writes.map(({ frame }) => (frame === undefined ? [] : (JSON.parse(frame.entries) as Entry[])));
  const targets = entries.map((one) => ({ entries: one }));
  return process.during(targets, () => appendEntries(parts, store, writes, entries));
}

async function appendEntries(
  parts: StoreParts,
  store: Store,
  writes: readonly Write[],
  entries: readonly Entry[][],
): Promise<readonly WriteOutcome[]> {
  const { process, chance, faults } = parts;
  const targets = (): Target[] => entries.map((one) => ({ entries: one }));
  if (faults.strikes('append delayed', targets)) await process.later(chance.pick(DELAYS_MS));
  const outcomes = await process.call('store.append', async () => {
    if (faults.strikes('append refused', targets)) throw new Error('the store takes nothing');
    if (faults.strikes('append conflict', targets)) return writes.map(() => ({ ok: false }) as const);
    const written = await store.append(writes);
    for (const [index, outcome] of written.entries()) {
      const write = writes[index] as Write;
      if (!outcome.ok) continue;
      parts.onWrite(process, write, entries[index] as Entry[]);
      const rates = (write.permits?.rates ?? []).map(({ node }, at) => ({ node, at: outcome.rates?.[at] ?? 0 }));
      if (rates.length > 0) parts.onRates(write.executionId, rates);
    }
    for (const name of startedIn(writes, entries)) process.granted.add(name);
    return written;
  });
  if (faults.strikes('answer delayed', targets))
    await process.call('store.append', () => process.later(chance.pick(DELAYS_MS)));
  // A granted attempt begins at once when the answer arrives, or never.
  process.world.soon(() => process.granted.clear());
  if (faults.strikes('answer lost', targets)) throw new Error('the connection broke');
  return outcomes;
}

async function send(parts: StoreParts, store: Store, message: InboxRow, wakeAt: number): Promise<boolean> {
  const { process, chance, faults, data, exclusive } = parts;
  if (faults.strikes('request repeated', () => [message])) {
    const other = memoryStore({ data, exclusive });
    void process.later(chance.pick(REPEATED_AFTER_MS)).then(async () => {
      if (await other.send(message, wakeAt)) parts.onSend(message);
    });
  }
  const isKnown = await store.send(message, wakeAt);
  if (isKnown) parts.onSend(message);
  return isKnown;
}

function watch({ process, faults, data }: StoreParts, store: Store, watcher: () => void): () => void {
  const heard = process.callback('store.watch', watcher);
  // The hint is about the newest write.
  const targets = (): Target[] => data.journal.slice(-1);
  return store.watch(() => {
    if (faults.strikes('hint lost', targets)) return;
    heard();
    if (faults.strikes('hint repeated', targets)) heard();
  });
}

/** Wraps any other call. */
function asked({ process, chance, faults }: StoreParts, name: string, work: Call): Call {
  return async (...args) => {
    const run = runIn(args[0]);
    const targets = run === undefined ? [] : [{ executionId: run }];
    if (name === 'heartbeat') noteWorker(process, args[0] as unknown as readonly WorkerLease[]);
    return process.during(targets, async () => {
      if (faults.strikes('call delayed', process.targets)) await process.later(chance.pick(DELAYS_MS));
      return process.call(`store.${name}`, async () => {
        if (faults.strikes('call refused', process.targets)) throw new Error(`${name} is not possible now`);
        return work(...args);
      });
    });
  };
}

/** Leases of remote workers do not belong to the process. */
function noteWorker(process: Process, leases: readonly WorkerLease[]): void {
  for (const { worker } of leases) if (!isLease(worker)) process.workerId = worker;
}

function runIn(argument: unknown): string | undefined {
  if (typeof argument === 'string' && argument.startsWith('exe_')) return argument;
  if (typeof argument !== 'object' || argument === null || !('executionId' in argument)) return undefined;
  return String(argument.executionId);
}

/** Names of the nodes whose attempts these writes start. */
function startedIn(writes: readonly Write[], entries: readonly (readonly Entry[])[]): string[] {
  return writes.flatMap(({ executionId }, index) =>
    (entries[index] ?? []).flatMap((entry) =>
      entry.type === 'node.started' ? [workName(executionId, entry.node)] : [],
    ),
  );
}
