/** Remembers what was handed out, for what leaves the process by another way than the sandbox. */
import type { Secrets } from '@nebula/ports';
import { Redactor } from './redaction.ts';

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
