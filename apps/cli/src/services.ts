/** What commands need of the world, as an interface: the real one is `compose/services.ts`, tests bring their own. */
import type { NebulaClient } from '@nebula/client';
import type { Action, Catalog } from '@nebula/core';
import type { Engine } from '@nebula/engine';
import type { Secrets } from '@nebula/ports';
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
  readonly server?: ServerLocation | undefined;
}

export interface ServerLocation {
  readonly url: string;
  readonly token: string | undefined;
  /** Later commands find it without being told. */
  readonly isDefault: boolean;
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

/**
 * What a command is about to do on a data folder. A server does all of it.
 *  - `look`: read, and leave requests for the engine that works there, whatever process that is in
 *  - `change`: change records; through the server that works on the folder, where there is one
 *  - `work`: run things, in an engine of this process, or of that server. Rejects with `STORE_LOCKED` where another
 *    engine has the folder.
 */
export type Purpose = 'look' | 'change' | 'work';

/** The operations of the contract: of a server over HTTP, or on the data folder by handlers of this process. */
export interface ApiSession {
  readonly api: NebulaClient;
  /** The address of the server, which goes on with its runs whether anybody looks or not; undefined: the data folder. */
  readonly server: string | undefined;
  /** The same in the name of a user: with their password, or, on the data folder, without. */
  as(user: string, password: string | undefined): Promise<ApiSession>;
  /** Goes on with these runs, and with those that run for them; without a list, with all. */
  work(only?: readonly string[]): Promise<void>;
  /** Calls `listener` with what goes wrong and is tried again: writes to the store, the way to the server. */
  onTrouble(listener: (error: unknown) => void): () => void;
  /** Stops working and hands back what runs here: attempts may take `graceMs` to end by themselves. */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
  close(): Promise<void>;
}

export interface Services {
  /** From the workflow's file, where there is one, and from the current folder. */
  openProject(options: ProjectOptions): Promise<Project>;
  /** Built-in actions and the project's own. */
  actions(project: Project): Promise<readonly Action[]>;
  catalog(project: Project): Promise<Catalog>;
  /** `owner`: the project of the server whose secrets they are; on a data folder, all of them. */
  openSecrets(project: Project, owner?: string): Promise<Secrets>;
  /** A data folder that is not there is made only with `makesFolder`; else rejects with `DATA_DIR_MISSING`. */
  openApi(project: Project, purpose: Purpose, how?: { readonly makesFolder?: boolean }): Promise<ApiSession>;
  openServer(project: Project, options: ServeOptions): Promise<ServerSession>;
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
  readonly api: NebulaClient;
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
