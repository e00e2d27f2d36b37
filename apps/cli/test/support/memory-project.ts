/** A project with runs in memory and the real engine: executes command lines one after the other, as a user would. */

import { builtinActions } from '@nebula/actions';
import { NebulaClient } from '@nebula/client';
import { type Action, createCatalog, DefinitionChecks, type Json, NebulaError } from '@nebula/core';
import { memoryBlobs, memoryData, memoryLogs, memoryQueue, memoryRecords, memoryStore } from '@nebula/drivers/memory';
import { realClock, realRandom, sha256 } from '@nebula/drivers/real';
import { createInProcessSandbox } from '@nebula/drivers/sandbox-inprocess';
import { memorySecrets } from '@nebula/drivers/secrets';
import { createEngine, createExecutionService, type Engine, type ExecutionService } from '@nebula/engine';
import { ActionError } from '@nebula/sdk';
import { localApi } from '@nebula/server/local';
import { projectsOf } from '@nebula/server/projects';
import { runCommandLine } from '../../src/main.ts';
import type { ApiSession, Project, Purpose, Services } from '../../src/services.ts';
import { type MemoryOutput, memoryIo } from './screen-text.ts';

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface Asking {
  readonly stdin?: string;
  readonly answer?: string;
  readonly out?: MemoryOutput;
}

export class MemoryProject {
  /** Inputs of the action `note`, in order. */
  readonly notes: Json[] = [];
  /** While it is true, `shaky` fails. */
  isShaky = false;
  readonly cwd: string;
  #isOpen = false;
  readonly #data = memoryData();
  readonly #blobs = memoryBlobs();
  readonly #logs = memoryLogs();
  readonly #random = realRandom();
  readonly #secrets = memorySecrets();
  readonly #records = memoryRecords({ clock: realClock });

  constructor(cwd = process.cwd()) {
    this.cwd = cwd;
  }

  async nebula(argv: readonly string[], { stdin, answer, out }: Asking = {}): Promise<Said> {
    const io = memoryIo({
      cwd: this.cwd,
      now: () => Date.now(),
      ...(stdin !== undefined && { stdin }),
      ...(answer !== undefined && { answer }),
      ...(out !== undefined && { out }),
    });
    const code = await runCommandLine({ io, services: this.#services(), program: 'nebula' }, argv);
    return { code, out: io.out.text(), err: io.err.text() };
  }

  /** Runs a workflow that is given as data; the document is in `json`. */
  async run(definition: Json, ...more: string[]): Promise<Said & { readonly json: RunJson }> {
    const said = await this.nebula(['run', '-', '--json', ...more], { stdin: JSON.stringify(definition) });
    return { ...said, json: JSON.parse(said.out) as RunJson };
  }

  async json(...argv: string[]): Promise<RunJson> {
    return JSON.parse((await this.nebula([...argv, '--json'])).out) as RunJson;
  }

  /** An engine beside the commands, as another process would have one: a second one is refused. */
  async besideEngine(work: (engine: Engine) => Promise<void>): Promise<void> {
    const engine = this.#newEngine();
    this.#isOpen = true;
    try {
      await engine.open();
      await work(engine);
    } finally {
      this.#isOpen = false;
      await engine.close();
    }
  }

  readonly #actions: readonly Action[] = [
    ...builtinActions,
    {
      id: 'note',
      version: '1',
      effect: 'idempotent',
      run: (_, input) => {
        this.notes.push(input);
        return input;
      },
    },
    {
      id: 'shaky',
      version: '1',
      effect: 'idempotent',
      run: () => {
        if (this.isShaky) throw new ActionError('not now', { code: 'SHAKY' });
        return 'steady';
      },
    },
  ];

  #services(): Services {
    const project: Project = {
      dir: '/p',
      configFile: undefined,
      config: {},
      dataDir: '/p/.nebula',
      needsDataDirOption: false,
    };
    return {
      openProject: async () => project,
      actions: async () => this.#actions,
      checks: async () => new DefinitionChecks(createCatalog(this.#actions)),
      sandbox: async () => createInProcessSandbox({ projectDir: '/', clock: realClock }),
      rotateKey: async () => undefined,
      backups: {
        verify: () => Promise.reject(new Error('no backups here')),
        restore: () => Promise.reject(new Error('no backups here')),
      },
      openApi: (_, purpose) => this.#openApi(purpose),
      engineHolder: async () => undefined,
      openServer: noServer,
    };
  }

  #keeping() {
    const store = memoryStore({ data: this.#data });
    return { store, blobs: this.#blobs, logs: this.#logs, clock: realClock, random: this.#random, digest: sha256 };
  }

  async #openApi(purpose: Purpose): Promise<ApiSession> {
    if (purpose !== 'work')
      return this.#session(undefined, createExecutionService(this.#keeping(), { actions: this.#actions }));
    const engine = this.#newEngine();
    return this.#session(engine, engine);
  }

  #newEngine(): Engine {
    if (this.#isOpen) {
      throw new NebulaError('STORE_LOCKED', 'The engine with process id 7 on here has been using the data directory.', {
        details: { pid: 7, host: 'here', startedAt: '2026-01-02T03:04:05.000Z' },
      });
    }
    const queue = memoryQueue({ clock: realClock });
    const sandbox = createInProcessSandbox({ projectDir: '/', clock: realClock });
    const drivers = { ...this.#keeping(), queue, sandbox, secrets: this.#secrets };
    return createEngine(drivers, { actions: this.#actions, projects: this.#projects() });
  }

  #projects() {
    return projectsOf({ records: this.#records, store: memoryStore({ data: this.#data }) }, { standard: 'all' });
  }

  #session(engine: Engine | undefined, executions: ExecutionService): ApiSession {
    const [secrets, records] = [this.#secrets, this.#records];
    const parts = { ...this.#keeping(), executions, secrets, records, projects: this.#projects() };
    const local = localApi(parts, engine, () => undefined);
    return {
      api: new NebulaClient(local.transport),
      server: undefined,
      as: () => noServer(),
      work: async (only) => await engine?.open(only === undefined ? {} : { only }),
      onTrouble: () => () => undefined,
      stop: async (grace) => await engine?.close(grace),
      async close() {
        local.close();
        await engine?.close();
      },
    };
  }
}

async function noServer(): Promise<never> {
  throw new Error('no server here');
}

/** The members of the documents that the tests read. */
export interface RunJson {
  readonly executionId: string;
  readonly status: string;
  readonly output: Json;
  readonly error: { readonly code: string } | null;
  readonly nodes: Readonly<Record<string, { readonly status: string; readonly rounds?: Json }>>;
  readonly parent?: Json;
  readonly children?: readonly { readonly node: string; readonly executionId: string; readonly status: string }[];
}
