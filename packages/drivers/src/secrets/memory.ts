/** Secrets that live as long as the process, for tests and for programs that bring their own. */

import { checkSecret, type SecretInfo, type Secrets } from '@nebula/ports';
import { Redactor } from './redaction.ts';

export function memorySecrets(
  values: Readonly<Record<string, string>> = {},
  now: () => number = () => Date.now(),
): Secrets {
  const entries = new Map<string, { readonly value: string; readonly updatedAt: number }>();
  const put = (name: string, value: string): void => {
    checkSecret(name, value);
    entries.set(name, { value, updatedAt: now() });
  };
  for (const [name, value] of Object.entries(values)) put(name, value);
  return {
    get: async (name) => entries.get(name)?.value,
    set: async (name, value) => put(name, value),
    async rotate(name, value) {
      checkSecret(name, value);
      if (!entries.has(name)) return false;
      put(name, value);
      return true;
    },
    delete: async (name) => entries.delete(name),
    list: async () => [...entries].map(([name, { updatedAt }]) => ({ name, updatedAt })).sort(byName),
  };
}

/** Sorts by characters, the same on every machine. */
export function byName(a: SecretInfo, b: SecretInfo): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** Remembers the values that were handed out, for output that leaves the process without passing the sandbox. */
export interface RememberingSecrets {
  readonly secrets: Pick<Secrets, 'get'>;
  /** The text without any value that was handed out so far. */
  conceal(text: string): string;
}

export function rememberingSecrets(secrets: Pick<Secrets, 'get'>): RememberingSecrets {
  const redactor = new Redactor();
  const seen = new Set<string>();
  const get = async (name: string): Promise<string | undefined> => {
    const value = await secrets.get(name);
    if (value === undefined || seen.has(value)) return value;
    seen.add(value);
    redactor.add(value);
    return value;
  };
  return { secrets: { get }, conceal: (text) => redactor.excerpt(text) };
}
