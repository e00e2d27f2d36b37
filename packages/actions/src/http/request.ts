/** Builds the parts of a request from the input of the action. */
import type { Json } from '@nebula/core';
import { ActionError } from '@nebula/sdk';

type Scalar = string | number | boolean | null;
type Query = Readonly<Record<string, Scalar | readonly Scalar[]>>;

export function requestUrl(url: string, query: Query): URL {
  const parsed = URL.parse(url);
  if (parsed === null) {
    throw new ActionError(`'${url.slice(0, 200)}' is not a URL`, {
      code: 'INPUT_INVALID',
      parameter: 'url',
      hint: 'Use an absolute URL, e.g. https://api.example.com/orders',
    });
  }
  for (const [name, value] of Object.entries(query)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== null) parsed.searchParams.append(name, String(item));
    }
  }
  return parsed;
}

/** `Headers` rejects line breaks and other invalid characters; the error names the header. */
export function requestHeaders(given: Readonly<Record<string, Scalar>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    if (value === null) continue;
    try {
      headers.append(name, String(value));
    } catch {
      throw new ActionError(`the header ${JSON.stringify(name)} has a name or value that HTTP does not allow`, {
        code: 'INPUT_INVALID',
        parameter: ['headers', name],
      });
    }
  }
  return headers;
}

/** Text is sent unchanged, other values as JSON. Sets the content type unless the caller did. */
export function requestBody(body: Json | undefined, method: string, headers: Headers): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (method === 'GET' || method === 'HEAD') {
    throw new ActionError(`a ${method} request cannot have a body`, {
      code: 'INPUT_INVALID',
      parameter: 'body',
      hint: 'Use query, or another method',
    });
  }
  if (typeof body === 'string') return body;
  if (!headers.has('content-type')) headers.set('content-type', 'application/json');
  return JSON.stringify(body);
}
