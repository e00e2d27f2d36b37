/** Commands of two words share their first: what it is about, and how else it may be called. */
export interface Family {
  readonly about: string;
  readonly alias?: string;
}

export const FAMILIES: Readonly<Record<string, Family>> = {
  executions: { about: 'look at runs and change them', alias: 'exec' },
  secrets: { about: 'keep values that only actions may see' },
};

/** The family that a word means. */
export function familyNamed(word: string): string | undefined {
  return Object.keys(FAMILIES).find((name) => name === word || FAMILIES[name]?.alias === word);
}
