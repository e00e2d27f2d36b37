/** Log lines of an execution: pages in either direction, a search, and the whole as text. */
import { Readable } from 'node:stream';
import type { AnswerOf } from '@nebula/client/contract';
import { NebulaError } from '@nebula/core';
import { type LogFilter, pause, type StoredLogLine } from '@nebula/ports';
import { type Handlers, ok } from '../http/handler.ts';
import type { Parts } from '../parts.ts';
import { isoTime } from './times.ts';

/** Lines of a download that are read at once, first and at most. Their text shall take a few milliseconds. */
const FIRST_LINES = 50;
const MAX_LINES = 1_000;
const MAX_CHUNK_CHARS = 512 * 1024;

type Line = AnswerOf<'listLogs'>['items'][number];

/** `isWriting`: this process writes the logs and may still have lines in its buffer. */
export function logRoutes({ logs, clock }: Parts, isWriting: boolean) {
  return {
    async listLogs({ params: { executionId }, query }) {
      const { node, level, after, before, order, search, limit = 1_000 } = query;
      if (isWriting) await logs.flush();
      const filter: LogFilter = {
        executionId,
        limit: limit + 1,
        ...(node !== undefined && { node }),
        ...(level !== undefined && { minLevel: level }),
        ...(after !== undefined && { afterPosition: after }),
        ...(before !== undefined && { beforePosition: before }),
        ...(order !== undefined && { order }),
      };
      if (search !== undefined) {
        if (search.trim() === '') throw blank();
        const { lines, last } = await logs.search({ ...filter, limit, text: search });
        return ok({ items: lines.map(lineOf), next: last === null ? null : String(last) });
      }
      const lines = await logs.read(filter);
      const items = lines.slice(0, limit).map(lineOf);
      return ok({ items, next: lines.length > limit ? String(items.at(-1)?.position) : null });
    },

    async downloadLogs({ params: { executionId }, query: { node, level }, signal }) {
      if (isWriting) await logs.flush();
      const filter = {
        executionId,
        ...(node !== undefined && { node }),
        ...(level !== undefined && { minLevel: level }),
      };
      const pages = async function* (): AsyncGenerator<Buffer> {
        let limit = FIRST_LINES;
        for (let afterPosition = 0; !signal.aborted; ) {
          const lines = await logs.read({ ...filter, afterPosition, limit });
          const last = lines.at(-1);
          if (last === undefined) return;
          const text = lines.map(textOf).join('');
          yield Buffer.from(text);
          if (lines.length < limit) return;
          afterPosition = last.position;
          limit = Math.max(1, Math.min(MAX_LINES, 2 * limit, Math.floor((limit * MAX_CHUNK_CHARS) / text.length)));
          await pause(clock, 'request');
        }
      };
      return ok(Readable.from(pages(), { objectMode: false }), {
        'content-type': 'text/plain; charset=utf-8',
        'content-disposition': `attachment; filename="${executionId}.log"`,
      });
    },
  } satisfies Partial<Handlers>;
}

function lineOf({ executionId: _, ...line }: StoredLogLine): Line {
  return { ...line, at: isoTime(line.at) } as Line;
}

function textOf({ at, level, node, attempt, message, fields }: StoredLogLine): string {
  const where = node === null ? '' : ` ${node}${attempt === null ? '' : `#${attempt}`}`;
  const more = fields === undefined ? '' : ` ${JSON.stringify(fields)}`;
  return `${isoTime(at)} ${level.toUpperCase().padEnd(5)}${where} ${message}${more}\n`;
}

function blank(): NebulaError {
  return new NebulaError('QUERY_INVALID', "'search' is blank.", {
    hint: 'Give a text, or leave `search` out.',
    details: { errors: [{ pointer: '?search', detail: 'is blank' }] },
  });
}
