/** Secrets: set and deleted here, never shown. */
import { NebulaError } from '@nebula/core';
import { gone, type Handlers, ok } from '../http/handler.ts';
import type { Parts } from '../parts.ts';
import { isoTimeOrNull } from './times.ts';

export function credentialRoutes({
  secrets,
}: Parts): Pick<Handlers, 'listCredentials' | 'putCredential' | 'deleteCredential'> {
  return {
    async listCredentials({ query: { cursor = '', limit = 50 } }) {
      const rest = (await secrets.list()).filter(({ name }) => name > cursor);
      const items = rest.slice(0, limit).map(({ name, updatedAt }) => ({ name, updatedAt: isoTimeOrNull(updatedAt) }));
      return ok({ items, next: rest.length > limit ? (items.at(-1)?.name ?? null) : null });
    },

    async putCredential({ params: { name }, body: { value } }) {
      await secrets.set(name, typeof value === 'string' ? value : JSON.stringify(value));
      const info = (await secrets.list()).find((one) => one.name === name);
      return ok({ name, updatedAt: isoTimeOrNull(info?.updatedAt ?? null) });
    },

    async deleteCredential({ params: { name } }) {
      if (await secrets.delete(name)) return gone();
      throw new NebulaError('UNKNOWN_CREDENTIAL', `There is no secret '${name}'.`);
    },
  };
}
