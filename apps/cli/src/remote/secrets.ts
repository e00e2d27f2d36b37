/** The secrets of a server: they can be set and forgotten from here, and never seen. */
import { NebulaError } from '@nebula/core';
import type { SecretInfo, Secrets } from '@nebula/ports';
import { allItems, pageOf } from '../office.ts';
import type { OfficeSession } from '../services.ts';

export function remoteSecrets(office: Pick<OfficeSession, 'call'>, project: string): Secrets {
  const list = async (): Promise<readonly SecretInfo[]> => {
    const all = await allItems((cursor) => office.call('listCredentials', { query: { ...pageOf(cursor), project } }));
    return all.map(({ name, updatedAt }) => ({ name, updatedAt: updatedAt === null ? null : Date.parse(updatedAt) }));
  };
  const set = async (name: string, value: string): Promise<void> => {
    await office.call('putCredential', { params: { name }, query: { project }, body: { value } });
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
      try {
        await office.call('deleteCredential', { params: { name }, query: { project } });
        return true;
      } catch (error) {
        if (error instanceof NebulaError && error.code === 'UNKNOWN_CREDENTIAL') return false;
        throw error;
      }
    },
  };
}
