/** The OpenAPI 3.1 document, made from the table of operations. TypeBox schemas are JSON Schemas already. */
import {
  API_PREFIX,
  OPERATIONS,
  type Operation,
  type OperationId,
  ProblemDetails,
  ROUTES,
} from '@nebula/client/contract';

type Node = { readonly [key: string]: unknown };

export interface OpenApiDocument extends Node {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Node>>>>;
}

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  200: 'Done',
  201: 'Made',
  202: 'Accepted: durable, and acted on by an engine',
  204: 'Done; there is nothing to say',
};

export function openApiDocument(version: string): OpenApiDocument {
  const schemas: Record<string, unknown> = {};
  const paths: Record<string, Record<string, Node>> = {};
  for (const [id, route] of Object.entries(ROUTES) as [OperationId, string][]) {
    const [method = '', path = ''] = route.split(' ');
    const url = API_PREFIX + path.replaceAll(/:(\w+)/g, '{$1}');
    paths[url] = { ...paths[url], [method.toLowerCase()]: operationNode(id, OPERATIONS[id], schemas) };
  }
  const problem = named(ProblemDetails, schemas);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Nebula',
      version,
      description:
        'Durable workflows over HTTP. Errors are problems (RFC 9457) with a `code` to compare and a `hint` for people. ' +
        'Lists come in pages: `next` is the `cursor` of the next one.',
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }, { session: [] }],
    tags: [...new Set(Object.values(OPERATIONS).map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas,
      responses: {
        Problem: { description: 'A problem', content: { 'application/problem+json': { schema: problem } } },
      },
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: "A desktop's token, or an API key." },
        session: { type: 'apiKey', in: 'cookie', name: 'nebula_session' },
      },
    },
  };
}

function operationNode(operationId: OperationId, operation: Operation, schemas: Record<string, unknown>): Node {
  const { tag, summary, needs, params, query, body, answers, isIdempotent, stream } = operation;
  const parameters = [
    ...members(params, 'path'),
    ...members(query, 'query'),
    ...(isIdempotent
      ? [{ name: 'Idempotency-Key', in: 'header', schema: { type: 'string', minLength: 1, maxLength: 500 } }]
      : []),
  ];
  const type =
    stream === 'events' ? 'text/event-stream' : stream === 'bytes' ? 'application/octet-stream' : 'application/json';
  const responses = Object.fromEntries(
    Object.entries(answers).map(([status, schema]) => [
      status,
      {
        description: DESCRIPTIONS[Number(status)] ?? 'Done',
        ...(status === '204' ? {} : { content: { [type]: { schema: named(schema, schemas) } } }),
      },
    ]),
  );
  return {
    operationId,
    tags: [tag],
    summary,
    'x-needs': needs,
    ...(needs === 'public' && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: { required: true, content: { 'application/json': { schema: named(body, schemas) } } },
    }),
    responses: { ...responses, default: { $ref: '#/components/responses/Problem' } },
  };
}

function members(schema: Operation['params'], where: 'path' | 'query'): Node[] {
  if (schema === undefined) return [];
  const required: readonly string[] = schema.required ?? [];
  return Object.entries(schema.properties).map(([name, member]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    schema: plain(member),
  }));
}

/** Schemas with a name become components and are referred to by `$ref`. */
function named(schema: unknown, schemas: Record<string, unknown>): unknown {
  return plain(schema, (name, node) => {
    schemas[name] ??= node;
    return { $ref: `#/components/schemas/${name}` };
  });
}

function plain(schema: unknown, onNamed?: (name: string, node: unknown) => unknown): unknown {
  if (Array.isArray(schema)) return schema.map((one) => plain(one, onNamed));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $id, ...rest } = schema as Record<string, unknown>;
  const node = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, plain(value, onNamed)]));
  return typeof $id === 'string' && onNamed !== undefined ? onNamed($id, node) : node;
}
