/** Reads request bodies and words the errors of those that cannot be read. */
import { randomInt } from 'node:crypto';
import { findJsonError, type Json, type JsonObject, NebulaError } from '@nebula/core';
import { type Clock, pauseFor } from '@nebula/ports';
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
  const fault = bodyFault(text);
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

/**
 * The reason why a text is too much to be read as JSON, found in linear passes without recursion, so that 100,000 open brackets and a
 * million small values are harmless.
 */
export function bodyFault(text: string): NebulaError | undefined {
  const { maxBodyDepth, maxBodyValues, valuesPerName } = HTTP_LIMITS;
  let depth = 0;
  let values = 0;
  let members = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      at = endOfString(text, at + 1);
    } else if (code === 0x5b || code === 0x7b) {
      values++;
      if (++depth > maxBodyDepth) {
        return new NebulaError('BODY_INVALID', `The body nests deeper than ${maxBodyDepth} levels.`);
      }
    } else if (code === 0x5d || code === 0x7d) depth--;
    else if (code === 0x2c) values++;
    else if (code === 0x3a) members++;
  }
  const namesLeft = (maxBodyValues - values) / valuesPerName;
  if (namesLeft >= members) return undefined;
  if (namesLeft < 0 || hasMoreNames(text, namesLeft)) {
    return tooLarge(`${maxBodyValues} values (each different name of a member counts as ${valuesPerName})`);
  }
  return undefined;
}

function tooLarge(limit: string): NebulaError {
  return new NebulaError('TOO_LARGE', `The body has more than ${limit}.`, {
    hint: 'Pass the data as a file or a link.',
  });
}

const seed = randomInt(2 ** 31);

/** Whether the members of the body have more than `most` different names. Names with the same hash count as one. */
function hasMoreNames(text: string, most: number): boolean {
  const hashes = new Set<number>();
  let from = 0;
  let until = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      from = at + 1;
      until = endOfString(text, from);
      at = until;
    } else if (code === 0x3a) {
      let hash = seed;
      for (let index = from; index < until; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
      if (hashes.add(hash).size > most) return true;
    }
  }
  return false;
}

/** The quote that ends the string, or the end of the text. Most of a large body is strings, and `indexOf` is fast. */
function endOfString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let slash = quote;
    while (slash > from && text.charCodeAt(slash - 1) === 0x5c) slash--;
    if ((quote - slash) % 2 === 0) return quote;
  }
  return text.length;
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
