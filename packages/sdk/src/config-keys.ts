/**
 * All configuration keys with type, check and documentation. Validation and the reference page are generated from this
 * table.
 */
import type { Capabilities, ExpressionLimits } from '@nebula/core';
import { EXPRESSION_LIMITS, parseDuration, parseSize } from '@nebula/core/authoring';
import type { DriverOpeners, NebulaConfig, ServerConfig } from './config-model.ts';

export interface ConfigKey {
  /** The type in words, for the reference. */
  readonly type: string;
  readonly doc: string;
  /** The default in words; absent if there is none. */
  readonly default?: string;
  /** In the syntax of `nebula.config.yaml`; for code, of `nebula.config.ts`. */
  readonly example: string;
  /** Returns the problem with a value, or undefined. */
  readonly check: (value: unknown) => ConfigProblem | undefined;
  /** Available in code only, not in YAML. */
  readonly isCode?: true;
  /** A running server applies a change without a restart. */
  readonly isLive?: true;
}

export interface ConfigProblem {
  /** The problem, where showing the value is not enough. */
  readonly what?: string;
  readonly hint: string;
}

type Test = (value: unknown) => boolean;

const is =
  (isRight: Test, hint: string): ConfigKey['check'] =>
  (value) =>
    isRight(value) ? undefined : { hint };

const isText: Test = (value) => typeof value === 'string' && value !== '';
const isTexts: Test = (value) => Array.isArray(value) && value.every(isText);
const isProxies: Test = (value) =>
  Array.isArray(value) &&
  value.every((one) => /^(loopback|linklocal|uniquelocal|[\da-f:.]+(\/[\d.]+)?)$/i.test(String(one)));
const isObject: Test = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isWhole =
  (least: number, most = Number.MAX_SAFE_INTEGER): Test =>
  (value) =>
    Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
const isOneOf =
  (choices: readonly unknown[]): Test =>
  (value) =>
    choices.includes(value);

const section = (name: string): ConfigKey['check'] => is(isObject, `Write ${name}: { … }`);
const texts = (example: string): ConfigKey['check'] => is(isTexts, `Use a list of strings, e.g. ['${example}']`);

/** A number of units, or a string with a unit. */
function measure(parse: typeof parseSize, hint: string): ConfigKey['check'] {
  return (value) => {
    if (typeof value === 'number' && value > 0) return undefined;
    const parsed = typeof value === 'string' ? parse(value) : undefined;
    return typeof parsed === 'number' ? undefined : { hint: parsed === undefined ? hint : `${parsed.hint}. ${hint}` };
  };
}

const retention = measure(parseDuration, "Use a duration, e.g. '30d', or null");

function checkActions(value: unknown): ConfigProblem | undefined {
  if (!Array.isArray(value)) return { hint: 'Write actions: [ … ]' };
  const at = value.findIndex((action) => typeof action?.id !== 'string' || typeof action.run !== 'function');
  return at < 0 ? undefined : { what: `actions[${at}] is not an action`, hint: 'Create it with defineAction({ … })' };
}

function checkPolicies(value: unknown): ConfigProblem | undefined {
  if (!isObject(value)) return { hint: 'Write retryPolicies: { … }' };
  const wrong = Object.entries(value as object).find(([, policy]) => typeof policy !== 'function');
  return (
    wrong && { what: `retryPolicies.${wrong[0]} is not a function`, hint: 'Use a function (k, error) => delay in ms' }
  );
}

const TOKENLESS_KEYS = ['project', 'loopback', 'path', 'clients'];

/** A short path could be guessed. */
function checkTokenless(value: unknown): ConfigProblem | undefined {
  const hint = 'Write workflowGraph: { project: default, loopback: true } or { project: default, path: <a secret> }';
  if (!isObject(value)) return { hint };
  const { project, loopback, path, clients } = value as Record<string, unknown>;
  const unknown = Object.keys(value as object).find((key) => !TOKENLESS_KEYS.includes(key));
  if (unknown !== undefined) return { what: `server.workflowGraph.${unknown} is not known`, hint };
  if (!isText(project)) return { what: 'server.workflowGraph has no project', hint };
  if (path !== undefined && !/^[\w-]{24,200}$/.test(String(path))) {
    const what = 'server.workflowGraph.path must consist of 24 to 200 letters, digits, _ and -';
    return { what, hint: 'Generate one: openssl rand -hex 24' };
  }
  for (const [name, flag] of Object.entries({ loopback, clients })) {
    if (flag !== undefined && typeof flag !== 'boolean') {
      return { what: `server.workflowGraph.${name} is not true or false`, hint };
    }
  }
  if (path === undefined && loopback !== true) return { what: 'server.workflowGraph admits no worker', hint };
  return undefined;
}

const isLoopback: Test = (name) => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(String(name));

/** Settings of a server that other machines reach, directly or through a proxy. */
const REACHED_BY_OTHERS: Readonly<Record<string, Test>> = {
  url: (url) => URL.canParse(String(url)) && !isLoopback(new URL(String(url)).hostname),
  trustProxy: (proxies) => Array.isArray(proxies) && proxies.length > 0,
  hosts: (names) => Array.isArray(names) && !names.every(isLoopback),
  host: (host) => !isLoopback(host),
};

/** Behind a proxy every caller comes from loopback, and a proxy need not say for whom it speaks. */
function checkServer(value: unknown): ConfigProblem | undefined {
  if (!isObject(value)) return { hint: 'Write server: { … }' };
  const server = value as Record<string, unknown>;
  if ((server['workflowGraph'] as { loopback?: unknown } | undefined)?.loopback !== true) return undefined;
  const [key] =
    Object.entries(REACHED_BY_OTHERS).find(([name, isReached]) => {
      return server[name] !== undefined && isReached(server[name]);
    }) ?? [];
  if (key === undefined) return undefined;
  return {
    what: `server.workflowGraph.loopback does not go with server.${key}: other machines reach this server`,
    hint: 'Use workflowGraph.path instead of loopback: a secret path tells programs apart, an address does not',
  };
}

const CEILING_HINT = "Write projects: { NAME: { ceiling: { network: ['api.example.com'] } } }, or ceiling: all";

function checkProjects(value: unknown): ConfigProblem | undefined {
  if (!isObject(value)) return { hint: CEILING_HINT };
  for (const [name, project] of Object.entries(value as object)) {
    const wrong = isObject(project) ? checkProject(project as object) : 'is not an object';
    if (wrong !== undefined) return { what: `projects.${name} ${wrong}`, hint: CEILING_HINT };
  }
  return undefined;
}

function checkProject(project: object): string | undefined {
  const unknown = Object.keys(project).find((key) => key !== 'ceiling');
  if (unknown !== undefined) return `has an unknown key '${unknown}'`;
  const { ceiling } = project as { readonly ceiling?: unknown };
  if (ceiling === undefined || ceiling === 'all') return undefined;
  if (!isObject(ceiling)) return 'has a ceiling that is not an object';
  const { files = {}, ...lists } = ceiling as { readonly files?: unknown };
  if (!isObject(files)) return 'has a ceiling whose files are not an object';
  for (const [key, list] of [...Object.entries(lists), ...Object.entries(files as object)]) {
    const isKnown = key in lists ? ['network', 'shell', 'env'].includes(key) : ['read', 'write'].includes(key);
    if (!isKnown) return `has a ceiling with an unknown key '${key}'`;
    if (!isTexts(list)) return `has a ceiling whose ${key} is not a list of strings`;
  }
  return undefined;
}

const driver = (name: keyof DriverOpeners, doc: string): ConfigKey => ({
  type: 'function of a context',
  doc,
  example: `drivers: { ${name}: ({ dataDir, clock }) => … }`,
  check: is((value) => typeof value === 'function', `Write drivers: { ${name}: (context) => … }`),
  isCode: true,
});

const limit = (name: keyof ExpressionLimits, doc: string): ConfigKey => ({
  type: 'number',
  doc,
  // `toLocaleString` would load the formats of ICU: 20 ms of every start.
  default: String(EXPRESSION_LIMITS[name]).replace(/\B(?=(\d{3})+$)/g, ','),
  example: `expressionLimits: { ${name}: ${EXPRESSION_LIMITS[name]} }`,
  check: is((value) => typeof value === 'number' && value > 0, 'Use a number above 0'),
});

type Path =
  | keyof NebulaConfig
  | `server.${keyof ServerConfig}`
  | `drivers.${keyof DriverOpeners}`
  | `expressionLimits.${keyof ExpressionLimits}`
  | `capabilities.${Exclude<keyof Capabilities, 'files'>}`
  | `capabilities.files${'' | '.read' | '.write'}`;

/** Keyed by path, in the order of the reference. */
export const CONFIG_KEYS: Readonly<Record<Path, ConfigKey>> = {
  dataDir: {
    type: 'string',
    doc: 'The data folder, relative to the folder of the configuration.',
    default: '`.nebula`',
    example: 'dataDir: .nebula',
    check: is(isText, "Use a folder, e.g. '.nebula'"),
  },
  concurrency: {
    type: 'whole number',
    doc: 'The maximum number of attempts that run at the same time in this process.',
    default: '4; preset `selfhost`: 64',
    example: 'concurrency: 8',
    check: is(isWhole(1), 'Use a whole number above 0'),
  },
  labels: {
    type: 'list of strings',
    doc: 'The labels of this process. A node whose `labels` are all in this list runs here; other nodes run on remote workers.',
    default: 'none',
    example: 'labels: [gpu, eu]',
    check: texts('gpu'),
  },
  maxActiveRuns: {
    type: 'whole number',
    doc: 'The maximum number of unfinished runs; further starts are rejected with `BUSY`.',
    default: '100,000',
    example: 'maxActiveRuns: 20000',
    check: is(isWhole(1), 'Use a whole number above 0'),
  },
  retention: {
    type: 'duration, milliseconds or null',
    doc: 'How long finished runs are kept; null means forever.',
    default: '30 days',
    example: 'retention: 30d',
    check: (value) => (value === null ? undefined : retention(value)),
  },
  inlineLimit: {
    type: 'size, or bytes',
    doc: 'Values above this size are stored as separate files.',
    default: '64 KiB',
    example: 'inlineLimit: 64KiB',
    check: measure(parseSize, "Use a size, e.g. '64KiB'"),
  },
  durability: {
    type: '`strict` or `relaxed`',
    doc: 'strict: every completed step is synced to disk. relaxed: a power failure may lose the most recent steps.',
    default: '`strict`',
    example: 'durability: relaxed',
    check: is(isOneOf(['strict', 'relaxed']), "Use 'strict' or 'relaxed'"),
  },
  capabilities: {
    type: 'object',
    doc: 'Capabilities that the operator grants to every workflow of the project `default`, in addition to those that workflows declare. Other projects are governed by their ceiling.',
    default: 'nothing',
    example: 'capabilities: { network: [api.example.com] }',
    check: section('capabilities'),
  },
  'capabilities.network': {
    type: 'list of strings',
    doc: 'Hosts that actions may call.',
    example: 'capabilities: { network: ["*.example.com"] }',
    check: texts('api.example.com'),
  },
  'capabilities.files': {
    type: 'object',
    doc: 'Files that actions may read and write.',
    example: 'capabilities: { files: { read: [data/**] } }',
    check: section('files'),
  },
  'capabilities.files.read': {
    type: 'list of strings',
    doc: 'Patterns of files that actions may read, relative to the project.',
    example: 'capabilities: { files: { read: [data/**] } }',
    check: texts('data/**'),
  },
  'capabilities.files.write': {
    type: 'list of strings',
    doc: 'Patterns of files that actions may write.',
    example: 'capabilities: { files: { write: [out/**] } }',
    check: texts('out/**'),
  },
  'capabilities.shell': {
    type: 'list of strings',
    doc: 'Programs that actions may run.',
    example: 'capabilities: { shell: [git] }',
    check: texts('git'),
  },
  'capabilities.env': {
    type: 'list of strings',
    doc: 'Environment variables that actions may read.',
    example: 'capabilities: { env: [HOME] }',
    check: texts('HOME'),
  },
  projects: {
    type: 'object',
    doc: 'The `ceiling` of each project: the most that its runs may be granted (`network`, `files`, `shell`, `env` as in `capabilities`), or `all` for everything that workflows declare. A ceiling set with `nebula projects set` or the API takes precedence.',
    default: 'preset `desktop`: `all`; others: nothing',
    example: 'projects: { default: { ceiling: { network: ["*.example.com"] } } }',
    check: checkProjects,
  },
  expressionLimits: {
    type: 'object',
    doc: 'Limits of one evaluation of an expression; omitted limits keep their defaults.',
    example: 'expressionLimits: { maxOperations: 50000 }',
    check: section('expressionLimits'),
  },
  'expressionLimits.maxAstDepth': limit('maxAstDepth', 'Maximum nesting depth of an expression.'),
  'expressionLimits.maxOperations': limit('maxOperations', 'Maximum number of operations.'),
  'expressionLimits.maxStringBytes': limit('maxStringBytes', 'Maximum size of a string that it creates, in bytes.'),
  'expressionLimits.maxArrayLength': limit('maxArrayLength', 'Maximum length of a list that it creates.'),
  'expressionLimits.maxEvaluationMs': limit('maxEvaluationMs', 'Maximum duration in milliseconds.'),
  server: {
    type: 'object',
    doc: 'Settings of `nebula serve`. Command-line options take precedence.',
    example: 'server: { port: 7777 }',
    check: checkServer,
  },
  'server.preset': {
    type: '`desktop`, `selfhost` or `cloud`',
    doc: 'desktop: one person, with a token in a file. selfhost: users who sign in. cloud is not implemented yet.',
    default: '`desktop`',
    example: 'server: { preset: selfhost }',
    check: is(isOneOf(['desktop', 'selfhost', 'cloud']), "Use 'desktop', 'selfhost' or 'cloud'"),
  },
  'server.host': {
    type: 'string',
    doc: 'The address to listen on. Any address other than loopback is reachable from other machines.',
    default: '`127.0.0.1`',
    example: 'server: { host: 0.0.0.0 }',
    check: is(isText, "Use an address, e.g. '127.0.0.1'"),
  },
  'server.port': {
    type: 'whole number',
    doc: 'The port; 0 selects any free one.',
    default: '7777',
    example: 'server: { port: 8080 }',
    check: is(isWhole(0, 65_535), 'Use a whole number from 0 to 65535'),
  },
  'server.url': {
    type: 'string',
    doc: 'The public URL of the server, e.g. behind a proxy. Callback URLs start with it. With https, cookies are sent over HTTPS only.',
    default: 'the address that it listens on',
    example: 'server: { url: "https://flows.example.com" }',
    check: is((value) => isText(value) && URL.canParse(String(value)), "Use a URL, e.g. 'https://flows.example.com'"),
  },
  'server.trustProxy': {
    type: 'list of strings',
    doc: 'Addresses and ranges of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` headers are trusted; also `loopback`, `linklocal` and `uniquelocal`.',
    default: 'none',
    example: 'server: { trustProxy: [10.0.0.0/8] }',
    check: is(isProxies, "Use a list of addresses or ranges, e.g. ['10.0.0.0/8', 'loopback']"),
  },
  'server.hosts': {
    type: 'list of strings',
    doc: 'Additional host names that the server accepts. A server on loopback otherwise accepts loopback names only.',
    default: 'none; beyond loopback: any',
    example: 'server: { hosts: [flows.example.com] }',
    check: texts('flows.example.com'),
  },
  'server.origins': {
    type: 'list of strings',
    doc: 'Origins of web pages that may call the API from a browser.',
    default: 'none',
    example: 'server: { origins: ["https://app.example.com"] }',
    check: texts('https://app.example.com'),
  },
  'server.bodyLimit': {
    type: 'size, or bytes',
    doc: 'The maximum size of a request body.',
    default: '4 MiB',
    example: 'server: { bodyLimit: 64MiB }',
    check: measure(parseSize, "Use a size, e.g. '4MiB'"),
  },
  'server.workflows': {
    type: 'list of strings',
    doc: 'Patterns of workflow files, relative to the configuration. The server registers and activates them at start and whenever they change.',
    default: '`workflows/**/*.{yaml,yml,json}`',
    example: 'server: { workflows: [flows/*.yaml] }',
    check: texts('workflows/**/*.yaml'),
    isLive: true,
  },
  'server.workflowGraph': {
    type: '`{ project, loopback, path, clients }`',
    doc: 'Admits workflow-graph workers without a token, only as workers of `project`: from this machine (`loopback: true`), or below `/workflow-graph/<path>`, where the path is a secret of 24 characters or more. `clients: true` also admits its clients in these ways, who post, run and cancel jobs files of `project`. `loopback` is refused beside a `url`, `host` or `hosts` that is not loopback, and beside `trustProxy`.',
    default: 'none are admitted',
    example: 'server: { workflowGraph: { project: default, loopback: true } }',
    check: checkTokenless,
  },
  'server.metrics': {
    type: '`admins`, `signed-in` or `public`',
    doc: 'Who may read `/metrics`, which counts over all projects. The token in `NEBULA_METRICS_TOKEN` is accepted always.',
    default: '`admins`',
    example: 'server: { metrics: public }',
    check: is(isOneOf(['admins', 'signed-in', 'public']), "Use 'admins', 'signed-in' or 'public'"),
  },
  'server.logLevel': {
    type: '`debug`, `info`, `warn` or `error`',
    doc: 'The lowest level that the server logs. Requests are logged at debug, finished runs at info.',
    default: '`info`',
    example: 'server: { logLevel: warn }',
    check: is(isOneOf(['debug', 'info', 'warn', 'error']), "Use 'debug', 'info', 'warn' or 'error'"),
    isLive: true,
  },
  'server.database': {
    type: 'string',
    doc: 'The database for runs and records: `sqlite` in the data folder. `postgres://…` is not implemented yet.',
    default: '`sqlite`',
    example: 'server: { database: sqlite }',
    check: is(isText, "Use 'sqlite', or a URL"),
  },
  'server.queue': {
    type: 'string',
    doc: 'The task queue: `memory`. `redis://…` and `amqp://…` are not implemented yet.',
    default: '`memory`',
    example: 'server: { queue: memory }',
    check: is(isText, "Use 'memory', or a URL"),
  },
  actions: {
    type: 'list of actions',
    doc: "The project's own actions, in addition to the built-in ones.",
    example: 'actions: [charge, pack]',
    check: checkActions,
    isCode: true,
  },
  retryPolicies: {
    type: 'functions by name',
    doc: 'Custom retry policies, by the name used in `retry.policy`.',
    example: 'retryPolicies: { patient: (k) => k * 1000 }',
    check: checkPolicies,
    isCode: true,
  },
  drivers: {
    type: 'object',
    doc: 'Custom drivers. Omitted ones keep their defaults.',
    example: 'drivers: { blobs: ({ dataDir }) => … }',
    check: section('drivers'),
    isCode: true,
  },
  'drivers.store': driver('store', 'Stores journals and workflow versions.'),
  'drivers.records': driver('records', 'Stores the records of a server other than runs; required with a custom store.'),
  'drivers.queue': driver('queue', 'Queues tasks.'),
  'drivers.blobs': driver('blobs', 'Stores large values.'),
  'drivers.logs': driver('logs', 'Stores the logs of actions.'),
  'drivers.sandbox': driver('sandbox', 'Runs actions.'),
  'drivers.secrets': driver('secrets', 'Stores secrets.'),
};
