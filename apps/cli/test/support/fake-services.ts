/** A project whose operations play a script: for commands without a store, a sandbox or time. */
import { NebulaClient, type RequestInput, type Transport } from '@nebula/client';
import {
  createCatalog,
  DefinitionChecks,
  NebulaError,
  type RunDocument,
  type TimelineEvent,
  type WorkflowDefinition,
} from '@nebula/core';
import { memorySecrets } from '@nebula/drivers/secrets';
import type { Explanation, WaitResult } from '@nebula/engine';
import type { ExecutionRow, Secrets, StoredLogLine } from '@nebula/ports';
import { runCommandLine } from '../../src/main.ts';
import type { ApiSession, Project, Services } from '../../src/services.ts';
import { type MemoryIo, memoryIo } from './screen-text.ts';

export interface Script {
  readonly definition?: WorkflowDefinition;
  readonly documents?: readonly RunDocument[];
  readonly rows?: readonly ScriptedRow[];
  /** Runs that cannot be read, because an action is missing. */
  readonly unreadable?: readonly string[];
  readonly next?: string | null;
  /** Sent to followers of a run, after the events of `timeline`. */
  readonly events?: readonly TimelineEvent[];
  readonly waited?: (executionId: string) => Promise<WaitResult>;
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
  /** Operations, and methods of the session, with what they were given. */
  readonly calls: readonly (readonly unknown[])[];
}

/** Runs one command line against the script. */
export async function play(argv: readonly string[], script: Script = {}, io: MemoryIo = memoryIo()): Promise<Played> {
  const calls: unknown[][] = [];
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
    checks: async () => new DefinitionChecks(createCatalog([])),
    sandbox: async () => {
      throw new Error('no sandbox here');
    },
    rotateKey: async () => script.secrets?.rotateKey?.(),
    backups: {
      verify: () => Promise.reject(new Error('no backups here')),
      restore: () => Promise.reject(new Error('no backups here')),
    },
    openApi: async () => fakeSession(script, calls),
    engineHolder: async () => undefined,
    openServer: async () => {
      throw new Error('no server here');
    },
  };
  const exitCode = await runCommandLine({ io, services, program: 'nebula' }, argv);
  return { exitCode, io, calls };
}

function fakeSession(script: Script, calls: unknown[][]): ApiSession {
  return {
    api: new NebulaClient(fakeTransport(script, calls)),
    server: undefined,
    as: async () => fakeSession(script, calls),
    work: async (only) => void calls.push(['work', only]),
    onTrouble: () => () => undefined,
    stop: async (options) => void calls.push(['stop', options]),
    close: async () => undefined,
  };
}

const isoTime = <T extends { readonly at: number }>(event: T) => ({ ...event, at: new Date(event.at).toISOString() });

function fakeTransport(script: Script, calls: unknown[][]): Transport {
  return {
    url: '',
    bytes: () => Promise.reject(new Error('no values here')),
    download: () => Promise.reject(new Error('no values here')),
    async json(operation, input) {
      calls.push([operation, input]);
      return await answerOf(script, operation, input);
    },
    async *follow(operation) {
      if (operation === 'followLogs') yield* (script.logs ?? []).map(isoTime);
      else yield* [...(script.timeline ?? []), ...(script.events ?? [])].map(isoTime);
    },
  };
}

async function answerOf(
  script: Script,
  operation: string,
  { params, query, body: given }: RequestInput,
): Promise<unknown> {
  const body = given as { readonly value: string } | undefined;
  const executionId = String(params?.['executionId']);
  const document = script.documents?.find((one) => one.executionId === executionId);
  const page = (items: readonly unknown[]) => ({ items, next: null });
  if (params?.['executionId'] !== undefined && document === undefined) {
    throw new NebulaError('UNKNOWN_EXECUTION', `There is no execution ${executionId}.`);
  }
  if (script.unreadable?.includes(executionId)) {
    throw new NebulaError('PLAN_INVALID', `Workflow 'w' cannot run here: there is no action 'gone'`);
  }
  switch (operation) {
    case 'getExecution':
      return document;
    case 'getResult':
      return { executionId, status: document?.status, ended: document?.finishedAt !== null };
    case 'awaitRest':
      return waitForRun((await script.waited?.(executionId)) ?? { parked: false, document: document as RunDocument });
    case 'listExecutions':
      return { items: (script.rows ?? []).map(rowOf), next: script.next ?? null };
    case 'getJournal':
      return page([{ seq: 1, at: new Date(0).toISOString(), position: 1, entries: [{ type: 'run.started' }] }]);
    case 'listAttempts':
      return { items: [], next: null };
    case 'getTimeline':
      return page((script.timeline ?? []).map(isoTime));
    case 'explainExecution':
      if (script.explanation !== undefined) return script.explanation;
      throw new NebulaError('UNKNOWN_NODE', 'There is no such node.');
    case 'listLogs': {
      const after = Number(query?.['after'] ?? 0);
      const isMeant = (line: StoredLogLine): boolean =>
        line.position > after && (query?.['node'] === undefined || line.node === query['node']);
      return page((script.logs ?? []).filter(isMeant).map(isoTime));
    }
    case 'getDefinition':
    case 'getWorkflowVersion':
      if (script.definition !== undefined) return { version: 1, definition: script.definition };
      throw new NebulaError('UNKNOWN_WORKFLOW', 'There is no such workflow.');
    case 'getMe':
      return { kind: 'token', user: 'owner' };
    case 'listSecrets':
    case 'putSecret':
    case 'deleteSecret':
      return await callSecrets(
        script.secrets ?? memorySecrets(),
        operation,
        String(params?.['name']),
        body?.value ?? '',
      );
    case 'deleteExecution':
      return null;
    default:
      return { executionId, accepted: true };
  }
}

async function callSecrets(secrets: Secrets, operation: string, name: string, value: string): Promise<unknown> {
  if (operation === 'putSecret') await secrets.set(name, value);
  if (operation === 'deleteSecret' && !(await secrets.delete(name))) {
    throw new NebulaError('UNKNOWN_SECRET', `There is no secret '${name}'.`);
  }
  if (operation !== 'listSecrets') return null;
  const items = (await secrets.list()).map(({ name, updatedAt }) => {
    return { name, updatedAt: updatedAt === null ? null : new Date(updatedAt).toISOString() };
  });
  return { items, next: null };
}

function waitForRun(result: WaitResult) {
  const { parked, document } = result;
  const waitingFor = parked ? result.waitingFor : [];
  return { settled: true, parked, resting: parked, waitingFor, inside: [], execution: document };
}

const MEMBERS = {
  trigger: null,
  startedAt: null,
  parent: null,
  errorCode: null,
  errorNode: null,
  errorMessage: null,
} as const;

/** A row whose newer members may be left out. */
export type ScriptedRow = Omit<ExecutionRow, keyof typeof MEMBERS> & Partial<Pick<ExecutionRow, keyof typeof MEMBERS>>;

function rowOf({ owner: _, expiresAt: __, ...row }: ScriptedRow) {
  const time = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
  return {
    ...MEMBERS,
    durationMs: null,
    error: null,
    ...row,
    createdAt: time(row.createdAt),
    finishedAt: time(row.finishedAt),
    wakeAt: time(row.wakeAt),
  };
}
