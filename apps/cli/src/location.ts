/** The location of a command's runs: a data folder or a server. */
import { NebulaError } from '@nebula/core';
import { textOption } from './command-options.ts';
import type { CommandOptions, Project, ProjectOptions } from './services.ts';

/** The location from the options. */
export function locationOf(options: CommandOptions): ProjectOptions {
  const given = ['dataDir', 'server', 'token', 'context'].flatMap((name) => {
    const value = textOption(options, name);
    return value === undefined ? [] : [[name, value]];
  });
  return { mayBeServer: true, ...Object.fromEntries(given) };
}

/** The URL of the server, or the path of the data folder. */
export function locationText({ server, dataDir }: Project): string {
  return server?.url ?? dataDir;
}

export function unknownExecution(project: Project, executionId: string): never {
  const preposition = project.server === undefined ? 'in' : 'at';
  throw new NebulaError('UNKNOWN_EXECUTION', `there is no run ${executionId} ${preposition} ${locationText(project)}`, {
    hint: '`nebula executions list` shows the runs; --data-dir looks in another folder, --server at a server',
  });
}
