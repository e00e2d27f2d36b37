/**
 * All configuration keys with type and documentation. Validation and the reference page are generated from this table.
 */
import type { Capabilities, ExpressionLimits, RecordType, RuleContext, ValueType } from '@nebula/core';
import { CAPABILITIES, EXPRESSION_LIMITS, parseDuration, parseSize, recordOf } from '@nebula/core/authoring';
import type { DriverOpeners, NebulaConfig, ServerConfig } from './config-model.ts';

export interface ConfigKey {
  /** Absent for a section, whose keys follow. */
  readonly type?: ValueType;
  readonly doc: string;
  /** The default in words; absent if there is none. */
  readonly default?: string;
  /** In the syntax of `nebula.config.yaml`; for code, of `nebula.config.ts`. */
  readonly example: string;
  /** Available in code only, not in YAML. */
  readonly isCode?: true;
  /** A running server applies a change without a restart. */
  readonly isLive?: true;
}

type Test = (value: unknown) => boolean;

const custom = (what: string, accepts: Test): ValueType => ({ is: 'custom', what, accepts });
const choice = (...of: readonly string[]): ValueType => ({ is: 'choice', of });
const whole = (min: number, max = Number.MAX_SAFE_INTEGER): ValueType => ({ is: 'integer', min, max });
const list = (of: ValueType): ValueType => ({ is: 'list', of });

/** A number of units, or a string with a unit. */
function measure(what: string, parse: typeof parseSize, orNull = false): ValueType {
  const hintOf = (value: unknown): string | undefined => {
    const parsed = typeof value === 'string' ? parse(value) : undefined;
    return typeof parsed === 'object' ? parsed.hint : undefined;
  };
  const accepts: Test = (value) =>
    typeof value === 'string'
      ? typeof parse(value) === 'number'
      : (typeof value === 'number' && value > 0 && Number.isFinite(value)) || (orNull && value === null);
  return { is: 'custom', what, accepts, hintOf };
}

/** A configuration in code may hold anything: `String(value)` of an object without a prototype throws. */
const isText = (value: unknown, pattern: RegExp): boolean => typeof value === 'string' && pattern.test(value);
const TEXT = custom('a string', (value) => typeof value === 'string' && value !== '');
const TEXTS = list(TEXT);
const FUNCTION = custom('a function', (value) => typeof value === 'function');
const SIZE = measure('a size such as 64KiB, or bytes', parseSize);
const RETENTION = measure('a duration such as 30d, milliseconds or null', parseDuration, true);
const URL_TEXT = custom('a URL', (value) => typeof value === 'string' && URL.canParse(value));
const PROXY = custom("an address, a range such as 10.0.0.0/8, 'loopback', 'linklocal' or 'uniquelocal'", (value) =>
  isText(value, /^(loopback|linklocal|uniquelocal|[\da-f:.]+(\/[\d.]+)?)$/i),
);
const ACTION = custom('an action, made with defineAction({ … })', (value) => {
  const action = value as { readonly id?: unknown; readonly run?: unknown } | null;
  return typeof action?.id === 'string' && typeof action.run === 'function';
});
const PROJECT = recordOf('project', 'a project', {
  ceiling: { is: 'either', of: [choice('all'), { is: 'record', record: CAPABILITIES }] },
});
const WORKFLOW_GRAPH = recordOf(
  'workflowGraph',
  'workflowGraph',
  { project: TEXT, loopback: { is: 'boolean' }, path: TEXT, clients: { is: 'boolean' } },
  { project: 'workflowGraph: { project: default, loopback: true }' },
);

const ID = custom('1 to 100 letters, digits, _ and -', (value) => isText(value, /^[\w-]{1,100}$/));
const DURATION = custom(
  'a duration such as 15m',
  (value) => typeof value === 'string' && typeof parseDuration(value) === 'number',
);
const NOTIFICATION = recordOf(
  'notification',
  'a notification',
  {
    id: ID,
    project: TEXT,
    url: TEXT,
    command: TEXTS,
    secret: TEXT,
    network: TEXTS,
    on: list(choice('failed', 'unknown', 'approval')),
    workflows: TEXTS,
    tag: TEXT,
    gather: DURATION,
    stuckAfter: DURATION,
  },
  { id: 'id: ops' },
);

function checkNotification({ value, report }: RuleContext): void {
  const code = 'CONFIG_INVALID';
  const hint = "write url: 'https://hooks.example.com/x' or command: [notify-send, Nebula]";
  if ((value['url'] === undefined) === (value['command'] === undefined)) {
    report({ code, message: 'a notification has either a url or a command', hint });
  }
  if (value['command'] !== undefined && (value['secret'] ?? value['network']) !== undefined) {
    report({ code, message: 'a command has neither secret nor network', hint: 'they are for a url' });
  }
  for (const name of ['command', 'on', 'workflows']) {
    const given = value[name];
    if (!Array.isArray(given) || given.length > 0) continue;
    report({ code, message: `'${name}' is empty`, hint: 'leave it out, or name something', path: [name] });
  }
}

/** Undefined: the ids are unique. */
function repeatedId(notifications: unknown): string | undefined {
  const ids = (Array.isArray(notifications) ? notifications : []).map(
    (one: { readonly id?: unknown } | null) => one?.id,
  );
  const repeated = ids.find((id, index) => typeof id === 'string' && ids.indexOf(id) !== index);
  return repeated as string | undefined;
}

function checkTokenless({ value: { path, loopback }, report }: RuleContext): void {
  const code = 'CONFIG_INVALID';
  // A short path could be guessed. The message does not show it: it is a secret.
  if (path !== undefined && !isText(path, /^[\w-]{24,200}$/)) {
    const message = "'path' must consist of 24 to 200 letters, digits, _ and -";
    report({ code, message, hint: 'generate one: openssl rand -hex 24', path: ['path'] });
  } else if (path === undefined && loopback !== true) {
    const hint = 'write { project: default, loopback: true } or { project: default, path: <a secret> }';
    report({ code, message: 'workflowGraph admits no worker', hint });
  }
}

const isLoopback: Test = (name) => isText(name, /^(localhost|127(\.\d+){3}|\[?::1\]?)$/i);

/** Settings of a server that other machines reach, directly or through a proxy. */
const REACHED_BY_OTHERS: Readonly<Record<string, Test>> = {
  url: (url) => typeof url === 'string' && URL.canParse(url) && !isLoopback(new URL(url).hostname),
  trustProxy: (proxies) => Array.isArray(proxies) && proxies.length > 0,
  hosts: (names) => Array.isArray(names) && !names.every(isLoopback),
  host: (host) => !isLoopback(host),
};

/** Behind a proxy every caller comes from loopback, and a proxy need not say for whom it speaks. */
export function loopbackConflict(server: object) {
  const { workflowGraph, ...given } = server as Readonly<Record<string, unknown>>;
  if ((workflowGraph as ServerConfig['workflowGraph'] | null)?.loopback !== true) return undefined;
  const isReached = ([name, test]: [string, Test]) => given[name] !== undefined && test(given[name]);
  const [key] = Object.entries(REACHED_BY_OTHERS).find(isReached) ?? [];
  if (key === undefined) return undefined;
  return {
    message: `server.workflowGraph.loopback does not go with server.${key}: other machines reach this server`,
    hint: 'use workflowGraph.path instead of loopback: a secret path tells programs apart, an address does not',
  };
}

export const CONFIG_RULES: Readonly<Record<string, (context: RuleContext) => void>> = {
  workflowGraph: checkTokenless,
  notification: checkNotification,
  '': ({ value, report }) => {
    const id = repeatedId(value['notifications']);
    if (id === undefined) return;
    const message = `two notifications have the id '${id}'`;
    report({ code: 'CONFIG_INVALID', message, hint: 'give each its own', path: ['notifications'] });
  },
  server: ({ value, report }) => {
    const conflict = loopbackConflict(value);
    if (conflict !== undefined) report({ code: 'CONFIG_INVALID', ...conflict });
  },
};

const driver = (name: keyof DriverOpeners, doc: string): ConfigKey => ({
  type: FUNCTION,
  doc,
  example: `drivers: { ${name}: ({ dataDir, clock }) => … }`,
  isCode: true,
});

const limit = (name: keyof ExpressionLimits, doc: string): ConfigKey => ({
  type: { is: 'number', min: 1, max: Number.MAX_SAFE_INTEGER },
  doc,
  // `toLocaleString` would load the formats of ICU: 20 ms of every start.
  default: String(EXPRESSION_LIMITS[name]).replace(/\B(?=(\d{3})+$)/g, ','),
  example: `expressionLimits: { ${name}: ${EXPRESSION_LIMITS[name]} }`,
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
    type: TEXT,
    doc: 'The data folder, relative to the folder of the configuration.',
    default: '`.nebula`',
    example: 'dataDir: .nebula',
  },
  concurrency: {
    type: whole(1),
    doc: 'The maximum number of attempts that run at the same time in this process.',
    default: '4; preset `selfhost`: 64',
    example: 'concurrency: 8',
  },
  labels: {
    type: TEXTS,
    doc: 'The labels of this process. A node whose `labels` are all in this list runs here; other nodes run on remote workers.',
    default: 'none',
    example: 'labels: [gpu, eu]',
  },
  maxActiveRuns: {
    type: whole(1),
    doc: 'The maximum number of unfinished runs; further starts are rejected with `BUSY`.',
    default: '100,000',
    example: 'maxActiveRuns: 20000',
  },
  retention: {
    type: RETENTION,
    doc: 'How long finished runs are kept; null means forever.',
    default: '30 days',
    example: 'retention: 30d',
  },
  inlineLimit: {
    type: SIZE,
    doc: 'Values above this size are stored as separate files.',
    default: '64 KiB',
    example: 'inlineLimit: 64KiB',
  },
  durability: {
    type: choice('strict', 'relaxed'),
    doc: 'strict: every completed step is synced to disk. relaxed: a power failure may lose the most recent steps.',
    default: '`strict`',
    example: 'durability: relaxed',
  },
  capabilities: {
    doc: 'Capabilities that the operator grants to every workflow of the project `default`, in addition to those that workflows declare. Other projects are governed by their ceiling.',
    default: 'nothing',
    example: 'capabilities: { network: [api.example.com] }',
  },
  'capabilities.network': {
    type: TEXTS,
    doc: 'Hosts that actions may call.',
    example: 'capabilities: { network: ["*.example.com"] }',
  },
  'capabilities.files': {
    doc: 'Files that actions may read and write.',
    example: 'capabilities: { files: { read: [data/**] } }',
  },
  'capabilities.files.read': {
    type: TEXTS,
    doc: 'Patterns of files that actions may read, relative to the project.',
    example: 'capabilities: { files: { read: [data/**] } }',
  },
  'capabilities.files.write': {
    type: TEXTS,
    doc: 'Patterns of files that actions may write.',
    example: 'capabilities: { files: { write: [out/**] } }',
  },
  'capabilities.shell': {
    type: TEXTS,
    doc: 'Programs that actions may run.',
    example: 'capabilities: { shell: [git] }',
  },
  'capabilities.env': {
    type: TEXTS,
    doc: 'Environment variables that actions may read.',
    example: 'capabilities: { env: [HOME] }',
  },
  projects: {
    type: { is: 'map', of: { is: 'record', record: PROJECT }, anyKeys: true },
    doc: 'The `ceiling` of each project: the most that its runs may be granted (`network`, `files`, `shell`, `env` as in `capabilities`), or `all` for everything that workflows declare. A ceiling set with `nebula projects set` or the API takes precedence.',
    default: 'preset `desktop`: `all`; others: nothing',
    example: 'projects: { default: { ceiling: { network: ["*.example.com"] } } }',
  },
  notifications: {
    type: list({ is: 'record', record: NOTIFICATION }),
    doc: 'Messages of a server about runs that fail, are stuck or wait for a person, set by the operator. Each has an `id` and either a `url` (a webhook or a mail server) or a `command` (a program and its arguments, which gets the message as JSON on its input), and may have `project`, `secret`, `network`, `on`, `workflows`, `tag`, `gather` and `stuckAfter`. The API shows them as `config_<id>` and cannot change them.',
    default: 'none',
    example: 'notifications: [{ id: desk, command: [notify-send, Nebula] }]',
  },
  expressionLimits: {
    doc: 'Limits of one evaluation of an expression; omitted limits keep their defaults.',
    example: 'expressionLimits: { maxOperations: 50000 }',
  },
  'expressionLimits.maxAstDepth': limit('maxAstDepth', 'Maximum nesting depth of an expression.'),
  'expressionLimits.maxOperations': limit('maxOperations', 'Maximum number of operations.'),
  'expressionLimits.maxStringBytes': limit('maxStringBytes', 'Maximum size of a string that it creates, in bytes.'),
  'expressionLimits.maxArrayLength': limit('maxArrayLength', 'Maximum length of a list that it creates.'),
  'expressionLimits.maxEvaluationMs': limit('maxEvaluationMs', 'Maximum duration in milliseconds.'),
  server: {
    doc: 'Settings of `nebula serve`. Command-line options take precedence.',
    example: 'server: { port: 7777 }',
  },
  'server.preset': {
    type: choice('desktop', 'selfhost', 'cloud'),
    doc: 'desktop: one person, with a token in a file. selfhost: users who sign in. cloud is not implemented yet.',
    default: '`desktop`',
    example: 'server: { preset: selfhost }',
  },
  'server.host': {
    type: TEXT,
    doc: 'The address to listen on. Any address other than loopback is reachable from other machines.',
    default: '`127.0.0.1`',
    example: 'server: { host: 0.0.0.0 }',
  },
  'server.port': {
    type: whole(0, 65_535),
    doc: 'The port; 0 selects any free one.',
    default: '7777',
    example: 'server: { port: 8080 }',
  },
  'server.url': {
    type: URL_TEXT,
    doc: 'The public URL of the server, e.g. behind a proxy. Callback URLs start with it. With https, cookies are sent over HTTPS only.',
    default: 'the address that it listens on',
    example: 'server: { url: "https://flows.example.com" }',
  },
  'server.trustProxy': {
    type: list(PROXY),
    doc: 'Addresses and ranges of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` headers are trusted; also `loopback`, `linklocal` and `uniquelocal`.',
    default: 'none',
    example: 'server: { trustProxy: [10.0.0.0/8] }',
  },
  'server.hosts': {
    type: TEXTS,
    doc: 'Additional host names that the server accepts. A server on loopback otherwise accepts loopback names only.',
    default: 'none; beyond loopback: any',
    example: 'server: { hosts: [flows.example.com] }',
  },
  'server.origins': {
    type: TEXTS,
    doc: 'Origins of web pages that may call the API from a browser.',
    default: 'none',
    example: 'server: { origins: ["https://app.example.com"] }',
  },
  'server.bodyLimit': {
    type: SIZE,
    doc: 'The maximum size of a request body.',
    default: '4 MiB',
    example: 'server: { bodyLimit: 64MiB }',
  },
  'server.workflows': {
    type: TEXTS,
    doc: 'Patterns of workflow files, relative to the configuration. The server registers and activates them at start and whenever they change.',
    default: '`workflows/**/*.{yaml,yml,json,ts}`',
    example: 'server: { workflows: [flows/*.yaml] }',
    isLive: true,
  },
  'server.workflowGraph': {
    type: { is: 'record', record: WORKFLOW_GRAPH },
    doc: 'Admits workflow-graph workers without a token, only as workers of `project`: from this machine (`loopback: true`), or below `/workflow-graph/<path>`, where the path is a secret of 24 characters or more. `clients: true` also admits its clients in these ways, who post, run and cancel jobs files of `project`. `loopback` is refused beside a `url`, `host` or `hosts` that is not loopback, and beside `trustProxy`.',
    default: 'none are admitted',
    example: 'server: { workflowGraph: { project: default, loopback: true } }',
  },
  'server.metrics': {
    type: choice('admins', 'signed-in', 'public'),
    doc: 'Who may read `/metrics`, which counts over all projects. The token in `NEBULA_METRICS_TOKEN` is accepted always.',
    default: '`admins`',
    example: 'server: { metrics: public }',
  },
  'server.logLevel': {
    type: choice('debug', 'info', 'warn', 'error'),
    doc: 'The lowest level that the server logs. Requests are logged at debug, finished runs at info.',
    default: '`info`',
    example: 'server: { logLevel: warn }',
    isLive: true,
  },
  'server.database': {
    type: TEXT,
    doc: 'The database for runs and records: `sqlite` in the data folder. `postgres://…` is not implemented yet.',
    default: '`sqlite`',
    example: 'server: { database: sqlite }',
  },
  'server.queue': {
    type: TEXT,
    doc: 'The task queue: `memory`. `redis://…` and `amqp://…` are not implemented yet.',
    default: '`memory`',
    example: 'server: { queue: memory }',
  },
  actions: {
    type: list(ACTION),
    doc: "The project's own actions, in addition to the built-in ones.",
    example: 'actions: [charge, pack]',
    isCode: true,
  },
  retryPolicies: {
    type: { is: 'map', of: FUNCTION, anyKeys: true },
    doc: 'Custom retry policies, by the name used in `retry.policy`.',
    example: 'retryPolicies: { patient: (k) => k * 1000 }',
    isCode: true,
  },
  drivers: {
    doc: 'Custom drivers. Omitted ones keep their defaults.',
    example: 'drivers: { blobs: ({ dataDir }) => … }',
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

/** The keys of a section, or of the whole configuration, as the checker of documents takes them. */
export function configRecord(section = ''): RecordType {
  const entries = Object.entries(CONFIG_KEYS as Readonly<Record<string, ConfigKey>>).flatMap(([path, key]) => {
    const name = path.slice(section.length);
    if (!path.startsWith(section) || name.includes('.')) return [];
    const type: ValueType = key.type ?? { is: 'record', record: configRecord(`${path}.`) };
    return [[name, { type, doc: key.doc, example: key.example }] as const];
  });
  const name = section.slice(0, -1);
  return { name, title: name || 'the configuration', doc: '', keys: Object.fromEntries(entries) };
}
