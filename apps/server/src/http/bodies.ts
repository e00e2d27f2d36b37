/** Reads request bodies and words the errors of those that cannot be read. */
import { randomInt } from 'node:crypto';
import { findJsonError, type Json, type JsonObject, NebulaError, type Steps } from '@nebula/core';
import { type Clock, inSlices, pauseFor } from '@nebula/ports';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { HTTP_LIMITS } from '../limits.ts';
import { tooLarge as bodyTooLarge } from './body-memory.ts';
import { parsingBody } from './connections.ts';

/** Only JSON bodies are accepted: a form on a foreign page cannot send them without a CORS preflight. */
export function readJsonBodies(app: FastifyInstance, clock: Clock): void {
  const parser = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  // As bytes: a text that is put together from chunks is a tree, in which each look at a character takes 50 ns.
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer) => {
      const text = bytes.toString();
      if (text === '') return undefined;
      const parse = (): Promise<unknown> =>
        new Promise((resolve, reject) => {
          void parser(request, text, (error, body) => (error === null ? resolve(body) : reject(error)));
        });
      return parsingBody(request, () => readJson(text, clock, parse));
    },
  );
}

/** A large text is scanned, parsed and handed on in turns of the event loop of their own. */
export async function readJson(text: string, clock: Clock, parse: (text: string) => unknown): Promise<unknown> {
  await pauseFor(text.length, clock, 'request');
  const fault = await inSlices(bodyFault(text), clock, 'request');
  if (fault !== undefined) throw fault;
  await pauseFor(text.length, clock, 'request');
  try {
    const body = await parse(text);
    await pauseFor(text.length, clock, 'request');
    return body;
  } catch {
    throw notJson(text);
  }
}

/** The fields of a form; one that is sent several times is a list. */
export async function readForm(text: string, clock: Clock): Promise<JsonObject> {
  await pauseFor(text.length, clock, 'request');
  const { maxFormFields } = HTTP_LIMITS;
  let fields = 1;
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) fields++;
  if (fields > maxFormFields) throw tooLarge(`${maxFormFields} fields`);
  const form = new Map<string, Json[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const values = form.get(name);
    if (values === undefined) form.set(name, [value]);
    else values.push(value);
  }
  return Object.fromEntries(
    [...form].map(([name, values]) => [name, values.length === 1 ? (values[0] as Json) : values]),
  );
}

/** The characters that are scanned without a step in between: under a millisecond, once the code is warm. */
const CHARS_PER_STEP = 64 * 1024;

/**
 * The reason why a text is too much to be read as JSON, found in linear passes without recursion, so that 100,000 open
 * brackets and a million small values are harmless.
 */
export function* bodyFault(text: string): Steps<NebulaError | undefined> {
  const { maxBodyDepth, maxBodyValues, valuesPerName } = HTTP_LIMITS;
  const scan = new BodyScan(text);
  while (scan.advance(CHARS_PER_STEP)) {
    if (scan.deepest > maxBodyDepth) break;
    yield;
  }
  if (scan.deepest > maxBodyDepth) {
    return new NebulaError('BODY_INVALID', `The body nests deeper than ${maxBodyDepth} levels.`);
  }
  const namesLeft = (maxBodyValues - scan.values) / valuesPerName;
  if (namesLeft >= scan.members) return undefined;
  if (namesLeft < 0 || (yield* hasMoreNames(text, namesLeft))) {
    return tooLarge(`${maxBodyValues} values (each different name of a member counts as ${valuesPerName})`);
  }
  return undefined;
}

/** Whether the members of the body have more than `most` different names. Names with the same hash count as one. */
function* hasMoreNames(text: string, most: number): Steps<boolean> {
  const hashes = new Set<number>();
  const scan = new BodyScan(text, hashes);
  while (scan.advance(CHARS_PER_STEP)) {
    if (hashes.size > most) return true;
    yield;
  }
  return hashes.size > most;
}

function tooLarge(limit: string): NebulaError {
  return new NebulaError('TOO_LARGE', `The body has more than ${limit}.`, {
    hint: 'Pass the data as a file or a link.',
  });
}

const seed = randomInt(2 ** 31);

/** Counts the values and members of a JSON text, piece by piece. */
class BodyScan {
  values = 0;
  members = 0;
  deepest = 0;
  readonly #text: string;
  readonly #hashes: Set<number> | undefined;
  #at = 0;
  #depth = 0;
  #isInString = false;
  /** The last string: behind its quote, and at the quote that ends it. */
  #from = 0;
  #until = 0;
  /** No colon has followed the last string yet. */
  #isNew = false;

  /** With `hashes`, the hash of each member's name is added to them. */
  constructor(text: string, hashes?: Set<number>) {
    this.#text = text;
    this.#hashes = hashes;
  }

  /** Scans about this many characters. Returns false at the end of the text. */
  advance(chars: number): boolean {
    const text = this.#text;
    const end = Math.min(text.length, this.#at + chars);
    while (this.#at < end) {
      if (this.#isInString) this.#skipString(end);
      else this.#scan(end);
    }
    return this.#at < text.length;
  }

  /** Stops at a string. */
  #scan(end: number): void {
    const text = this.#text;
    let at = this.#at;
    for (; at < end; at++) {
      const code = text.charCodeAt(at);
      if (code === 0x22) {
        this.#isInString = true;
        this.#from = ++at;
        break;
      }
      if (code === 0x5b || code === 0x7b) {
        this.values++;
        if (++this.#depth > this.deepest) this.deepest = this.#depth;
      } else if (code === 0x5d || code === 0x7d) this.#depth--;
      else if (code === 0x2c) this.values++;
      else if (code === 0x3a) {
        this.members++;
        // Once for each string: `"…"::::` is not JSON, and would otherwise take the square of its length.
        if (this.#isNew) this.#hashes?.add(this.#hash());
        this.#isNew = false;
      }
    }
    this.#at = at;
  }

  /** Most of a large body is strings, and `indexOf` is fast. */
  #skipString(end: number): void {
    const text = this.#text;
    while (this.#at < end) {
      const quote = text.indexOf('"', this.#at);
      this.#until = quote < 0 ? text.length : quote;
      this.#at = this.#until + 1;
      let slash = this.#until;
      while (slash > this.#from && text.charCodeAt(slash - 1) === 0x5c) slash--;
      this.#isInString = quote >= 0 && (quote - slash) % 2 === 1;
      if (this.#isInString) continue;
      this.#isNew = true;
      return;
    }
  }

  #hash(): number {
    let hash = seed;
    for (let index = this.#from; index < this.#until; index++) {
      hash = Math.imul(hash ^ this.#text.charCodeAt(index), 0x01000193);
    }
    return hash;
  }
}

/** The error for a body that is not JSON, with its position and reason. */
function notJson(text: string): NebulaError {
  const found = findJsonError(text);
  if (found === undefined) {
    return new NebulaError('BODY_INVALID', 'The body has a member that JavaScript does not treat as plain data.', {
      hint: 'Rename the member __proto__, or prototype inside of constructor.',
    });
  }
  const before = text.slice(0, found.offset);
  const line = before.split('\n').length;
  const column = found.offset - before.lastIndexOf('\n');
  return new NebulaError('BODY_INVALID', `The body is not JSON: line ${line}, column ${column}: ${found.message}.`, {
    hint: `${found.hint}.`,
  });
}

/** Errors of the HTTP library as errors of the API. */
export function bodyError(error: unknown): unknown {
  if (error instanceof NebulaError || typeof error !== 'object' || error === null) return error;
  const { code = '', statusCode } = error as { code?: string; statusCode?: number };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return bodyTooLarge();
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new NebulaError('MEDIA_TYPE', 'The body must be JSON.', { hint: 'Send content-type: application/json.' });
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new NebulaError('HEAD_TOO_LARGE', 'The URL and the headers are larger than this server accepts.');
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new NebulaError('REQUEST_LATE', 'The request was not received in time.', { hint: 'Send it again.' });
  }
  if (code === 'FST_ERR_BAD_URL') {
    return new NebulaError('QUERY_INVALID', 'The URL cannot be decoded.', {
      hint: 'A % must be followed by two hexadecimal digits; write a literal % as %25.',
    });
  }
  if ((statusCode !== undefined && statusCode >= 400 && statusCode < 500) || code.startsWith('HPE_')) {
    const message = error instanceof Error ? error.message : 'The request cannot be read';
    return new NebulaError('BODY_INVALID', `${message.replace(/\.$/, '')}.`, {
      hint: code.startsWith('HPE_')
        ? 'Check that the request is HTTP and matches its headers.'
        : 'Check that the body is complete JSON in UTF-8.',
    });
  }
  return error;
}
