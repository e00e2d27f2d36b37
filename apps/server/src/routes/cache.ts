/** Lists and removes cached outputs. */
import type { AnswerOf } from '@nebula/client/contract';
import { PAGE_LIMITS } from '@nebula/client/limits';
import { NebulaError } from '@nebula/core';
import type { CacheCursor, CacheRow } from '@nebula/ports';
import { type Handlers, ok } from '../http/handler.ts';
import type { Parts } from '../parts.ts';
import { isoTime, isoTimeOrNull } from './times.ts';

export function cacheRoutes({ store, executions }: Parts) {
  return {
    async listCache({ query: { action, cursor, limit = PAGE_LIMITS.default } }) {
      const after = cursor === undefined ? {} : { after: parseCursor(cursor) };
      const rows = await store.cachedOutputs({ prefix: prefixOf(action), limit: limit + 1, ...after });
      const items = rows.slice(0, limit);
      const last = items.at(-1);
      return ok({ items: items.map(entryOf), next: rows.length > limit && last !== undefined ? cursorAt(last) : null });
    },

    async forgetCache({ query: { key, action } }) {
      if (key !== undefined && action !== undefined) {
        throw new NebulaError('QUERY_INVALID', '`key` and `action` exclude each other.', {
          hint: 'Give one of them; without either, all cached outputs are removed.',
        });
      }
      const which = key === undefined ? { prefix: prefixOf(action) } : { key };
      return ok({ forgotten: await executions.forgetCached(which) });
    },
  } satisfies Partial<Handlers>;
}

/** Families are `action@major#version`. An action without a version selects all its versions. */
function prefixOf(action: string | undefined): string {
  if (action === undefined) return '';
  return action.includes('@') ? `${action}#` : `${action}@`;
}

function entryOf({ key, family, executionId, node, at, expiresAt }: CacheRow): AnswerOf<'listCache'>['items'][number] {
  const [action = ''] = family.split('#');
  return { key, action, executionId, node, at: isoTime(at), expiresAt: isoTimeOrNull(expiresAt) };
}

function cursorAt({ family, at, key }: CacheCursor): string {
  return Buffer.from(JSON.stringify([family, at, key])).toString('base64url');
}

function parseCursor(cursor: string): CacheCursor {
  try {
    const [family, at, key] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (typeof family === 'string' && typeof at === 'number' && typeof key === 'string') return { family, at, key };
  } catch {
    // Told below.
  }
  throw new NebulaError('CURSOR_INVALID', `'${cursor.slice(0, 80)}' is not a cursor of this list.`, {
    hint: 'Give the cursor of an earlier page as it was, or none for the first page.',
  });
}
