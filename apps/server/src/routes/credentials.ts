/** Secrets of a project: set and deleted here, never shown. */
import { NebulaError } from '@nebula/core';
import { secretsIn } from '@nebula/ports';
import { gone, type Handlers, ok } from '../http/handler.ts';
import { DEFAULT_PROJECT, requireProject } from '../http/subject.ts';
import type { Parts } from '../parts.ts';
import { isoTimeOrNull } from './times.ts';

export function credentialRoutes(parts: Parts) {
  const of = (project = DEFAULT_PROJECT) => secretsIn(parts.secrets, project);
  return {
    async listCredentials({ query: { cursor = '', limit = 50 }, project }) {
      const rest = (await of(project).list()).filter(({ name }) => name > cursor);
      const items = rest.slice(0, limit).map(({ name, updatedAt }) => ({ name, updatedAt: isoTimeOrNull(updatedAt) }));
      return ok({ items, next: rest.length > limit ? (items.at(-1)?.name ?? null) : null });
    },

    async putCredential({ params: { name }, body: { value }, project }) {
      await requireProject(parts, project ?? DEFAULT_PROJECT);
      const secrets = of(project);
      await secrets.set(name, typeof value === 'string' ? value : JSON.stringify(value));
      const info = (await secrets.list()).find((one) => one.name === name);
      return ok({ name, updatedAt: isoTimeOrNull(info?.updatedAt ?? null) });
    },

    async deleteCredential({ params: { name }, project }) {
      if (await of(project).delete(name)) return gone();
      throw new NebulaError('UNKNOWN_CREDENTIAL', `There is no secret '${name}'.`);
    },
  } satisfies Partial<Handlers>;
}
