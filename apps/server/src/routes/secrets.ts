/** Secrets of a project: set and deleted here, never shown. */
import { PAGE_LIMITS } from '@nebula/client/limits';
import { NebulaError } from '@nebula/core';
import { secretsIn } from '@nebula/ports';
import { gone, type Handlers, ok } from '../http/handler.ts';
import { DEFAULT_PROJECT, requireProject } from '../http/subject.ts';
import type { Parts } from '../parts.ts';
import { isoTimeOrNull } from './times.ts';

export function secretRoutes(parts: Parts) {
  const of = (project = DEFAULT_PROJECT) => secretsIn(parts.secrets, project);
  return {
    async listSecrets({ query: { cursor = '', limit = PAGE_LIMITS.default }, project }) {
      const after = (await of(project).list()).filter(({ name }) => name > cursor);
      const items = after.slice(0, limit).map(({ name, updatedAt }) => ({ name, updatedAt: isoTimeOrNull(updatedAt) }));
      return ok({ items, next: after.length > limit ? (items.at(-1)?.name ?? null) : null });
    },

    async putSecret({ params: { name }, body: { value }, project }) {
      await requireProject(parts, project ?? DEFAULT_PROJECT);
      const secrets = of(project);
      await secrets.set(name, typeof value === 'string' ? value : JSON.stringify(value));
      const info = (await secrets.list()).find((one) => one.name === name);
      return ok({ name, updatedAt: isoTimeOrNull(info?.updatedAt ?? null) });
    },

    async deleteSecret({ params: { name }, project }) {
      if (await of(project).delete(name)) return gone();
      throw new NebulaError('UNKNOWN_SECRET', `There is no secret '${name}'.`);
    },
  } satisfies Partial<Handlers>;
}
