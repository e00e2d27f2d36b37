/** Reads of an execution besides its document: timeline, journal, logs, values. */
import type { AnswerOf } from '@nebula/client/contract';
import { type Json, NebulaError } from '@nebula/core';
import type { Position } from '@nebula/ports';
import { type Handlers, ok } from '../http/handler.ts';
import { unknownExecution } from '../http/subject.ts';
import type { Parts } from '../parts.ts';
import { isoTime } from './times.ts';

type Own = 'getJournal' | 'getTimeline' | 'explainExecution' | 'getUndoPlan' | 'getDefinition' | 'getBlob' | 'listLogs';

/** `isWriting`: this process writes the logs and may still have lines in its buffer. */
export function executionReads({ executions, store, blobs, logs }: Parts, isWriting: boolean): Pick<Handlers, Own> {
  return {
    async getJournal({ params: { executionId }, query: { after = 0, limit = 1_000 } }) {
      const frames = await executions.journal(executionId, after);
      const items = frames.slice(0, limit).map(({ seq, at, position, entries }) => ({
        seq,
        at: isoTime(at),
        position: wirePosition(position),
        entries: [...entries],
      }));
      return ok({ items, next: frames.length > limit ? String(items.at(-1)?.seq) : null });
    },

    async getTimeline({ params: { executionId }, query: { after = 0, limit = 1_000 } }) {
      const events = await executions.timeline(executionId);
      const items = events.slice(after, after + limit).map((event) => ({ ...event, at: isoTime(event.at) }));
      return ok({ items, next: events.length > after + limit ? String(after + limit) : null });
    },

    async explainExecution({ params: { executionId }, query: { node } }) {
      const explanation = await executions.explain(executionId, node);
      if (explanation === undefined) throw unknownNode(executionId, node);
      return ok(explanation as AnswerOf<'explainExecution'>);
    },

    async getUndoPlan({ params: { executionId } }) {
      const plan = await executions.undoPlan(executionId);
      if (plan === undefined) throw unknownExecution(executionId);
      return ok({ toUndo: [...plan.toUndo], undone: [...plan.undone] });
    },

    async getDefinition({ params: { executionId } }) {
      const row = await store.execution(executionId);
      if (row === undefined) throw unknownExecution(executionId);
      const version = await store.workflowVersion(row.workflowId, row.version);
      if (version === undefined) throw new NebulaError('UNKNOWN_WORKFLOW', `Its workflow '${row.workflowId}' is gone.`);
      const { workflowId, hash, createdAt, definition } = version;
      return ok({
        workflowId,
        version: row.version,
        hash,
        createdAt: isoTime(createdAt),
        active: false,
        definition: JSON.parse(definition) as Json,
      });
    },

    async getBlob({ params: { executionId, sha256 } }) {
      const data = await blobs.get(executionId, sha256);
      if (data === undefined) throw new NebulaError('BLOB_MISSING', 'There is no such value.');
      return ok(data);
    },

    async listLogs({ params: { executionId }, query: { node, level, after, limit = 1_000 } }) {
      if (isWriting) await logs.flush();
      const lines = await logs.read({
        executionId,
        limit: limit + 1,
        ...(node !== undefined && { node }),
        ...(level !== undefined && { minLevel: level }),
        ...(after !== undefined && { afterPosition: after }),
      });
      const items = lines.slice(0, limit).map(({ executionId: _, ...line }) => ({ ...line, at: isoTime(line.at) }));
      return ok({ items, next: lines.length > limit ? String(items.at(-1)?.position) : null });
    },
  };
}

/** A number if JSON can hold the position exactly, for clients that expect numbers. */
function wirePosition(position: Position): number | string {
  const number = Number(position);
  return Number.isSafeInteger(number) ? number : position;
}

function unknownNode(executionId: string, node: string | undefined): NebulaError {
  if (node === undefined) return unknownExecution(executionId);
  return new NebulaError('UNKNOWN_NODE', `There is no node '${node}' in ${executionId}.`);
}
