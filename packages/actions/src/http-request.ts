import type { Effect } from '@nebula/core';
import { defineAction } from '@nebula/sdk';
import { DURATION_TYPE, SIZE_TYPE } from './quantity.ts';

export const httpRequest = defineAction({
  id: 'http.request',
  version: '1',
  title: 'HTTP request',
  description:
    'Sends an HTTP request. Needs the capability `network` for the host, and for every host that it is redirected to. A status in `raiseOnStatus` is an error `HTTP_<status>`. GET, HEAD and OPTIONS are pure, PUT and DELETE idempotent; POST and PATCH are done once, unless they carry an idempotency key.',
  input: {
    type: 'object',
    properties: {
      method: {
        enum: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
        title: 'Method',
        description: 'What to do.',
        default: 'GET',
      },
      url: {
        type: 'string',
        minLength: 1,
        title: 'URL',
        description: 'In full, with http or https.',
        examples: ['https://api.example.com/orders/17'],
      },
      query: {
        type: 'object',
        additionalProperties: {
          type: ['string', 'number', 'boolean', 'null', 'array'],
          items: { type: ['string', 'number', 'boolean', 'null'] },
        },
        title: 'Query',
        description: 'Added to the URL. A list repeats the name; null is left out.',
        default: {},
        examples: [{ page: 2, tag: ['a', 'b'] }],
      },
      headers: {
        type: 'object',
        additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
        title: 'Headers',
        description: 'Null is left out.',
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
              '`bearer` and `basic` are sent as `Authorization`; `header` and `query` as a header or a parameter of the URL, called `name`.',
          },
          credential: {
            type: 'string',
            minLength: 1,
            title: 'Credential',
            description: "The alias of a secret that the node's `credentials` name.",
          },
          field: {
            type: 'string',
            title: 'Field',
            description: 'The field to take, when the secret is a JSON object.',
          },
          username: {
            type: 'string',
            title: 'User name',
            description:
              'For `basic`, when the secret is the password only. Otherwise it is `user:password`, or an object of `username` and `password`.',
          },
          name: { type: 'string', minLength: 1, title: 'Name', description: 'Of the header or the parameter.' },
        },
        required: ['type', 'credential'],
        additionalProperties: false,
        title: 'Authorisation',
        description: 'Sends a credential of the node. Its value is in no parameter, output, error or log.',
        examples: [
          { type: 'bearer', credential: 'api' },
          { type: 'basic', username: 'ada', credential: 'password' },
          { type: 'header', name: 'x-api-key', credential: 'api' },
        ],
      },
      body: {
        title: 'Body',
        description: 'Text is sent as it is; anything else as JSON.',
        examples: [{ name: 'Ada' }, 'plain text'],
      },
      timeout: {
        ...DURATION_TYPE,
        title: 'Timeout',
        description: "Until the whole response is read. The node's own timeout holds too.",
        examples: ['10s', 500],
      },
      followRedirects: {
        type: 'boolean',
        title: 'Follow redirects',
        description: 'Otherwise a redirect is a response like others.',
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
          'Of those, the ones that the `system` retry budget counts; the others are USER errors. When left out: `429,5xx`, but for a request that is done once, not 502 and 504, because then nobody knows whether it was done.',
        examples: ['429,503', 'none'],
      },
      idempotencyKey: {
        type: 'boolean',
        title: 'Send an idempotency key',
        description:
          'Sends the key of this node as `Idempotency-Key`: the same for all attempts, so that a server which knows it does the work once.',
        default: false,
      },
      parse: {
        enum: ['auto', 'json', 'text', 'base64'],
        title: 'Read the body as',
        description: '`auto` goes by the content type: JSON, text, or base64 for other bytes. An empty body is null.',
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
      body: { title: 'Body', description: 'As `parse` says.' },
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

/** As a grant names it; undefined where an expression may change it. */
function hostIn(url: string): string | undefined {
  const isWhole = /^https?:\/\/[^/?#@]+(?:[/?#]|$)/i.test(url);
  return isWhole ? URL.parse(url)?.host : undefined;
}

interface EffectInput {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly idempotencyKey?: boolean;
}

/** What HTTP says about repeating a request, and what an idempotency key changes in it. */
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
