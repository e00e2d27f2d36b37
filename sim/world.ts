/**
 * A cluster in one process: engines on one store, people with requests, and everything that can fail between them.
 *
 *  1 Data, blobs, the shared queue and the external world outlive the processes; nothing else does.
 *  2 Everything that is not given comes from one seed: the same seed is the same life, word for word.
 *  3 `heal` ends all faults; everything unfinished must then end.
 */
import { announcedAction, type Entry, type Json, type Plan } from '@nebula/core';
import type { Settlement } from '@nebula/core/run';
import { memoryBlobs, memoryData, memoryQueue, seededRandom } from '@nebula/drivers/memory';
import { sha256 } from '@nebula/drivers/real';
import { createInProcessSandbox } from '@nebula/drivers/sandbox-inprocess';
import { createEngine } from '@nebula/engine';
import { type Blobs, DEFAULT_PROJECT, type InboxRow, type SnapshotRow, type Write } from '@nebula/ports';
import { Chance } from './chance.ts';
import { worldClock } from './clock.ts';
import { Coverage } from './coverage.ts';
import { type AttemptContext, type Course, ExternalWorld, randomCourse, workName } from './external-world.ts';
import { Follower } from './follower.ts';
import { Injector } from './injector.ts';
import { isLease } from './leases.ts';
import { Oracle } from './oracle.ts';
import { edgedDigest, edgedLogs, edgedQueue, edgedSandbox, faultyBlobs } from './ports/edge.ts';
import { Broker } from './ports/queue.ts';
import { faultyStore } from './ports/store.ts';
import { Process } from './process.ts';
import { FAR, SKILLS } from './skills.ts';
import { Wire } from './wire.ts';
import { Worker } from './worker.ts';

const BEGIN = 1_700_000_000_000;
/** The longest time that anything is delayed or paused. */
const CALM_AFTER_MS = 60_000;
const INLINE_LIMIT_BYTES = 400;

export interface WorldOptions {
  readonly seed: number;
  /** Engines that share the data; a single one has it for itself. */
  readonly engines: number;
  /** All engines are served by one queue, or each has its own. */
  readonly sharesQueue: boolean;
  /** Remote workers. */
  readonly workers: number;
  readonly calm: number;
  /** Finished runs expire after this time; never by default. */
  readonly retentionMs?: number | null;
  /** How much a journal grows before its run gets a snapshot; null: no run gets one. */
  readonly snapshotMinBytes?: readonly (number | null)[];
  readonly crashAt?: number | undefined;
  readonly courseOf?: (context: AttemptContext, input: Json, calls: number) => Course;
  /** Keeps a trace of all events, in words. */
  readonly keepsTrace?: boolean;
  /** Plans that another world compiled of the same workflows. */
  readonly compiled?: Map<string, Plan>;
}

export class World {
  readonly chance: Chance;
  readonly clock = worldClock(BEGIN);
  readonly data = memoryData();
  readonly coverage = new Coverage();
  /** Counts what `say` is told, with and without a trace. */
  events = 0;
  readonly trace: string[] = [];
  readonly faults: Injector;
  readonly oracle: Oracle;
  readonly follower: Follower;
  readonly externalWorld: ExternalWorld;
  readonly broker: Broker;
  readonly slots: (Process | undefined)[];
  /** Remote workers. */
  readonly workers: (Worker | undefined)[];
  private readonly wire: Wire;
  /** Runs that the store has had. */
  readonly created = new Set<string>();
  readonly options: WorldOptions;
  private readonly random;
  private readonly blobs: Blobs;
  /** Compiling each workflow for each new process would take a fifth of a life. */
  private readonly compiled: Map<string, Plan>;
  private born = 0;
  private hired = 0;
  /** Everything that was under way when all faults ended is over at this time. */
  private calmFrom = Number.POSITIVE_INFINITY;

  constructor(options: WorldOptions) {
    this.options = options;
    this.compiled = options.compiled ?? new Map();
    const { calm, crashAt } = options;
    this.chance = new Chance(options.seed);
    const { chance, clock, coverage } = this;
    this.random = seededRandom(chance.below(2 ** 31), () => clock.now());
    this.faults = new Injector({
      chance,
      coverage,
      calm,
      crashAt,
      now: () => clock.now(),
      events: () => this.events,
      say: (what) => this.say('   ', what),
      violated: (what) => this.oracle.violated(what),
    });
    const stored = memoryBlobs();
    this.blobs = { ...stored, put: (...blob) => this.remember(blob[1], blob[2], () => stored.put(...blob)) };
    const { faults } = this;
    this.oracle = new Oracle({
      data: this.data,
      blobs: stored,
      externalWorld: () => this.externalWorld,
      isAlone: options.engines === 1,
      isCalm: () => clock.now() > this.calmFrom,
      retentionMs: options.retentionMs ?? null,
      projectOf,
    });
    this.follower = new Follower({
      chance: chance.stream('follower'),
      isDeleted: (executionId) => this.oracle.storage.isDeleted(executionId),
      complain: (what) => this.oracle.violated(what),
    });
    this.externalWorld = new ExternalWorld({
      faults,
      chance,
      largeBytes: 2 * INLINE_LIMIT_BYTES,
      say: (process, what) => this.say(process.name, what),
      courseOf: options.courseOf ?? ((context) => randomCourse(chance, faults, context)),
      onCall: (call) => this.oracle.onCall(call),
    });
    this.broker = new Broker(clock, chance, faults);
    this.slots = Array.from({ length: options.engines }, () => undefined);
    this.workers = Array.from({ length: options.workers }, () => undefined);
    this.wire = new Wire({ clock, chance, faults });
  }

  /** Processes that are neither dead nor about to be. */
  living(): Process[] {
    return this.slots.filter((process) => process !== undefined && process.endedAt === undefined) as Process[];
  }

  /** Replaces a process that is gone. */
  open(index: number): void {
    if (this.slots[index] !== undefined) return;
    const process = new Process({
      name: `p${++this.born}`,
      world: this.clock,
      chance: this.chance,
      faults: this.faults,
      say: (what) => this.say(process.name, what),
      onDeath: (dead) => {
        if (this.slots[index] === dead) this.slots[index] = undefined;
      },
    });
    this.slots[index] = process;
    this.say(process.name, 'opens');
    process.engine = this.engineOf(process);
    process.engine.on((event) => {
      if (process.isDead) return;
      if (event.type === 'fault' && !this.oracle.storage.isDeleted(event.executionId))
        this.oracle.violated(`${event.executionId} is put aside: ${String(event.error)}`);
      if (event.type === 'finished') this.oracle.onFinished(event.document);
    });
    // An engine that cannot open is a process that ends.
    process.engine.open().catch(() => process.kill());
  }

  /** Replaces a worker that is gone. At least one worker has all skills. */
  hire(index: number): void {
    if (this.workers[index] !== undefined) return;
    const { chance, faults, clock, wire, externalWorld, oracle } = this;
    const worker: Worker = new Worker({
      name: `w${++this.hired}`,
      clock,
      chance,
      faults,
      wire,
      externalWorld,
      leases: oracle.leases,
      skills: index === 0 ? SKILLS.all : chance.pick([SKILLS.all, SKILLS.some]),
      living: () => this.living(),
      say: (what) => this.say(worker.name, what),
      onDeath: () => {
        this.workers[index] = undefined;
      },
    });
    this.workers[index] = worker;
    this.say(worker.name, 'asks for work');
    externalWorld.welcome(worker);
    void worker.open();
  }

  /** Asks a process to stop; it is dead when it has, or when it takes too long. */
  close(index: number): void {
    const process = this.slots[index];
    if (process === undefined || process.endedAt !== undefined) return;
    process.endedAt = this.clock.now();
    const end = (): void => process.kill();
    process.engine.close({ graceMs: this.chance.pick([0, 100, 3_000]) }).then(end, end);
    this.clock.timer(30_000, end);
  }

  /** Lets the lease of a process expire without its knowledge. */
  stealLease(index: number): void {
    const process = this.slots[index];
    if (process?.workerId === undefined) return;
    if (this.data.workers.has(process.workerId)) this.data.workers.set(process.workerId, 0);
  }

  /** Ends all faults. */
  heal(): void {
    this.say('   ', 'healed');
    this.faults.isOver = true;
    this.calmFrom = this.clock.now() + CALM_AFTER_MS;
    for (const process of this.living()) process.heal();
    for (const worker of this.workers) worker?.heal();
    this.externalWorld.heal();
    this.broker.heal();
  }

  /** The settlement that a person would give for a node of unknown outcome; undefined while it is too early to tell. */
  settlementOf(executionId: string, node: string): Settlement | undefined {
    const key = `${executionId}:${node}:${this.oracle.journal(executionId).generationOf(node)}`;
    const truth = this.externalWorld.truth(executionId, node, key);
    if (truth === undefined) return undefined;
    if (truth !== false) return truth;
    const isPatient = this.faults.isOver || this.options.calm === Number.POSITIVE_INFINITY;
    return { happened: false, then: isPatient ? 'retry' : this.chance.pick(['retry', 'retry', 'fail']) };
  }

  say(who: string, what: string): void {
    this.events++;
    if (this.options.keepsTrace !== true) return;
    const seconds = ((this.clock.now() - BEGIN) / 1_000).toFixed(3);
    this.trace.push(`${seconds.padStart(9)}  ${who.padEnd(4)} ${what}`);
  }

  private engineOf(process: Process): Process['engine'] {
    const { chance, faults, data, clock } = this;
    const exclusive = this.options.engines === 1;
    const store = faultyStore({
      process,
      data,
      exclusive,
      chance,
      faults,
      onWrite: (writer, write, entries) => this.onWrite(writer, write, entries),
      onSend: (message) => this.onSend(process, message),
      onSnapshot: (writer, executionId, snapshot) => this.onSnapshot(writer, executionId, snapshot),
      onRates: (executionId, moments) => this.oracle.onRates(executionId, moments),
      onDeleted: (executionId, frames) => {
        this.say(process.name, `deletes ${executionId}`);
        this.oracle.storage.onDeleted(executionId, frames);
      },
      onPublished: (signal, executionId) => {
        this.say(process.name, `publishes ${signal.body}, for ${executionId ?? 'anybody'}`);
        this.oracle.onPublished(signal, executionId);
      },
    });
    process.store = store;
    const local = (): ReturnType<typeof memoryQueue> => memoryQueue({ clock: process.clock });
    const drivers = {
      store,
      queue: this.options.sharesQueue ? this.broker.seenBy(process) : edgedQueue(process, local()),
      blobs: faultyBlobs(process, this.blobs, chance, faults),
      logs: edgedLogs(process),
      sandbox: edgedSandbox(
        process,
        createInProcessSandbox({ projectDir: '/', clock }),
        this.externalWorld.actionsOf(process, () => process.workerId),
      ),
      clock: process.clock,
      random: this.random,
      digest: edgedDigest(process, sha256),
    };
    return createEngine(drivers, {
      actions: this.externalWorld.declared,
      announced: this.workers.length === 0 ? [] : [announcedAction({ id: FAR, version: '1', effect: 'idempotent' })],
      compiled: this.compiled,
      concurrency: 1 + chance.below(4),
      inlineLimitBytes: INLINE_LIMIT_BYTES,
      maxCachedRuns: chance.pick([2, 100]),
      retentionMs: this.options.retentionMs ?? null,
      snapshotMinBytes: chance.pick(this.options.snapshotMinBytes ?? [null]) ?? Number.POSITIVE_INFINITY,
      projects: { projectOf: async (workflowId) => projectOf(workflowId), ceilingOf: async () => 'all' },
      // With 0 every step of a run is a slice of its own.
      sliceMs: process.name.endsWith('1') ? 0 : 10,
    });
  }

  private onWrite(process: Process, write: Write, entries: readonly Entry[]): void {
    const { executionId, frame, wakeAt } = write;
    if (this.options.keepsTrace === true) {
      const wake = wakeAt === undefined ? '' : ` wakes ${wakeAt === null ? 'never' : (wakeAt - BEGIN) / 1_000}`;
      this.say(process.name, `writes ${executionId} ${frame?.seq ?? '-'} ${entries.map(inWords).join(', ')}${wake}`);
    }
    this.coverage.written(executionId, entries);
    this.onGrants(process, executionId, entries);
    if (write.create !== undefined) this.create(executionId);
    if (frame !== undefined) this.follower.onFrame({ executionId, seq: frame.seq, entries: frame.entries });
    this.oracle.storage.onPermits((write.permits?.requests ?? []).map(({ key }) => key));
    // Messages of a run to its children are written with its frame.
    for (const message of write.sends ?? []) this.onSend(process, message);
    this.oracle.onFrame(write, entries, this.clock.now());
  }

  private create(executionId: string): void {
    if (this.created.has(executionId)) this.oracle.violated(`${executionId} was deleted, and is created again`);
    this.created.add(executionId);
  }

  /** The plan is in the memory of the engine that has the run: the store is not read. */
  private async onSnapshot(process: Process, executionId: string, snapshot: SnapshotRow): Promise<void> {
    const row = this.data.runs.get(executionId)?.row;
    if (row === undefined) return;
    this.say(process.name, `takes a snapshot of ${executionId} ${snapshot.seq}`);
    this.oracle.onSnapshot(await process.engine.plan(row.workflowId, row.version), executionId, snapshot);
  }

  /** A worker that asks this process for work may be about to get it. */
  private onGrants(process: Process, executionId: string, entries: readonly Entry[]): void {
    const asking = this.workers.filter((worker) => worker?.asks === process);
    if (asking.length === 0) return;
    for (const entry of entries) {
      if (entry.type !== 'node.started' || !isLease(entry.worker)) continue;
      for (const worker of asking) worker?.granted.add(workName(executionId, entry.node));
    }
  }

  private onSend(process: Process, { executionId, messageId, body }: InboxRow): void {
    this.say(process.name, `asks ${executionId} ${body}`);
    this.oracle.onSend(executionId, messageId, JSON.parse(body));
  }

  private remember(name: string, data: Uint8Array, put: () => Promise<void>): Promise<void> {
    this.oracle.texts.set(name, JSON.parse(new TextDecoder().decode(data)) as Json);
    return put();
  }
}

function inWords(entry: Entry): string {
  const which = ['node', 'nodes', 'scope', 'signal', 'status'].flatMap((key) => {
    const value = (entry as unknown as Record<string, unknown>)[key];
    return value === undefined ? [] : [String(value)];
  });
  const attempt = 'attempt' in entry ? `#${entry.attempt}` : '';
  const error = 'error' in entry && entry.error ? ` (${entry.error.code})` : '';
  const outcome = 'outcome' in entry ? ` ${entry.outcome}` : '';
  const more = entry.type === 'run.reopened' ? ` open ${entry.open ?? ''} renewed ${entry.renewed ?? ''}` : '';
  return `${entry.type} ${which.join(' ')}${attempt}${outcome}${error}${more}`;
}

/** Workflows whose name begins with this belong to a project of their own. */
const FOREIGN = 'foreign';

function projectOf(workflowId: string): string {
  return workflowId.startsWith(FOREIGN) ? FOREIGN : DEFAULT_PROJECT;
}
