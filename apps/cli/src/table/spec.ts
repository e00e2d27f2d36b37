/** The shape of a command in the table, and the options that many commands share. */
import type { Command } from '../services.ts';

export interface OptionSpec {
  /** The flags in commander's notation: `-n, --limit <count>`. */
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
  /** Further text of the command's help. */
  readonly notes?: string;
  readonly load: () => Promise<Command>;
}

/** A row of the table. `usage`: the name and the arguments. */
type Row = Omit<CommandSpec, 'name' | 'takes' | 'group'> & { readonly usage: string };

export function commands(group: Group, rows: readonly Row[]): readonly CommandSpec[] {
  return rows.map(({ usage, ...row }) => {
    const [name = ''] = usage.split(/ [<[]/);
    return { ...row, name, takes: usage.slice(name.length).trim(), group };
  });
}

export type Group = 'Run' | 'Write' | 'Look at runs' | 'Change runs' | 'Server' | 'More';

export const GROUPS: readonly Group[] = ['Run', 'Write', 'Look at runs', 'Change runs', 'Server', 'More'];

export const JSON_OUTPUT: OptionSpec = { flags: '--json', text: 'print one JSON document on stdout' };
export const DATA_DIR: OptionSpec = {
  flags: '--data-dir <dir>',
  text: 'where runs are stored (default: .nebula in the project folder, or $NEBULA_DATA_DIR)',
};
/** The options that name a server. Together with `--data-dir` they give the location of the runs. */
export const SERVER: readonly OptionSpec[] = [
  { flags: '--server <url>', text: 'use this server instead (or $NEBULA_SERVER, or the context in use)' },
  { flags: '--token <token>', text: 'the token for the server (or $NEBULA_TOKEN, or the token of the context)' },
  { flags: '--context <name>', text: 'the server saved under this name by `nebula context add`' },
];
export const LOCATION: readonly OptionSpec[] = [DATA_DIR, ...SERVER];
export const QUIET: OptionSpec = { flags: '-q, --quiet', text: 'print nothing while it runs' };
/** The options of most commands. */
export const AT: readonly OptionSpec[] = [...LOCATION, JSON_OUTPUT];

/** Applies to text output; JSON documents are never cut. */
export const FULL: OptionSpec = { flags: '--full', text: 'do not cut long output' };
/** The options of commands that stay until a run has ended. */
export const STAYING: readonly OptionSpec[] = [...AT, FULL, QUIET];

export const STATUS_FILTER: OptionSpec = {
  flags: '--status <status>',
  text: 'only runs with this status; may be given several times',
  choices: ['pending', 'running', 'paused', 'compensating', 'completed', 'failed', 'cancelled', 'timed-out'],
  repeatable: true,
};
export const WORKFLOW_FILTER: OptionSpec = { flags: '--workflow <id>', text: 'only runs of this workflow' };
/** Only servers have projects; everything on a data folder alone is in the project `default`. */
export const PROJECT: OptionSpec = { flags: '--project <id>', text: 'only resources of this project of the server' };
export const NO_RUN: OptionSpec = { flags: '--no-run', text: 'only record the request, for an engine to pick up' };
/** The options of commands that change many runs at once. */
export const BULK: readonly OptionSpec[] = [
  { ...STATUS_FILTER, text: 'instead of naming runs: all with this status; may be given several times' },
  { ...WORKFLOW_FILTER, text: 'instead of naming runs: all of this workflow' },
  { ...PROJECT, text: 'instead of naming runs: all in this project of the server' },
  { flags: '-y, --yes', text: 'do not ask before changing several runs' },
];
export const BULK_NOTE =
  'Several runs, or runs selected by a filter, are listed first and changed after you confirm, or with --yes.';
export const ANSWER: readonly OptionSpec[] = [
  { flags: '--by <name>', text: 'who answers (default: you)' },
  { flags: '--comment <text>', text: 'recorded with the answer' },
];

export const EXIT_CODES =
  'Exit codes: 0 completed, 1 failed, 2 invalid file, input or usage, 3 cancelled or timed out, 4 parked (waits for a person, a signal, a call, the settling of an unknown outcome, or for longer than a minute), 130 interrupted.';

/** The first words of two-word commands, with a description and an alias. */
export const FAMILIES: Readonly<Record<string, { readonly about: string; readonly alias?: string }>> = {
  executions: { about: 'inspect and change runs', alias: 'exec' },
  workflows: { about: 'manage workflows and their versions' },
  drafts: { about: 'manage your own drafts of workflows' },
  schedules: { about: 'manage schedules' },
  plans: { about: 'manage launch plans: workflows with stored inputs and limits' },
  notifications: { about: 'manage messages about failed, stuck and waiting runs' },
  workers: { about: 'manage the workers of a server and their actions' },
  cache: { about: 'manage cached outputs' },
  users: { about: 'manage the users of a server' },
  keys: { about: 'manage keys with which programs call a server' },
  projects: { about: 'manage projects' },
  context: { about: 'manage saved servers' },
  secrets: { about: 'manage secrets' },
};

/** The family with this name or alias. */
export function familyNamed(word: string): string | undefined {
  return Object.keys(FAMILIES).find((name) => name === word || FAMILIES[name]?.alias === word);
}
