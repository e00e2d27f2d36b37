/**
 * Pages of iterations. The first page of a loop reads the journal of its run, in slices, and keeps an index of all its
 * iterations; later pages read only the frames that came since. A page then costs the same for 10,000 iterations as for
 * 10, apart from a filter by status, which looks at all of them in memory.
 *
 *  1 The indexes of all loops together have at most `maxIndexedIterations` iterations: the least recently used go first.
 *  2 An index belongs to one run, by id and time of creation: a new run can have the id of a deleted one.
 *  3 One reader at a time adds frames to an index; callers that come meanwhile wait for it.
 */
import type { AnswerOf } from '@nebula/client/contract';
import { type Json, LoopHistory } from '@nebula/core';
import type { Call } from '../http/handler.ts';
import { ITERATION_LIMITS, READ_LIMITS } from '../limits.ts';
import type { Parts } from '../parts.ts';
import { isoTime, isoTimeOrNull } from './times.ts';

type Items = AnswerOf<'listIterations'>['items'];

interface LoopIndex {
  readonly createdAt: number;
  readonly loop: LoopHistory;
  /** The last noted frame. */
  seq: number;
  reading: Promise<void>;
}

export class IterationIndexes {
  private readonly parts: Parts;
  private readonly indexes = new Map<string, LoopIndex>();

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** Undefined if the loop was not opened, or there is no such run. */
  async page(
    executionId: string,
    { node, cursor = '-1', limit = 1_000, status }: Call<'listIterations'>['query'],
  ): Promise<AnswerOf<'listIterations'> | undefined> {
    const index = await this.indexOf(executionId, node);
    if (index === undefined || !index.loop.isOpened) return undefined;
    const { iterations, counts } = index.loop;
    const found: (typeof iterations)[number][] = [];
    let at = Number(cursor) + 1;
    for (; at < iterations.length && found.length <= limit; at++) {
      const one = iterations[at];
      if (one !== undefined && (status === undefined || one.status === status)) found.push(one);
    }
    const page = found.slice(0, limit);
    const previews = await this.previews(
      executionId,
      index.loop,
      page.map(({ iteration }) => iteration),
    );
    const items: Items = page.map(({ startedAt, endedAt, ...rest }) => {
      const item = previews.get(rest.iteration);
      return {
        ...rest,
        startedAt: isoTime(startedAt),
        endedAt: isoTimeOrNull(endedAt),
        durationMs: endedAt === null ? null : endedAt - startedAt,
        ...(item !== undefined && { item }),
      };
    });
    return { items, next: found.length > limit ? String(page.at(-1)?.iteration) : null, counts };
  }

  private async indexOf(executionId: string, node: string): Promise<LoopIndex | undefined> {
    const row = await this.parts.store.execution(executionId);
    if (row === undefined) return undefined;
    const key = `${executionId} ${node}`;
    const known = this.indexes.get(key);
    const isSame = known?.createdAt === row.createdAt;
    const index: LoopIndex = isSame
      ? known
      : { createdAt: row.createdAt, loop: new LoopHistory(node), seq: 0, reading: Promise.resolve() };
    this.indexes.delete(key);
    this.indexes.set(key, index);
    const reading = index.reading.catch(() => undefined).then(() => this.readOn(executionId, index));
    index.reading = reading;
    try {
      await reading;
    } catch (error) {
      this.indexes.delete(key);
      throw error;
    }
    // Any text is the name of a node that is no loop.
    if (!index.loop.isOpened) this.indexes.delete(key);
    this.trim();
    return index;
  }

  /** Notes the frames after the last noted one. */
  private async readOn(executionId: string, index: LoopIndex): Promise<void> {
    const { executions, clock } = this.parts;
    let unpaused = 0;
    for await (const { seq, at, entries, chars } of executions.frames(executionId, index.seq)) {
      for (const entry of entries) index.loop.note(entry, at);
      index.seq = seq;
      unpaused += chars;
      if (unpaused < READ_LIMITS.maxCharsUnpaused) continue;
      unpaused = 0;
      await new Promise<void>((resolve) => clock.soon(resolve));
    }
  }

  /** The newest index stays, whatever its size. */
  private trim(): void {
    let indexed = 0;
    for (const [key, { loop }] of [...this.indexes].reverse()) {
      indexed += 1 + loop.iterations.length;
      if (indexed > ITERATION_LIMITS.maxIndexedIterations && indexed > 1 + loop.iterations.length) {
        this.indexes.delete(key);
      }
    }
  }

  /** The items of these iterations as cut JSON. Items in a large blob have no preview: the blob would have to be read. */
  private async previews(
    executionId: string,
    loop: LoopHistory,
    iterations: readonly number[],
  ): Promise<ReadonlyMap<number, string>> {
    const lists = new Map<string, Json>();
    const previews = new Map<number, string>();
    for (const iteration of iterations) {
      const found = loop.itemOf(iteration);
      if (found === undefined) continue;
      const { blob, value } = found.items;
      if (blob !== undefined && blob.bytes > ITERATION_LIMITS.maxReadItemsBytes) continue;
      let list = value;
      if (blob !== undefined) {
        list = lists.get(blob.sha256);
        if (list === undefined) {
          const data = await this.parts.blobs.get(executionId, blob.sha256);
          list = data === undefined ? null : (JSON.parse(Buffer.from(data).toString('utf8')) as Json);
          lists.set(blob.sha256, list);
        }
      }
      const item = Array.isArray(list) ? (list[found.at] as Json | undefined) : undefined;
      if (item !== undefined) previews.set(iteration, preview(item));
    }
    return previews;
  }
}

/** An item may be large as well: the text of one is made once per page that shows it. */
function preview(item: Json): string {
  const { maxPreviewChars } = ITERATION_LIMITS;
  if (typeof item === 'string') return JSON.stringify(item.slice(0, maxPreviewChars)).slice(0, maxPreviewChars);
  return JSON.stringify(item).slice(0, maxPreviewChars);
}
