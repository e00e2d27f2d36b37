/** What commands need of the world, as an interface: the real one is `compose/services.ts`, tests bring their own. */
import type { AnswerOf, BodyOf, OperationId, ParamsOf, QueryOf } from '@nebula/client';
import type { Action, Catalog, Ceiling, Json, WorkflowDefinition } from '@nebula/core';
import type { Desk, Engine } from '@nebula/engine';
import type { Logs, Secrets } from '@nebula/ports';
import type { NebulaConfig } from '@nebula/sdk';
import type { Io } from './terminal/io.ts';

/** The folder in which commands work: its configuration, and where its runs are kept. */
export interface Project {
  readonly dir: string;
  readonly configFile: string | undefined;
  readonly config: NebulaConfig;
  /** Absolute. */
  readonly dataDir: string;
  /** Whether a later command must be given `--data-dir` to find the same runs from the same place. */
  readonly needsDataDirOption: boolean;
  /** Where runs are instead of in the data folder. */
  readonly server?: ServerPlace | undefined;
}

export interface ServerPlace {
  readonly url: string;
  readonly token: string | undefined;
  /** Later commands find it without being told. */
  readonly isStanding: boolean;
}

export interface ProjectOptions {
  /** The workflow's file, where there is one. */
  readonly file?: string;
  readonly dataDir?: string;
  /** The command works with a server as well as with a data folder. */
  readonly mayBeServer?: boolean;
  readonly server?: string;
  readonly token?: string;
  readonly context?: string;
}

/** A view on the runs of a data folder, possibly beside an engine in another process. */
export interface DeskSession {
  readonly desk: Desk;
  readonly logs: Logs;
  /** Without a version, the newest. */
  definition(workflowId: string, version?: number): Promise<WorkflowDefinition | undefined>;
  /** Of every workflow that is registered. */
  workflowIds(): Promise<readonly string[]>;
  /** The address of the server that has the runs; it goes on with them whether anybody looks or not. */
  readonly server?: string;
  /** Whom the server takes us for, where it knows us by name. */
  readonly me?: () => Promise<string | undefined>;
  close(): Promise<void>;
}

/** What commands ask of an engine, here or at a server. */
export interface RunningEngine
  extends Omit<
    Engine,
    'announce' | 'outside' | 'input' | 'plan' | 'health' | 'trace' | 'requestCall' | 'forgetCached' | 'register'
  > {
  /** `project`: of the server, for a workflow that is new there. */
  register(definition: Json, project?: string): ReturnType<Engine['register']>;
}

export interface EngineSession extends DeskSession {
  readonly engine: RunningEngine;
  newExecutionId(): string;
  /** The ceiling of runs on this machine; undefined where a server decides. */
  readonly ceiling?: () => Promise<Ceiling>;
  /** Of the start of this workflow with this idempotency key: always the same. */
  keyedExecutionId(workflowId: string, key: string): string;
}

export interface Services {
  /** From the workflow's file, where there is one, and from the current folder. */
  openProject(options: ProjectOptions): Promise<Project>;
  /** Built-in actions and the project's own. */
  actions(project: Project): Promise<readonly Action[]>;
  catalog(project: Project): Promise<Catalog>;
  /** `owner`: the project of the server whose secrets they are; on a data folder, all of them. */
  openSecrets(project: Project, owner?: string): Promise<Secrets>;
  openDesk(project: Project): Promise<DeskSession>;
  /** That of the server, where one has the runs or works on the data folder. */
  openEngine(project: Project): Promise<EngineSession>;
  openOffice(project: Project): Promise<OfficeSession>;
  openServer(project: Project, options: ServeOptions): Promise<ServerSession>;
}

/** The operations of the API that concern workflows, people and schedules: of a server, or on the data folder itself. */
export interface OfficeSession {
  call<K extends OperationId>(operation: K, input?: OfficeInput<K>): Promise<AnswerOf<K>>;
  /** Undefined: the data folder itself. */
  readonly server: string | undefined;
  /** The same in the name of a user: with their password, or, on the data folder, without. */
  as(user: string, password: string | undefined): Promise<OfficeSession>;
  close(): Promise<void>;
}

export interface OfficeInput<K extends OperationId> {
  readonly params?: ParamsOf<K>;
  readonly query?: QueryOf<K>;
  readonly body?: BodyOf<K>;
}

/** As `nebula serve` was told; what is left out is the configuration's. */
export interface ServeOptions {
  readonly preset?: string;
  readonly host?: string;
  readonly port?: number;
  /** A line of the server's log, which is JSON. */
  onLog(line: string): void;
  onRequest(operation: string, status: number, milliseconds: number): void;
}

/** A server in this process, with its engine. */
export interface ServerSession {
  readonly url: string;
  readonly preset: 'desktop' | 'selfhost';
  /** Others than this machine can reach it. */
  readonly isOpen: boolean;
  /** The file with the token; undefined where users sign in. */
  readonly tokenFile: string | undefined;
  readonly engine: Engine;
  readonly office: OfficeSession;
  /** With what workers have announced so far. */
  readonly catalog: Catalog;
  /** Takes no more requests, hands back what runs and gives the folder back. */
  close(): Promise<void>;
}

export interface Context {
  readonly io: Io;
  readonly services: Services;
  /** How people start this program here: `nebula` or `npx nebula`. */
  readonly program: string;
}

/** What a file in `commands/` exports. */
export interface CommandModule {
  execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number>;
}

/** As the command line gave them; what each may be is said in `command-table.ts`. */
export type CommandOptions = Readonly<Record<string, unknown>>;
