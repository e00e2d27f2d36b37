/** The secrets of a server: they can be set and forgotten from here, and never seen. */
import type { NebulaClient } from '@nebula/client';
import { NebulaError } from '@nebula/core';
import type { SecretInfo, Secrets } from '@nebula/ports';
import { asked, found } from './connection.ts';

export function remoteSecrets(client: NebulaClient): Secrets {
  const list = async (): Promise<readonly SecretInfo[]> => {
    const all: SecretInfo[] = [];
    const items = client.all('listCredentials', { query: { limit: 1_000 } });
    for (let next = await asked(items.next()); next.done !== true; next = await asked(items.next())) {
      const { name, updatedAt } = next.value;
      all.push({ name, updatedAt: updatedAt === null ? null : Date.parse(updatedAt) });
    }
    return all;
  };
  const set = async (name: string, value: string): Promise<void> => {
    await asked(client.call('putCredential', { params: { name }, body: { value } }));
  };
  return {
    list,
    set,
    get: () => Promise.reject(new NebulaError('INTERNAL', 'a server never shows a secret')),
    async rotate(name, value) {
      if (!(await list()).some((one) => one.name === name)) return false;
      await set(name, value);
      return true;
    },
    async delete(name) {
      return (await found(client.call('deleteCredential', { params: { name } }).then(() => true))) === true;
    },
  };
}
