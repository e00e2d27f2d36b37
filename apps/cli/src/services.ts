/** The services that commands use. `compose/services.ts` implements them; tests pass their own. */
import type { NebulaClient } from '@nebula/client';
import type { Action, DefinitionChecks } from '@nebula/core';
import type { Manifest } from '@nebula/drivers/backup';
import type { Engine, MissingBlob } from '@nebula/engine';
import type { ExecutionCounts, Sandbox } from '@nebula/ports';
import type { NebulaConfig } from '@nebula/sdk';
import type { WorkflowFiles as SavedFiles, WorkflowOrigins } from '@nebula/server';
import type { Io } from './terminal/io.ts';

/** The project of a command: its folder, configuration and data folder. */
export interface Project {
  readonly dir: string;
  readonly configFile: string | undefined;
  readonly config: NebulaConfig;
  /** Absolute. */
  readonly dataDir: string;
  /** True if a later command needs `--data-dir` to find the same runs from the same folder. */
  readonly needsDataDirOption: boolean;
  /** The server whose runs the command is about, instead of the data folder. */
  readonly server?: ServerLocation | undefined;
}

export interface ServerLocation {
  readonly url: string;
  readonly token: string | undefined;
  /** Later commands use the same server without an option. */
  readonly isDefault: boolean;
}

export interface ProjectOptions {
  /** The workflow file, if the command has one. */
  readonly file?: string;
  readonly dataDir?: string;
  /** The command works with a server as well as with a data folder. */
  readonly mayBeServer?: boolean;
  readonly server?: string;
  readonly token?: string;
  readonly context?: string;
}

/**
 * The access that a command needs to a data folder. A server allows all of it.
 *  - `read`: reads, and records requests for the engine that owns the folder, in whichever process
 *  - `change`: changes records, through the server that owns the folder if there is one
 *  - `work`: runs workflows in an engine of this process or of that server. Rejects with `STORE_LOCKED` if another
 *    engine owns the folder.
 */
export type Purpose = 'read' | 'change' | 'work';

/** A connection to the operations of the contract: over HTTP, or in process on the data folder. */
export interface ApiSession {
  readonly api: NebulaClient;
  /** The address of the server, which continues its runs after the command; undefined for a data folder. */
  readonly server: string | undefined;
  /** Signs in as a user: with a password at a server, without one on a data folder. */
  as(user: string, password: string | undefined): Promise<ApiSession>;
  /** Continues these runs and their children; without a list, all runs. */
  work(only?: readonly string[]): Promise<void>;
  /** Calls `listener` with errors that are retried: writes to the store, the connection to the server. */
  onTrouble(listener: (error: unknown) => void): () => void;
  /** Stops the engine and hands back its attempts, which may take `graceMs` to end by themselves. */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
  close(): Promise<void>;
}

/** The handling of a missing data folder. By default the session rejects with `DATA_DIR_MISSING`. */
export interface MissingFolder {
  /** The folder is created. */
  readonly makesFolder?: boolean;
  /** To look only: the session shows what an empty folder would have. */
  readonly orEmpty?: boolean;
}

export interface SessionOptions extends MissingFolder {
  /** Definitions that were checked with this object are not compiled again by an engine of this process. */
  readonly checks?: DefinitionChecks | undefined;
}

export interface Services {
  /** Finds the project from the workflow file, if there is one, and the current folder. */
  openProject(options: ProjectOptions): Promise<Project>;
  /** Built-in actions and the project's own. */
  actions(project: Project): Promise<readonly Action[]>;
  /** Checks definitions against those actions, without a data folder. */
  checks(project: Project): Promise<DefinitionChecks>;
  /** Runs actions in this process, within their grants. */
  sandbox(project: Project): Promise<Sandbox>;
  /** Encrypts the secrets of a data folder with a new key and returns their number; undefined if the key is elsewhere. */
  rotateKey(project: Project): Promise<number | undefined>;
  /** Files that `nebula backup` has written. */
  readonly backups: BackupServices;
  openApi(project: Project, purpose: Purpose, how?: SessionOptions): Promise<ApiSession>;
  openServer(project: Project, options: ServeOptions): Promise<ServerSession>;
  /** The process whose engine holds the data folder; undefined if none does. */
  engineHolder(project: Project): Promise<{ readonly pid: number; readonly host: string } | undefined>;
}

/** A backup whose content was checked against its manifest. */
export interface CheckedBackup {
  readonly manifest: Manifest;
  readonly runs: ExecutionCounts;
  /** Values that the journal names and that are not in the backup. */
  readonly missing: readonly MissingBlob[];
}

export interface BackupServices {
  /** Rejects with a code that begins with `BACKUP_`, and changes nothing. */
  verify(file: string, onProgress: (readBytes: number, totalBytes: number) => void): Promise<CheckedBackup>;
  /** Fills an empty or new folder. Rejects with `DATA_DIR_NOT_EMPTY`, or as `verify` does, and leaves nothing then. */
  restore(
    file: string,
    dataDir: string,
    onProgress: (readBytes: number, totalBytes: number) => void,
  ): Promise<CheckedBackup>;
}

/** The options of `nebula serve`; the configuration gives the others. */
export interface ServeOptions {
  readonly preset?: string;
  readonly host?: string;
  readonly port?: number;
  /** Builds the Studio at once, for a person who is about to open it; by default when a browser asks for it. */
  readonly buildsStudio?: boolean;
  /** A line of the server's log, which is JSON. */
  onLog(line: string): void;
  onRequest(operation: string, status: number, milliseconds: number): void;
}

/** A server in this process, with its engine. */
export interface ServerSession {
  readonly url: string;
  readonly preset: 'desktop' | 'selfhost';
  /** Other machines can reach the server. */
  readonly isOpen: boolean;
  /** The file with the token; undefined for a server with users. */
  readonly tokenFile: string | undefined;
  /** The address of the Studio; undefined if there is none. */
  readonly studio: string | undefined;
  readonly engine: Engine;
  readonly api: NebulaClient;
  /** The workflow files, which no run may write. */
  readonly reserved: ReservedWorkflows;
  /** The files that workflows come from, as the server remembers them. */
  readonly origins: WorkflowOrigins;
  /** Lets the owner of a desktop server save into workflow files. */
  setWorkflowFiles(files: SavedFiles): void;
  /** Rejects further requests, hands back attempts and releases the folder. */
  close(): Promise<void>;
}

export interface ReservedWorkflows {
  /** Patterns of workflow files, relative to the project folder. */
  setPatterns(patterns: readonly string[]): void;
  /** Absolute paths of the registered files, and of those that they use. */
  setFiles(files: readonly string[]): void;
}

export interface Context {
  readonly io: Io;
  readonly services: Services;
  /** How the program is started here: `nebula` or `npx nebula`. */
  readonly program: string;
}

/** The options as parsed; `command-table.ts` defines them. */
export type CommandOptions = Readonly<Record<string, unknown>>;

/** A command as it was given. */
export interface Call extends Context {
  readonly options: CommandOptions;
}

/** A call whose location is known. */
export interface ProjectCall extends Call {
  readonly project: Project;
}

/** A call with a session open at its location. */
export interface OpenCall extends ProjectCall {
  readonly session: ApiSession;
  readonly api: NebulaClient;
}

/** Resolves to the exit code. */
export type Command = (call: Call, args: readonly string[]) => Promise<number>;
