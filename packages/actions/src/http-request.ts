import type { Effect } from '@nebula/core';
import { defineAction } from '@nebula/sdk';
import { DURATION_TYPE, SIZE_TYPE } from './quantity.ts';

export const httpRequest = defineAction({
  id: 'http.request',
  version: '1',
  title: 'HTTP request',
  description:
    'Sends an HTTP request. Needs the capability `network` for the host and for the hosts of all redirects. A status in `raiseOnStatus` is an error `HTTP_<status>`. GET, HEAD and OPTIONS are pure, PUT and DELETE idempotent; POST and PATCH have the effect once, unless they carry an idempotency key.',
  category: 'network',
  icon: 'globe',
  examples: [
    {
      title: 'Post an order as JSON',
      with: {
        method: 'POST',
        url: 'https://api.example.com/orders',
        body: { item: '{{ $input.item }}' },
        idempotencyKey: true,
      },
    },
  ],
  input: {
    type: 'object',
    properties: {
      method: {
        enum: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
        title: 'Method',
        description: 'The HTTP method.',
        default: 'GET',
      },
      url: {
        type: 'string',
        minLength: 1,
        title: 'URL',
        description: 'The absolute URL, with http or https.',
        examples: ['https://api.example.com/orders/17'],
      },
      query: {
        type: 'object',
        additionalProperties: {
          type: ['string', 'number', 'boolean', 'null', 'array'],
          items: { type: ['string', 'number', 'boolean', 'null'] },
        },
        title: 'Query',
        description: 'Added to the URL. A list repeats the name; null values are omitted.',
        default: {},
        examples: [{ page: 2, tag: ['a', 'b'] }],
      },
      headers: {
        type: 'object',
        additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
        title: 'Headers',
        description: 'Null values are omitted.',
        default: {},
        examples: [{ accept: 'application/json' }],
      },
      auth: {
        type: 'object',
        properties: {
          type: {
            enum: ['bearer', 'basic', 'header', 'query'],
            title: 'Type',
            description:
              '`bearer` and `basic` are sent as `Authorization`; `header` and `query` as the header or URL parameter `name`.',
          },
          credential: {
            type: 'string',
            minLength: 1,
            title: 'Credential',
            description: "An alias from the node's `credentials`.",
          },
          field: {
            type: 'string',
            title: 'Field',
            description: 'The field to use, when the secret is a JSON object.',
          },
          username: {
            type: 'string',
            title: 'User name',
            description:
              'For `basic`, when the secret contains only the password. Otherwise the secret is `user:password`, or an object with `username` and `password`.',
          },
          name: { type: 'string', minLength: 1, title: 'Name', description: 'The name of the header or parameter.' },
        },
        required: ['type', 'credential'],
        additionalProperties: false,
        title: 'Authorisation',
        description: 'Sends a credential of the node. Its value never appears in parameters, outputs, errors or logs.',
        examples: [
          { type: 'bearer', credential: 'api' },
          { type: 'basic', username: 'ada', credential: 'password' },
          { type: 'header', name: 'x-api-key', credential: 'api' },
        ],
      },
      body: {
        title: 'Body',
        description: 'Text is sent unchanged; other values as JSON.',
        examples: [{ name: 'Ada' }, 'plain text'],
      },
      timeout: {
        ...DURATION_TYPE,
        title: 'Timeout',
        description: "The time limit until the whole response is read. The node's own timeout applies, too.",
        examples: ['10s', 500],
      },
      followRedirects: {
        type: 'boolean',
        title: 'Follow redirects',
        description: 'If false, a redirect is returned like any other response.',
        default: true,
      },
      raiseOnStatus: {
        type: 'string',
        title: 'Statuses that are errors',
        description: '`4xx`, `404`, `500-599`, several with commas, or `none`.',
        default: '4xx,5xx',
        examples: ['5xx', '400-403,5xx', 'none'],
      },
      systemStatus: {
        type: 'string',
        title: 'Errors of kind SYSTEM',
        description:
          'The statuses among them that are errors of kind SYSTEM; the others are USER errors. Default: `429,5xx`; for requests with the effect once without 502 and 504, after which the outcome is unknown.',
        examples: ['429,503', 'none'],
      },
      idempotencyKey: {
        type: 'boolean',
        title: 'Send an idempotency key',
        description:
          'Sends the idempotency key of the node as `Idempotency-Key`. It is the same for all attempts, so that a server that supports it does the work once.',
        default: false,
      },
      parse: {
        enum: ['auto', 'json', 'text', 'base64'],
        title: 'Read the body as',
        description: '`auto` uses the content type: JSON, text, or base64 for other bytes. An empty body is null.',
        default: 'auto',
      },
      maxBytes: {
        ...SIZE_TYPE,
        title: 'Size limit',
        description: 'A larger body, once decompressed, is an error. `10MB`, or bytes.',
        default: '10MB',
        examples: ['64KiB', 1048576],
      },
    },
    required: ['url'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      status: { type: 'integer', title: 'Status', examples: [200] },
      statusText: { type: 'string', title: 'Status text', examples: ['OK'] },
      headers: {
        type: 'object',
        additionalProperties: { type: ['string', 'array'], items: { type: 'string' } },
        title: 'Headers',
        description: 'Names in lower case; `set-cookie` is a list.',
      },
      body: { title: 'Body', description: 'The body, parsed according to `parse`.' },
      durationMs: { type: 'number', title: 'Duration', description: 'In milliseconds, until the body was read.' },
    },
    required: ['status', 'statusText', 'headers', 'body', 'durationMs'],
  },
  effect: effectOf,
  capabilities: ['network'],
  reaches: { network: ({ url }) => hostIn(url) },
  async run(ctx, input) {
    const { exchange } = await import('./http/exchange.ts');
    return exchange(ctx, input, effectOf(input) === 'once');
  },
});

/** The host in the form that grants use; undefined where an expression may change it. */
function hostIn(url: string): string | undefined {
  const isWhole = /^https?:\/\/[^/?#@]+(?:[/?#]|$)/i.test(url);
  return isWhole ? URL.parse(url)?.host : undefined;
}

interface EffectInput {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly idempotencyKey?: boolean;
}

/** The effect of a method according to HTTP, taking an idempotency key into account. */
function effectOf({ method = 'GET', headers = {}, idempotencyKey }: EffectInput): Effect {
  switch (method) {
    case 'GET':
    case 'HEAD':
    case 'OPTIONS':
      return 'pure';
    case 'PUT':
    case 'DELETE':
      return 'idempotent';
    default: {
      const hasKey = Object.entries(headers).some(
        ([name, value]) => name.toLowerCase() === 'idempotency-key' && value !== null && value !== '',
      );
      return idempotencyKey === true || hasKey ? 'idempotent' : 'once';
    }
  }
}
