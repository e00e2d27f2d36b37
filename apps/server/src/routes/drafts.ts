/**
 * Drafts: texts of workflows that are not registered yet, saved while they are written.
 *
 *  1 A draft belongs to one user, in one project, under one id of a workflow, which need not exist. Nobody else sees it.
 *  2 A key acts for its user. The owner of a desktop server or a data folder is no user, and has drafts of their own.
 *  3 A draft is kept for 30 days after it was saved last.
 *  4 Its text is a record of its own, written by the same commit, so that a list of drafts reads no texts.
 */
import type { AnswerOf } from '@nebula/client/contract';
import { NebulaError } from '@nebula/core';
import type { RecordChange, Records } from '@nebula/ports';
import { type Call, gone, type Handlers, ok, reply } from '../http/handler.ts';
import { DEFAULT_PROJECT, requireProject } from '../http/subject.ts';
import type { Principal } from '../identity/principal.ts';
import { DRAFT_LIMITS } from '../limits.ts';
import type { Parts } from '../parts.ts';
import {
  changedBySomebody,
  etagOf,
  everyRecord,
  expectedRevision,
  parsed,
  type Read,
  removeRecord,
} from '../records.ts';
import { isoTime } from './times.ts';

interface DraftRecord {
  readonly project: string;
  readonly format: 'yaml' | 'json';
  readonly filename: string | null;
  readonly baseVersion: number | null;
  readonly savedAt: number;
}

type Head = AnswerOf<'listDrafts'>['items'][number];

type DraftCall = Pick<Call<'getDraft'>, 'params' | 'who' | 'project'>;

export function draftRoutes(parts: Parts) {
  const { records, clock } = parts;
  return {
    async listDrafts({ query: { cursor, limit = DRAFT_LIMITS.maxDrafts }, who, project = DEFAULT_PROJECT }) {
      const prefix = `${authorOf(who)} ${project} `;
      const after = cursor === undefined ? {} : { after: prefix + cursor };
      const rows = await records.list('draft', { prefix, limit: limit + 1, ...after });
      const items = rows.slice(0, limit).map((row) => headOf(parsed<DraftRecord>(row)));
      return ok({ items, next: rows.length > limit ? (items.at(-1)?.workflowId ?? null) : null });
    },

    async getDraft(call) {
      for (let left = READ_TRIES; left > 0; left--) {
        const row = await records.get('draft', idOf(call));
        if (row === undefined) throw unknownDraft(call);
        const text = await records.get(TEXT, row.id);
        // The draft was saved between the two reads.
        if (text?.revision !== row.revision) continue;
        return ok(
          { ...headOf(parsed<DraftRecord>(row)), text: JSON.parse(text.body) as string },
          { etag: etagOf(row) },
        );
      }
      throw new NebulaError(
        'CHANGED_MEANWHILE',
        `Your draft of '${call.params.draftId}' is being saved again and again.`,
      );
    },

    async putDraft(call) {
      const { body, headers, who, project = DEFAULT_PROJECT } = call;
      await requireProject(parts, project);
      const id = idOf(call);
      const before = await records.get('draft', id);
      if (before === undefined) await refuseTooMany(records, who);
      const savedAt = clock.now();
      const expiresAt = savedAt + DRAFT_LIMITS.keptMs;
      const made: DraftRecord = {
        project,
        format: body.format ?? 'yaml',
        filename: body.filename?.toWellFormed() ?? null,
        baseVersion: body.baseVersion ?? null,
        savedAt,
      };
      const expected = expectedRevision(headers['if-match']);
      const outcome = await records.commit([
        { kind: 'draft', id, body: JSON.stringify(made), expiresAt, ...(expected !== undefined && { expected }) },
        { kind: TEXT, id, body: JSON.stringify(body.text.toWellFormed()), expiresAt },
      ]);
      if (!outcome.ok) throw changedBySomebody(call.params.draftId);
      const { revision } = outcome;
      return reply(before === undefined ? 201 : 200, headOf({ id, body: made, revision }), {
        etag: etagOf({ revision }),
      });
    },

    async deleteDraft(call) {
      const id = idOf(call);
      if ((await records.get('draft', id)) === undefined) throw unknownDraft(call);
      await removeRecord(records, 'draft', id, call.headers['if-match'], [{ kind: TEXT, id, body: null }]);
      return gone();
    },
  } satisfies Partial<Handlers>;
}

const TEXT = 'draft-text';
/** A draft that is saved between the reads of its two records is read again. */
const READ_TRIES = 10;

/** The changes that remove the drafts of a user or of a project. A deleted user's name may be given to another one. */
export async function draftsOf(
  records: Records,
  of: { readonly userId?: string; readonly project?: string },
): Promise<readonly RecordChange[]> {
  const changes: RecordChange[] = [];
  const prefix = of.userId === undefined ? undefined : `user:${of.userId} `;
  for await (const { id, body } of everyRecord<DraftRecord>(records, 'draft', prefix)) {
    if (of.project !== undefined && body.project !== of.project) continue;
    changes.push({ kind: 'draft', id, body: null }, { kind: TEXT, id, body: null });
  }
  return changes;
}

/** Names of users have no spaces or colons. */
function authorOf({ kind, name, owner }: Principal): string {
  return owner === undefined ? `${kind}:${name}` : `user:${owner}`;
}

function idOf({ params: { draftId }, who, project = DEFAULT_PROJECT }: DraftCall): string {
  return `${authorOf(who)} ${project} ${draftId}`;
}

function headOf({ id, body, revision }: Omit<Read<DraftRecord>, 'updatedAt'>): Head {
  return {
    workflowId: id.slice(id.lastIndexOf(' ') + 1),
    ...body,
    revision,
    savedAt: isoTime(body.savedAt),
    expiresAt: isoTime(body.savedAt + DRAFT_LIMITS.keptMs),
  };
}

async function refuseTooMany(records: Records, who: Principal): Promise<void> {
  const limit = DRAFT_LIMITS.maxDrafts;
  const rows = await records.list('draft', { prefix: `${authorOf(who)} `, limit });
  if (rows.length < limit) return;
  throw new NebulaError('TOO_LARGE', `You have ${limit} drafts, the limit of a user.`, {
    hint: 'Delete those that are no longer used.',
  });
}

function unknownDraft({ params: { draftId } }: DraftCall): NebulaError {
  return new NebulaError('UNKNOWN_DRAFT', `You have no draft of '${draftId}'.`);
}
