/** The secrets of a server: they can be set and deleted from here, but not read. */
import type { NebulaClient } from '@nebula/client';
import { NebulaError } from '@nebula/core';
import type { SecretInfo, Secrets } from '@nebula/ports';
import { allItems, found, pageOf } from '../api.ts';

export function remoteSecrets(api: NebulaClient, project: string): Secrets {
  const list = async (): Promise<readonly SecretInfo[]> => {
    const all = await allItems((cursor) => api.call('listCredentials', { query: { ...pageOf(cursor), project } }));
    return all.map(({ name, updatedAt }) => ({ name, updatedAt: updatedAt === null ? null : Date.parse(updatedAt) }));
  };
  const set = async (name: string, value: string): Promise<void> => {
    await api.call('putCredential', { params: { name }, query: { project }, body: { value } });
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
    delete: async (name) =>
      (await found(api.call('deleteCredential', { params: { name }, query: { project } }))) !== undefined,
  };
}
