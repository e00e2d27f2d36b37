/** Reads response bodies up to a limit, counted after decompression, and converts them to JSON values. */
import type { Json } from '@nebula/core';
import { ActionError } from '@nebula/sdk';

export type Parse = 'auto' | 'json' | 'text' | 'base64';

/** Stops reading at the limit, so that a small compressed body cannot exhaust the memory. */
export async function readBody(response: Response, maxBytes: number): Promise<Uint8Array> {
  const announced = Number(response.headers.get('content-length') ?? 0);
  if (announced > maxBytes && !response.headers.has('content-encoding') && response.body !== null) {
    await response.body.cancel();
    throw tooLarge(maxBytes);
  }
  const { chunks, cut } = await readUpTo(response, maxBytes);
  if (cut) throw tooLarge(maxBytes);
  return Buffer.concat(chunks);
}

/** The beginning of an error body, for display; never throws. */
export async function readExcerpt(response: Response, maxBytes: number): Promise<string> {
  const { chunks } = await readUpTo(response, maxBytes).catch(() => ({ chunks: [] }));
  return new TextDecoder().decode(Buffer.concat(chunks), { stream: true });
}

async function readUpTo(response: Response, maxBytes: number) {
  const chunks: Uint8Array[] = [];
  const reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined;
  if (reader === undefined) return { chunks, cut: false };
  let left = maxBytes;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { chunks, cut: false };
    if (value.byteLength > left) {
      chunks.push(value.subarray(0, left));
      await reader.cancel();
      return { chunks, cut: true };
    }
    chunks.push(value);
    left -= value.byteLength;
  }
}

export function parseBody(data: Uint8Array, contentType: string | null, parse: Parse): Json {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  switch (parse) {
    case 'base64':
      return Buffer.from(data).toString('base64');
    case 'text':
      return decode(data, parameters);
    case 'json':
      return data.byteLength === 0 ? null : parseJson(decode(data, parameters));
    case 'auto':
      if (data.byteLength === 0) return null;
      if (/[/+]json\s*$/.test(type)) return jsonOrText(decode(data, parameters));
      if (isText(type.trim())) return decode(data, parameters);
      return type.trim() === '' ? (utf8OrUndefined(data) ?? base64(data)) : base64(data);
  }
}

function base64(data: Uint8Array): string {
  return Buffer.from(data).toString('base64');
}

function isText(type: string): boolean {
  return /^text\/|[/+]xml$|\/(javascript|x-www-form-urlencoded|x-ndjson|yaml|x-yaml|toml|graphql)$/.test(type);
}

function decode(data: Uint8Array, parameters: readonly string[]): string {
  const charset = parameters.map((parameter) => /^\s*charset="?([^"\s]+)"?/.exec(parameter)?.[1]).find(Boolean);
  try {
    return new TextDecoder(charset ?? 'utf-8').decode(data);
  } catch {
    // The charset is unknown.
    return new TextDecoder().decode(data);
  }
}

function utf8OrUndefined(data: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(data);
  } catch {
    return undefined;
  }
}

function jsonOrText(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ActionError(`the response is not JSON: ${(error as Error).message}`, {
      code: 'RESPONSE_NOT_JSON',
      parameter: 'url',
      details: { body: text.slice(0, 500) },
    });
  }
}

function tooLarge(maxBytes: number): ActionError {
  return new ActionError(`the response is larger than ${maxBytes} bytes`, {
    code: 'RESPONSE_TOO_LARGE',
    parameter: 'url',
    details: { maxBytes },
    hint: 'Raise maxBytes, or request less data',
  });
}
