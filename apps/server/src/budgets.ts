/**
 * The budgets of everything that comes from outside, in one table. The reference is generated from it, and a test
 * probes each budget just below and just above. The values are those that the code uses.
 */
import { CONTRACT_LIMITS } from '@nebula/client/contract';
import {
  DEFINITION_LIMITS,
  EXPRESSION_LIMITS,
  MOMENT_LIMITS,
  RUN_DEFAULTS,
  SCHEMA_LIMITS,
  stepCost,
} from '@nebula/core';
import {
  ANNOUNCEMENT_LIMITS,
  CHECK_LIMITS,
  COMPAT_LIMITS,
  FILE_PATTERN_LIMITS,
  HTTP_LIMITS,
  LIVE_LIMITS,
  UPLOAD_LIMITS,
} from './limits.ts';

export interface Budget {
  readonly of: 'size' | 'time' | 'memory' | 'depth' | 'count';
  readonly limit: number;
  readonly unit: string;
  /** The input that is limited. */
  readonly what: string;
  /** The outcome for input above the limit. */
  readonly over: string;
}

const budget = (of: Budget['of'], limit: number, unit: string, what: string, over: string): Budget => ({
  of,
  limit,
  unit,
  what,
  over,
});

export const BUDGETS = {
  'connection.total': budget('count', HTTP_LIMITS.maxConnections, 'sockets', 'Open connections', 'destroyed'),
  'connection.perAddress': budget(
    'count',
    HTTP_LIMITS.maxConnectionsPerAddress,
    'sockets',
    'Open connections of one address, unless proxies are configured',
    'destroyed',
  ),
  'connection.idle': budget(
    'time',
    HTTP_LIMITS.keepAliveMs,
    'ms',
    'Pause between two requests of a connection',
    'closed',
  ),
  'head.time': budget('time', HTTP_LIMITS.headMs, 'ms', 'The head of a request', '408, destroyed'),
  'head.size': budget('size', HTTP_LIMITS.maxHeadBytes, 'bytes', 'URL and headers of a request', '431'),
  'body.silence': budget('time', HTTP_LIMITS.silentBodyMs, 'ms', 'Pause within a body', 'destroyed'),
  'body.rest': budget('time', HTTP_LIMITS.lingerMs, 'ms', 'The rest of a body that is refused', 'destroyed'),
  'request.time': budget('time', HTTP_LIMITS.requestMs, 'ms', 'A whole request', '408, destroyed'),
  'body.size': budget('size', HTTP_LIMITS.maxBodyBytes, 'bytes', 'A body (`server.bodyLimit`)', '413 `TOO_LARGE`'),
  'body.public': budget(
    'size',
    HTTP_LIMITS.maxPublicBodyBytes,
    'bytes',
    'A body of a public endpoint',
    '413 `TOO_LARGE`',
  ),
  'body.definition': budget(
    'size',
    HTTP_LIMITS.maxDefinitionBodyBytes,
    'bytes',
    'A body with a definition',
    '413 `TOO_LARGE`, unread',
  ),
  'body.values': budget(
    'count',
    HTTP_LIMITS.maxBodyValues,
    'values',
    `Values of a JSON body; each different name of a member counts as ${HTTP_LIMITS.valuesPerName}`,
    '413 `TOO_LARGE`',
  ),
  'body.fields': budget('count', HTTP_LIMITS.maxFormFields, 'fields', 'Fields of a form', '413 `TOO_LARGE`'),
  'body.depth': budget('depth', HTTP_LIMITS.maxBodyDepth, 'levels', 'Nesting of a JSON body', '400 `BODY_INVALID`'),
  'body.memory': budget(
    'memory',
    HTTP_LIMITS.maxBodyBytesInFlight,
    'bytes',
    'Received bytes of bodies in progress, together, besides `body.free` of each',
    '503 `BUSY`',
  ),
  'body.perCaller': budget(
    'memory',
    HTTP_LIMITS.maxBodyBytesInFlight / 2,
    'bytes',
    'The same of one caller (user, key or address): half of what others leave',
    '503 `BUSY`',
  ),
  'body.free': budget(
    'memory',
    HTTP_LIMITS.maxFreeBodyBytes,
    'bytes',
    'The first bytes of a body, for which there is always room',
    'counts in `body.memory`',
  ),
  'input.depth': budget('depth', RUN_DEFAULTS.maxInputDepth, 'levels', 'Nesting of the input of a run', '422'),
  'time.latest': budget('size', MOMENT_LIMITS.maxMs, 'ms since 1970', 'Times', '400'),
  'log.lines': budget('count', CONTRACT_LIMITS.maxLogLines, 'lines', 'Log lines of one request', '400 `BODY_INVALID`'),
  'log.line': budget('size', CONTRACT_LIMITS.maxLogLineChars, 'characters', 'One log line', '400 `BODY_INVALID`'),
  'chunk.size': budget('size', COMPAT_LIMITS.maxChunkChars, 'characters', 'One log chunk', '400'),
  'definition.text': budget('size', CONTRACT_LIMITS.maxSourceChars, 'characters', 'An uploaded definition', '400'),
  'definition.json': budget(
    'size',
    UPLOAD_LIMITS.maxDefinitionChars,
    'characters',
    'An uploaded definition in JSON',
    '413 `TOO_LARGE`',
  ),
  'definition.nodes': budget(
    'count',
    UPLOAD_LIMITS.maxNodes,
    'nodes',
    'Nodes of an uploaded definition',
    '413 `TOO_LARGE`',
  ),
  'definition.edges': budget(
    'count',
    UPLOAD_LIMITS.maxEdges,
    'edges',
    'Edges of an uploaded definition: `needs`, cases and their targets, `edges`',
    '413 `TOO_LARGE`',
  ),
  'definition.expressions': budget(
    'size',
    DEFINITION_LIMITS.maxExpressionChars,
    'characters',
    'Expressions and patterns of one node, one edge or one output, together',
    '`EXPRESSION_LIMIT`',
  ),
  'definition.time': budget(
    'time',
    CHECK_LIMITS.maxMs,
    'ms',
    'CPU time for checking an uploaded definition',
    '413 `TOO_LARGE`',
  ),
  'definition.memory': budget(
    'memory',
    CHECK_LIMITS.maxMemoryMb,
    'MiB',
    'Memory for checking an uploaded definition',
    '413 `TOO_LARGE`',
  ),
  'definition.waiting': budget(
    'count',
    CHECK_LIMITS.maxWaiting,
    'definitions',
    'Large definitions that wait to be checked',
    '503 `BUSY`',
  ),
  'announced.size': budget(
    'size',
    ANNOUNCEMENT_LIMITS.maxActionChars,
    'characters',
    'An action that a worker announces, as JSON',
    '413 `TOO_LARGE`',
  ),
  'announced.count': budget(
    'count',
    ANNOUNCEMENT_LIMITS.maxActions,
    'actions',
    'Actions that workers have announced in one project, in all versions',
    '413 `TOO_LARGE`',
  ),
  'returned.size': budget(
    'size',
    DEFINITION_LIMITS.maxDynamicBytes,
    'bytes',
    'A graph that an action returns, as JSON',
    'the node fails',
  ),
  'returned.values': budget(
    'count',
    DEFINITION_LIMITS.maxDynamicValues,
    'values',
    'Values of a returned graph',
    'the node fails',
  ),
  'returned.nodes': budget(
    'count',
    DEFINITION_LIMITS.maxDynamicNodes,
    'nodes',
    'Nodes of a returned graph',
    'the node fails',
  ),
  'returned.edges': budget(
    'count',
    DEFINITION_LIMITS.maxDynamicEdges,
    'edges',
    'Edges of a returned graph',
    'the node fails',
  ),
  'definition.depth': budget(
    'depth',
    DEFINITION_LIMITS.maxNestingDepth,
    'levels',
    'Nesting of a definition',
    'refused',
  ),
  'definition.bodies': budget('depth', DEFINITION_LIMITS.maxBodyDepth, 'levels', 'Nesting of loops', 'refused'),
  'definition.aliases': budget('count', DEFINITION_LIMITS.maxYamlAliases, 'aliases', 'YAML aliases', 'refused'),
  'expression.depth': budget('depth', EXPRESSION_LIMITS.maxAstDepth, 'levels', 'Nesting of an expression', 'refused'),
  'expression.work': budget('time', EXPRESSION_LIMITS.maxOperations, 'operations', 'One evaluation', '`LIMIT`'),
  'expression.step': budget(
    'time',
    stepCost(EXPRESSION_LIMITS),
    'evaluated operators',
    'The expressions that a node begins with, or of its edges; work on data costs a hundred times as much',
    '`LIMIT`',
  ),
  'expression.text': budget(
    'memory',
    EXPRESSION_LIMITS.maxStringBytes,
    'bytes',
    'Text that an expression creates',
    '`LIMIT`',
  ),
  'expression.list': budget(
    'memory',
    EXPRESSION_LIMITS.maxArrayLength,
    'items',
    'A list that an expression creates',
    '`LIMIT`',
  ),
  'schema.values': budget('size', SCHEMA_LIMITS.maxValues, 'values', 'A JSON Schema', '`SCHEMA_INVALID`'),
  'schema.depth': budget('depth', SCHEMA_LIMITS.maxDepth, 'levels', 'Nesting of a JSON Schema', '`SCHEMA_INVALID`'),
  'schema.patterns': budget(
    'memory',
    SCHEMA_LIMITS.maxPatternInstructions,
    'instructions',
    'Patterns of a JSON Schema, together',
    '`SCHEMA_INVALID`',
  ),
  'schema.work': budget(
    'time',
    SCHEMA_LIMITS.maxSteps,
    'steps',
    'Checking a value against its schema',
    'the value does not match',
  ),
  'pattern.size': budget(
    'size',
    FILE_PATTERN_LIMITS.maxChars,
    'characters',
    'The pattern of a file trigger',
    '422 `BAD_FILE_PATTERN`',
  ),
  'pattern.alternatives': budget(
    'count',
    FILE_PATTERN_LIMITS.maxAlternatives,
    'patterns',
    'Alternatives of a file trigger pattern',
    '422 `BAD_FILE_PATTERN`',
  ),
  'pattern.segments': budget(
    'depth',
    FILE_PATTERN_LIMITS.maxSegments,
    'names',
    'Folders of a file trigger pattern',
    '422 `BAD_FILE_PATTERN`',
  ),
  'watch.files': budget(
    'count',
    FILE_PATTERN_LIMITS.maxFiles,
    'files',
    'Files that the triggers of one project watch',
    'not noticed, reported once',
  ),
  'watch.names': budget(
    'count',
    FILE_PATTERN_LIMITS.maxEntries,
    'names',
    'Names of files and folders that one look reads for the triggers of one project',
    'not noticed, reported once',
  ),
  'follower.total': budget('count', LIVE_LIMITS.maxFollowers, 'streams', 'Open streams', '429 `TOO_MANY_FOLLOWERS`'),
  'follower.perCaller': budget(
    'count',
    LIVE_LIMITS.maxFollowersPerCaller,
    'streams',
    'Open streams of one caller',
    '429 `TOO_MANY_FOLLOWERS`',
  ),
  'follower.buffer': budget(
    'memory',
    LIVE_LIMITS.maxBuffered,
    'events',
    'Events that wait for one follower',
    'read from the store later',
  ),
  'socket.message': budget('size', LIVE_LIMITS.maxMessageBytes, 'bytes', 'A message over a WebSocket', 'closed'),
  'socket.subscriptions': budget(
    'count',
    LIVE_LIMITS.maxSubscriptions,
    'subscriptions',
    'Subscriptions of one WebSocket',
    'refused',
  ),
} as const satisfies Readonly<Record<string, Budget>>;

export type BudgetName = keyof typeof BUDGETS;
