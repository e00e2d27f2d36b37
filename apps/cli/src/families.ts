/** The first words of two-word commands, with a description and an alias. */
export interface Family {
  readonly about: string;
  readonly alias?: string;
}

export const FAMILIES: Readonly<Record<string, Family>> = {
  executions: { about: 'inspect and change runs', alias: 'exec' },
  workflows: { about: 'manage workflows and their versions' },
  schedules: { about: 'manage schedules' },
  plans: { about: 'manage launch plans: workflows with stored inputs and limits' },
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
