/** A project with an engine that plays a script: for commands without a store, a sandbox or time. */
import { createCatalog, type RunDocument, type TimelineEvent, type WorkflowDefinition } from '@nebula/core';
import { memorySecrets } from '@nebula/drivers/secrets';
import type { Desk, Engine, Explanation, LiveEvent, Settled } from '@nebula/engine';
import type { ExecutionRow, Logs, Secrets, StoredLogLine } from '@nebula/ports';
import { runCommandLine } from '../../src/main.ts';
import type { EngineSession, Project, Services } from '../../src/services.ts';
import { type MemoryIo, memoryIo } from './screen-text.ts';

export interface Script {
  readonly definition?: WorkflowDefinition;
  readonly documents?: readonly RunDocument[];
  readonly rows?: readonly ExecutionRow[];
  readonly next?: string | null;
  /** Sent to listeners when the engine is opened. */
  readonly events?: readonly LiveEvent[];
  readonly settled?: (executionId: string) => Promise<Settled>;
  readonly timeline?: readonly TimelineEvent[];
  readonly explanation?: Explanation;
  readonly logs?: readonly StoredLogLine[];
  readonly project?: Partial<Project>;
  readonly secrets?: Secrets;
  readonly onOpenProject?: () => void;
}

export interface Played {
  readonly exitCode: number;
  readonly io: MemoryIo;
  /** Names of the engine's and the desk's methods that were called, with their arguments. */
  readonly calls: readonly (readonly unknown[])[];
}

/** Runs one command line against the script. */
export async function play(argv: readonly string[], script: Script = {}, io: MemoryIo = memoryIo()): Promise<Played> {
  const calls: unknown[][] = [];
  const session = fakeSession(script, calls);
  const project: Project = {
    dir: '/p',
    configFile: undefined,
    config: {},
    dataDir: '/p/.nebula',
    needsDataDirOption: false,
    ...script.project,
  };
  const services: Services = {
    openProject: async (options) => {
      script.onOpenProject?.();
      calls.push(['openProject', options]);
      return project;
    },
    actions: async () => [],
    catalog: async () => createCatalog([]),
    openSecrets: async () => script.secrets ?? memorySecrets(),
    openDesk: async () => session,
    openEngine: async () => session,
    openOffice: noServer,
    openServer: noServer,
  };
  const exitCode = await runCommandLine({ io, services, program: 'nebula' }, argv);
  return { exitCode, io, calls };
}

async function noServer(): Promise<never> {
  throw new Error('no server here');
}

function fakeSession(script: Script, calls: unknown[][]): EngineSession {
  const find = (executionId: string) => script.documents?.find((document) => document.executionId === executionId);
  const listeners = new Set<(event: LiveEvent) => void>();
  const note =
    <Result>(name: string, result: (...args: never[]) => Result) =>
    async (...args: never[]): Promise<Awaited<Result>> => {
      calls.push([name, ...args]);
      return await result(...args);
    };
  const desk: Desk = {
    document: note('document', find),
    journal: note('journal', (id: string) =>
      find(id) ? [{ seq: 1, at: 0, position: 1, entries: [{ type: 'run.started' }] }] : [],
    ),
    timeline: note('timeline', () => script.timeline ?? []),
    explain: note('explain', () => script.explanation),
    places: note('places', () => []),
    undoPlan: note('undoPlan', () => ({ toUndo: [], undone: [] })),
    list: note('list', () => ({ rows: script.rows ?? [], next: script.next ?? null })),
    requestCancel: note('requestCancel', () => true),
    requestPause: note('requestPause', () => true),
    requestResume: note('requestResume', () => true),
    requestReplay: note('requestReplay', () => true),
    fork: note('fork', () => 'exe_2'),
    requestSignal: note('requestSignal', () => true),
    publishSignal: note('publishSignal', () => undefined),
    requestAnswer: note('requestAnswer', () => true),
    requestCallback: note('requestCallback', () => true),
    requestRetry: note('requestRetry', () => true),
    requestSettle: note('requestSettle', () => true),
    delete: note('delete', (id: string) => find(id)?.finishedAt !== null),
  };
  const engine: Engine = {
    ...desk,
    open: note('open', () => {
      for (const event of script.events ?? []) for (const listener of listeners) listener(event);
    }),
    register: note('register', () => ({ workflowId: 'w', version: 1, created: true })),
    start: note('start', () => 'exe_1'),
    settled: note('settled', (id: string): Promise<Settled> => {
      if (script.settled !== undefined) return script.settled(id);
      return Promise.resolve({ parked: false, document: find(id) as RunDocument });
    }),
    input: note('input', () => undefined),
    plan: note('plan', () => {
      throw new Error('no plans here');
    }),
    requestCall: note('requestCall', () => 'taken' as const),
    forgetCached: note('forgetCached', () => 0),
    isResting: note('isResting', () => true),
    peek: find,
    on(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    metrics: () => ({ counters: {}, gauges: {}, histograms: {} }),
    announce: () => undefined,
    outside: {
      claim: async () => [],
      extend: note('extend', () => ({ until: 0, cancel: null })),
      log: note('log', () => ({ until: 0, cancel: null })),
      credential: note('credential', () => 'secret'),
      end: note('end', () => undefined),
      stopReason: async () => null,
      running: () => 0,
      workOf: () => [],
    },
    health: () => ({ phase: 'open', wroteAt: 0, trouble: null }),
    trace: () => () => undefined,
    close: note('close', () => undefined),
  };
  return {
    desk,
    engine,
    logs: fakeLogs(script.logs ?? []),
    workflowIds: async () => [],
    definition: async () => script.definition,
    newExecutionId: () => 'exe_1',
    keyedExecutionId: () => 'exe_1',
    close: async () => undefined,
  };
}

function fakeLogs(lines: readonly StoredLogLine[]): Logs {
  const matching = (after: number | undefined) => lines.filter((line) => line.position > (after ?? 0));
  return {
    append: () => undefined,
    flush: async () => undefined,
    read: async (filter) =>
      matching(filter.afterPosition).filter((line) => filter.node === undefined || line.node === filter.node),
    async *follow(filter, signal) {
      yield* matching(filter.afterPosition);
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    },
    deleteExecution: async () => undefined,
    close: async () => undefined,
  };
}
