/** Secrets that live as long as the process: for tests, and for programs that bring their own. */
import { checkSecret, type Secrets } from '@nebula/ports';
import { byName } from './order.ts';

export function memorySecrets(
  values: Readonly<Record<string, string>> = {},
  now: () => number = () => Date.now(),
): Secrets {
  const held = new Map<string, { readonly value: string; readonly updatedAt: number }>();
  const put = (name: string, value: string): void => {
    checkSecret(name, value);
    held.set(name, { value, updatedAt: now() });
  };
  for (const [name, value] of Object.entries(values)) put(name, value);
  return {
    get: async (name) => held.get(name)?.value,
    set: async (name, value) => put(name, value),
    async rotate(name, value) {
      checkSecret(name, value);
      if (!held.has(name)) return false;
      put(name, value);
      return true;
    },
    delete: async (name) => held.delete(name),
    list: async () => [...held].map(([name, { updatedAt }]) => ({ name, updatedAt })).sort(byName),
  };
}
