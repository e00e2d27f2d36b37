/** Checks of the requests of workflow-graph's workers and programs. */
import { isJsonObject, isMoment, type Json, type JsonObject, NebulaError } from '@nebula/core';
import { COMPAT_LIMITS } from '../limits.ts';

export interface Chunk {
  readonly at?: number;
  readonly level: 'info' | 'warn';
  readonly message: string;
  readonly fields: Readonly<Record<string, Json>>;
}

/** A body is an object or empty. */
export function objectIn(body: unknown): JsonObject {
  if (body === undefined || body === null) return {};
  if (isJsonObject(body as Json)) return body as JsonObject;
  throw new NebulaError('BODY_INVALID', 'The body must be an object.', { hint: 'Send JSON: {"…": …}.' });
}

/** Accepts as many chunks as a body holds: a worker of workflow-graph drops rejected ones. */
export function chunksIn({ chunks }: JsonObject): readonly Chunk[] {
  if (!Array.isArray(chunks)) throw invalid('chunks', 'is not a list');
  return chunks.map((chunk: Json, index) => chunkIn(chunk, `chunks/${index}`));
}

function chunkIn(chunk: Json, place: string): Chunk {
  if (!isJsonObject(chunk)) throw invalid(place, 'is not an object');
  const { data = '', stream = 'stdout', sequence = 0, timestamp_ms: at = null } = chunk;
  if (typeof data !== 'string') throw invalid(`${place}/data`, 'is not a string');
  if (typeof stream !== 'string') throw invalid(`${place}/stream`, 'is not stdout or stderr');
  if (!Number.isSafeInteger(sequence)) throw invalid(`${place}/sequence`, 'is not a whole number');
  if (at !== null && !isMoment(at)) throw invalid(`${place}/timestamp_ms`, 'is not a moment between 1970 and 9999');
  const isError = stream.toLowerCase() === 'stderr';
  return {
    message: data,
    level: isError ? 'warn' : 'info',
    fields: { stream: isError ? 'stderr' : 'stdout', sequence },
    ...(at !== null && { at }),
  };
}

export interface NamedWorker {
  readonly workerId: string;
  readonly labels: readonly string[];
}

export function workerIn({ worker_id: workerId, labels = [] }: JsonObject): NamedWorker {
  if (typeof workerId !== 'string' || !/^[\w.:-]{1,200}$/.test(workerId)) throw invalid('worker_id', 'is not a name');
  return { workerId, labels: labelsIn(labels) };
}

function labelsIn(labels: Json): readonly string[] {
  const { maxLabels, maxLabelChars } = COMPAT_LIMITS;
  const isText = (one: Json): one is string => typeof one === 'string' && one !== '' && one.length <= maxLabelChars;
  if (!Array.isArray(labels) || !labels.every(isText)) throw invalid('labels', 'is not a list of strings');
  if (labels.length > maxLabels) throw invalid('labels', `has more than ${maxLabels} items`);
  return labels;
}

/** If absent: none. */
export function outputsIn({ outputs = null }: JsonObject): JsonObject {
  if (outputs === null) return {};
  if (isJsonObject(outputs)) return outputs;
  throw invalid('outputs', 'is not an object');
}

/** A worker reads the length of its lease from the answer: a longer one than allowed is shortened. */
export function ttlSecondsIn({ lease_ttl_secs: ttl = 30 }: JsonObject): number {
  if (Number.isSafeInteger(ttl) && (ttl as number) > 0) return Math.min(ttl as number, COMPAT_LIMITS.maxTtlSeconds);
  throw invalid('lease_ttl_secs', 'is not a whole number of seconds above 0');
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

function invalid(place: string, what: string): NebulaError {
  return new NebulaError('BODY_INVALID', `'${place}' ${what}.`, {
    details: { errors: [{ pointer: `/${place}`, detail: what }] },
  });
}
