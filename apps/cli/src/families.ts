/** Commands of two words share their first: what it is about, and how else it may be called. */
export interface Family {
  readonly about: string;
  readonly alias?: string;
}

export const FAMILIES: Readonly<Record<string, Family>> = {
  executions: { about: 'look at runs and change them', alias: 'exec' },
  workflows: { about: 'versions of workflows, and which of them is active' },
  schedules: { about: 'what runs when' },
  plans: { about: 'workflows to start with inputs and limits of their own' },
  workers: { about: 'workers of a server, and what they announce' },
  cache: { about: 'outputs that later runs may use again' },
  users: { about: 'people of a server that they sign in to' },
  keys: { about: 'keys with which programs call a server' },
  projects: { about: 'where workflows belong, and in which people have roles' },
  context: { about: 'servers by name' },
  secrets: { about: 'keep values that only actions may see' },
};

/** The family that a word means. */
export function familyNamed(word: string): string | undefined {
  return Object.keys(FAMILIES).find((name) => name === word || FAMILIES[name]?.alias === word);
}
