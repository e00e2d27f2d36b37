/** Large values as bytes: the whole, the beginning, or a range (RFC 9110, section 14). */
import { NebulaError } from '@nebula/core';
import { type Handlers, ok, reply } from '../http/handler.ts';
import type { Parts } from '../parts.ts';

export function blobRoutes({ blobs }: Parts) {
  return {
    async getBlob({ params: { executionId, sha256 }, query: { maxBytes }, headers }) {
      const data = await blobs.get(executionId, sha256);
      if (data === undefined) throw new NebulaError('BLOB_MISSING', 'There is no such value.');
      const total = data.byteLength;
      const known = { 'accept-ranges': 'bytes', 'x-total-bytes': String(total), etag: `"${sha256}"` };
      if (maxBytes !== undefined && maxBytes < total) return ok(wholeCharacters(data, maxBytes), known);
      const range = maxBytes === undefined ? rangeOf(headers['range'], total) : undefined;
      if (range === undefined) return ok(data, known);
      const [from, to] = range;
      return reply(206, data.subarray(from, to + 1), { ...known, 'content-range': `bytes ${from}-${to}/${total}` });
    },
  } satisfies Partial<Handlers>;
}

/** The longest beginning of UTF-8 text that ends with a whole character. */
function wholeCharacters(data: Uint8Array, maxBytes: number): Uint8Array {
  let end = maxBytes;
  // A byte 10xxxxxx continues a character.
  while (end > 0 && ((data[end] ?? 0) & 0xc0) === 0x80) end--;
  return data.subarray(0, end);
}

/** The first and last byte; undefined for the whole: without a range, or with one that this server does not know. */
function rangeOf(header: string | readonly string[] | undefined, total: number): [number, number] | undefined {
  const [, first = '', last = ''] = (typeof header === 'string' && /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header)) || [];
  if (first === '' && last === '') return undefined;
  const from = first === '' ? Math.max(0, total - Number(last)) : Number(first);
  const to = first === '' || last === '' ? total - 1 : Math.min(Number(last), total - 1);
  if (from <= to) return [from, to];
  throw new NebulaError('RANGE_INVALID', `The value has ${total} bytes: the range is outside of it.`);
}
