/** Commands of other sources, as they work in this shell and folder. */
import type { Project, ProjectCall } from './services.ts';
import { shellWord } from './views/words.ts';

export type CommandContext = Pick<ProjectCall, 'program' | 'project'>;

/** The option with which a later command finds the same runs, or undefined if it needs none. */
export function locationOption({ server, needsDataDirOption, dataDir }: Project): string | undefined {
  if (server !== undefined) return server.isDefault ? undefined : `--server ${shellWord(server.url)}`;
  return needsDataDirOption ? `--data-dir ${shellWord(dataDir)}` : undefined;
}

/** The option with which a later command finds the same data folder, if it needs one. */
export function dataDirOption({ needsDataDirOption, dataDir }: Project): string[] {
  return needsDataDirOption ? [`--data-dir ${shellWord(dataDir)}`] : [];
}

/** Rewrites `nebula …` from another source so that it works in this shell and folder. */
export function localCommand({ program, project }: CommandContext, text: string): string {
  if (!text.startsWith('nebula ')) return text;
  const option = locationOption(project);
  return program + text.slice('nebula'.length) + (option === undefined ? '' : ` ${option}`);
}
