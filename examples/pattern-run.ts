/** An example of a pattern on the real engine: built-in actions, drivers in memory, and a clock that the test moves. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { builtinActions } from '@nebula/actions';
import { compileSource, createCatalog, type Json, parseDuration, type RunDocument, renderProblems } from '@nebula/core';
import {
  memoryBlobs,
  memoryLogs,
  memoryQueue,
  memoryStore,
  seededRandom,
  type VirtualClock,
  virtualClock,
} from '@nebula/drivers/memory';
import { sha256 } from '@nebula/drivers/real';
import { createInProcessSandbox } from '@nebula/drivers/sandbox-inprocess';
import { createEngine, type Engine, type JournalFrame } from '@nebula/engine';

export const PATTERNS_DIR = path.join(import.meta.dirname, 'patterns');
const START_MS = 1_700_000_000_000;
/** How attempts end. */
const ENDS: Readonly<Record<string, string>> = {
  'node.completed': '',
  'node.failed': ' failed',
  'node.cancelled': ' cancelled',
};

export class PatternRun {
  private readonly engine: Engine;
  private readonly clock: VirtualClock;
  private readonly executionId: string;
  private document!: RunDocument;
  /** The nodes that ran an action, in the order of starting: `pack 2s–5s`, `pack 2s–3s cancelled`, `pack 2s–`. */
  attempts: readonly string[] = [];
  /** Statuses of all runs, children included, the newest first. */
  runs: readonly string[] = [];

  private constructor(engine: Engine, clock: VirtualClock, executionId: string) {
    this.engine = engine;
    this.clock = clock;
    this.executionId = executionId;
  }

  static async start(file: string, input: Json = {}): Promise<PatternRun> {
    const definition = definitionIn(file);
    const clock = virtualClock(START_MS);
    const engine = openEngine(clock);
    await meanwhile(clock, engine.open());
    const { workflowId, version } = await engine.register(definition);
    const executionId = await meanwhile(clock, engine.start(workflowId, version, { input }));
    return new PatternRun(engine, clock, executionId).advance(0);
  }

  get status(): string {
    return this.document.status;
  }

  get output(): Json {
    return this.document.output;
  }

  /** By path; iterations of loops that went well are not kept. */
  get nodes(): Readonly<Record<string, string>> {
    return Object.fromEntries(Object.entries(this.document.nodes).map(([node, { status }]) => [node, status]));
  }

  async advance(duration: string | number): Promise<this> {
    const ms = typeof duration === 'number' ? duration : parseDuration(duration);
    if (typeof ms !== 'number') throw new Error(`${duration} is not a duration`);
    await this.clock.advance(ms);
    const document = await this.engine.document(this.executionId);
    if (document === undefined) throw new Error('the run is gone');
    this.document = document;
    this.attempts = attemptsIn(await this.engine.journal(this.executionId));
    this.runs = (await this.engine.list({ limit: 50 })).rows.map(({ status }) => status);
    return this;
  }

  signal(signal: string, payload: Json = null): Promise<this> {
    return this.ask(this.engine.requestSignal(this.executionId, { signal, payload }));
  }

  call(node: string, payload: Json): Promise<this> {
    return this.ask(this.engine.requestCallback(this.executionId, node, payload));
  }

  /** The whole run, or one node with all that is in it. */
  cancel(node?: string): Promise<this> {
    return this.ask(this.engine.requestCancel(this.executionId, 'not needed', { ...(node !== undefined && { node }) }));
  }

  private async ask(request: Promise<unknown>): Promise<this> {
    await meanwhile(this.clock, request);
    return this.advance(0);
  }
}

function openEngine(clock: VirtualClock): Engine {
  const drivers = {
    store: memoryStore({ exclusive: true }),
    queue: memoryQueue({ clock }),
    blobs: memoryBlobs(),
    logs: memoryLogs(),
    sandbox: createInProcessSandbox({ projectDir: PATTERNS_DIR, clock }),
    clock,
    random: seededRandom(7, () => clock.now()),
    digest: sha256,
  };
  return createEngine(drivers, { actions: builtinActions, concurrency: 20 });
}

/** Lets the engine take its turns without advancing the clock. */
async function meanwhile<T>(clock: VirtualClock, request: Promise<T>): Promise<T> {
  const outcome = request.then(
    (value) => () => value,
    (error: unknown) => () => {
      throw error;
    },
  );
  await clock.advance(0);
  return (await outcome)();
}

/** Treats warnings as errors. */
function definitionIn(file: string): Json {
  const text = readFileSync(path.join(PATTERNS_DIR, file), 'utf8');
  const { definition, problems } = compileSource(text, createCatalog(builtinActions), { file });
  if (definition === undefined || problems.length > 0) throw new Error(renderProblems(problems, { file, text }));
  return definition as unknown as Json;
}

interface Attempt {
  readonly node: string;
  readonly from: number;
  end: string;
}

function attemptsIn(frames: readonly JournalFrame[]): string[] {
  const all: Attempt[] = [];
  const open = new Map<string, Attempt>();
  for (const { at, entries } of frames) {
    for (const entry of entries) {
      if (entry.type === 'node.started') {
        const attempt = { node: entry.node, from: at, end: '' };
        all.push(attempt);
        open.set(entry.node, attempt);
      } else if (entry.type in ENDS && 'node' in entry) {
        const attempt = open.get(entry.node);
        if (attempt !== undefined) attempt.end = `${seconds(at)}${ENDS[entry.type]}`;
        open.delete(entry.node);
      }
    }
  }
  return all.map(({ node, from, end }) => `${node} ${seconds(from)}–${end}`);
}

function seconds(at: number): string {
  return `${(at - START_MS) / 1_000}s`;
}
