/** What commands need of the world, as an interface: the real one is `compose.ts`, tests bring their own. */
import type { Action, Catalog, WorkflowDefinition } from '@nebula/core';
import type { Desk, Engine } from '@nebula/engine';
import type { Logs, PermitRow, Secrets } from '@nebula/ports';
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
}

/** A view on the runs of a data folder, possibly beside an engine in another process. */
export interface DeskSession {
  readonly desk: Desk;
  readonly logs: Logs;
  /** Those who hold a key that runs share, and those who wait for it, in the order in which they are granted. */
  permits(key: string): Promise<readonly PermitRow[]>;
  /** Without a version, the newest. */
  definition(workflowId: string, version?: number): Promise<WorkflowDefinition | undefined>;
  /** Of every workflow that is registered. */
  workflowIds(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface EngineSession extends DeskSession {
  readonly engine: Engine;
  newExecutionId(): string;
  /** Of the start of this workflow with this idempotency key: always the same. */
  keyedExecutionId(workflowId: string, key: string): string;
}

export interface Services {
  /** From the workflow's file, where there is one, and from the current folder. */
  openProject(options: { readonly file?: string; readonly dataDir?: string }): Promise<Project>;
  /** Built-in actions and the project's own. */
  actions(project: Project): Promise<readonly Action[]>;
  catalog(project: Project): Promise<Catalog>;
  openSecrets(project: Project): Promise<Secrets>;
  openDesk(project: Project): Promise<DeskSession>;
  openEngine(project: Project): Promise<EngineSession>;
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
