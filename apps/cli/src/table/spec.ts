/** What the table says of a command, and the options that many of them share. */
import type { CommandModule } from '../services.ts';

export interface OptionSpec {
  /** As commander reads it: `-n, --limit <count>`. */
  readonly flags: string;
  readonly text: string;
  readonly choices?: readonly string[];
  readonly repeatable?: boolean;
}

export interface CommandSpec {
  /** One or two words. */
  readonly name: string;
  /** Arguments as commander reads them. */
  readonly takes: string;
  readonly summary: string;
  readonly group: Group;
  readonly options: readonly OptionSpec[];
  readonly examples: readonly (readonly [words: string, purpose: string])[];
  /** What else its help should say. */
  readonly notes?: string;
  readonly load: () => Promise<CommandModule>;
}

export type Group = 'Run' | 'Write' | 'Look at runs' | 'Change runs' | 'Server' | 'More';

export const GROUPS: readonly Group[] = ['Run', 'Write', 'Look at runs', 'Change runs', 'Server', 'More'];

export const JSON_OUTPUT: OptionSpec = { flags: '--json', text: 'print one JSON document on stdout' };
export const DATA_DIR: OptionSpec = {
  flags: '--data-dir <dir>',
  text: 'where runs are kept (default: .nebula in the project folder, or $NEBULA_DATA_DIR)',
};
/** Which server. With a data folder: where the runs are. */
export const SERVER: readonly OptionSpec[] = [
  { flags: '--server <url>', text: 'talk to this server instead (or $NEBULA_SERVER, or the context in use)' },
  { flags: '--token <token>', text: 'who you are there (or $NEBULA_TOKEN, or that of the context)' },
  { flags: '--context <name>', text: 'the server that `nebula context add` has given this name' },
];
export const LOCATION: readonly OptionSpec[] = [DATA_DIR, ...SERVER];
export const QUIET: OptionSpec = { flags: '-q, --quiet', text: 'say nothing while it runs' };

/** For what is shown to people; documents are always whole. */
export const FULL: OptionSpec = { flags: '--full', text: 'the whole output, however long' };

export const STATUS_FILTER: OptionSpec = {
  flags: '--status <status>',
  text: 'only runs with this status; may be given several times',
  choices: ['pending', 'running', 'paused', 'compensating', 'completed', 'failed', 'cancelled', 'timed-out'],
  repeatable: true,
};
export const WORKFLOW_FILTER: OptionSpec = { flags: '--workflow <id>', text: 'only runs of this workflow' };
/** Projects are a server's; what is on a data folder alone is in the project `default`. */
export const PROJECT: OptionSpec = { flags: '--project <id>', text: 'only what is in this project of the server' };
export const NO_RUN: OptionSpec = { flags: '--no-run', text: 'only leave the request, for an engine to find' };
/** For commands that change many runs at once. */
export const BULK: readonly OptionSpec[] = [
  { ...STATUS_FILTER, text: 'instead of naming runs: those with this status; may be given several times' },
  { ...WORKFLOW_FILTER, text: 'instead of naming runs: those of this workflow' },
  { ...PROJECT, text: 'instead of naming runs: those in this project of the server' },
  { flags: '-y, --yes', text: 'do not ask before several runs are changed' },
];
export const BULK_NOTE =
  'Several runs, or those that a filter finds, are shown first, and changed when you say yes, or with --yes.';
export const ANSWER: readonly OptionSpec[] = [
  { flags: '--by <name>', text: 'who answers (default: you)' },
  { flags: '--comment <text>', text: 'kept with the answer' },
];

export const EXIT_CODES =
  'Exit codes: 0 completed, 1 failed, 2 invalid file, input or usage, 3 cancelled or timed out, 4 parked (waits for a person or a signal), 130 interrupted.';
