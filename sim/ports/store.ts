/** The store as one process sees it. */
import type { Entry } from '@nebula/core';
import { type MemoryData, memoryStore } from '@nebula/drivers/memory';
import type { InboxRow, Store, WorkerLease, Write, WriteOutcome } from '@nebula/ports';
import type { Chance } from '../chance.ts';
import type { Coverage } from '../coverage.ts';
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
  readonly coverage: Coverage;
  /** A write was stored. */
  onWrite(process: Process, write: Write, entries: readonly Entry[]): void;
  /** A request was put into an inbox. */
  onSend(message: InboxRow): void;
}

type Call = (...args: never[]) => Promise<unknown>;

export function faultyStore(parts: StoreParts): Store {
  const store = memoryStore(parts);
  const own: Partial<Store> = {
    append: (writes) => append(parts, store, writes),
    watch: (watcher) => watch(parts, store, watcher),
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
  const { process, chance, faults, coverage } = parts;
  const runs = writes.map(({ executionId }) => executionId);
  const entries = writes.map(({ frame }) => (frame === undefined ? [] : (JSON.parse(frame.entries) as Entry[])));
  for (const executionId of runs) process.runs.add(executionId);
  if (faults.strikes('append delayed', runs)) await process.later(chance.pick(DELAYS_MS));
  const outcomes = await process.call('store.append', async () => {
    if (faults.strikes('append refused', runs)) throw new Error('the store takes nothing');
    if (faults.strikes('append conflict', runs)) return writes.map(() => ({ ok: false }) as const);
    const written = await store.append(writes);
    written.forEach(({ ok }, index) => {
      if (ok) parts.onWrite(process, writes[index] as Write, entries[index] as Entry[]);
    });
    for (const name of startedIn(writes, entries)) process.granted.add(name);
    return written;
  });
  const direct = outcomes.flatMap(({ ok }, index) => (ok ? (entries[index] as Entry[]) : []));
  if (faults.strikes('answer delayed', runs)) {
    coverage.metBy('answer delayed', direct);
    await process.call('store.append', () => process.later(chance.pick(DELAYS_MS)));
  }
  // A granted attempt begins at once when the answer arrives, or never.
  process.world.soon(() => process.granted.clear());
  if (faults.strikes('answer lost', runs)) {
    coverage.metBy('answer lost', direct);
    throw new Error('the connection broke');
  }
  return outcomes;
}

async function send(parts: StoreParts, store: Store, message: InboxRow, wakeAt: number): Promise<boolean> {
  const { process, chance, faults, data, exclusive } = parts;
  if (faults.strikes('request repeated', process.runs)) {
    const other = memoryStore({ data, exclusive });
    void process.later(chance.pick(REPEATED_AFTER_MS)).then(async () => {
      if (await other.send(message, wakeAt)) parts.onSend(message);
    });
  }
  const isKnown = await store.send(message, wakeAt);
  if (isKnown) parts.onSend(message);
  return isKnown;
}

function watch({ process, faults }: StoreParts, store: Store, watcher: () => void): () => void {
  const heard = process.callback('store.watch', watcher);
  return store.watch(() => {
    if (faults.strikes('hint lost', process.runs)) return;
    heard();
    if (faults.strikes('hint repeated', process.runs)) heard();
  });
}

/** Wraps any other call. */
function asked({ process, chance, faults }: StoreParts, name: string, work: Call): Call {
  return async (...args) => {
    const run = runIn(args[0]);
    if (run !== undefined) process.runs.add(run);
    const runs = run === undefined ? process.runs : [run];
    if (name === 'heartbeat') noteWorker(process, args[0] as unknown as readonly WorkerLease[]);
    if (faults.strikes('call delayed', runs)) await process.later(chance.pick(DELAYS_MS));
    return process.call(`store.${name}`, async () => {
      if (faults.strikes('call refused', runs)) throw new Error(`${name} is not possible now`);
      return work(...args);
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
