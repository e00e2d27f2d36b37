/** Checks of the requests of workflow-graph's workers and programs. */
import { type Json, type JsonObject, MOMENT_LIMITS, NebulaError } from '@nebula/core';
import { bodyCheck } from '../http/validate.ts';
import { COMPAT_LIMITS } from '../limits.ts';

export interface Chunk {
  readonly at?: number;
  readonly level: 'info' | 'warn';
  readonly message: string;
  readonly fields: Readonly<Record<string, Json>>;
}

const { maxLabels, maxLabelChars } = COMPAT_LIMITS;
const { minMs: minimum, maxMs: maximum } = MOMENT_LIMITS;

/** A body is an object or empty. */
const bodyWith = <T>(properties: object, ...required: readonly string[]) => {
  const check = bodyCheck<T>({ type: 'object', properties, required });
  return (body: unknown) => check(body ?? {});
};

export const objectIn = bodyWith<JsonObject>({});
export const outputsIn = bodyWith<{ readonly outputs?: JsonObject | null }>({ outputs: { type: ['object', 'null'] } });

export const workerIn = bodyWith<{ worker_id: string; labels: readonly string[]; lease_ttl_secs: number }>(
  {
    worker_id: { type: 'string', pattern: '^[\\w.:-]{1,200}$', description: '1 to 200 letters, digits, _ . : and -.' },
    labels: {
      ...{ type: 'array', maxItems: maxLabels, default: [] },
      items: { type: 'string', minLength: 1, maxLength: maxLabelChars },
    },
    lease_ttl_secs: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 30 },
  },
  'worker_id',
);

const CHUNK = {
  type: 'object',
  properties: {
    data: { type: 'string', default: '' },
    stream: { type: 'string', default: 'stdout' },
    sequence: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 },
    timestamp_ms: { type: ['number', 'null'], minimum, maximum },
  },
};
type SentChunk = Readonly<{ data: string; stream: string; sequence: number; timestamp_ms?: number | null }>;
const sentChunks = bodyWith<{ chunks: readonly SentChunk[] }>({ chunks: { type: 'array', items: CHUNK } }, 'chunks');

/** Accepts as many chunks as a body holds: a worker of workflow-graph drops rejected ones. */
export function chunksIn(body: unknown): readonly Chunk[] {
  return sentChunks(body).chunks.map(({ data, stream, sequence, timestamp_ms: at }) => {
    const isError = stream.toLowerCase() === 'stderr';
    return {
      message: data,
      level: isError ? 'warn' : 'info',
      fields: { stream: isError ? 'stderr' : 'stdout', sequence },
      ...(typeof at === 'number' && { at }),
    };
  });
}

export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** One value of a query, or undefined. */
export function queryIn(query: Query, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new NebulaError('QUERY_INVALID', `'${name}' is given more than once.`, {
    details: { errors: [{ pointer: `?${name}`, detail: 'is given more than once' }] },
  });
}

export function countIn(query: Query, name: string, fallback: number): number {
  const text = queryIn(query, name) ?? String(fallback);
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new NebulaError('QUERY_INVALID', `'${text.slice(0, 40)}' is not a count.`);
}
