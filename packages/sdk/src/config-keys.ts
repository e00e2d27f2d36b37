/** Every key of the configuration: what it may be, what it means. The check of a configuration and its reference page are made from this table. */
import type { Capabilities, ExpressionLimits } from '@nebula/core';
import { EXPRESSION_LIMITS, parseDuration, parseSize } from '@nebula/core/authoring';
import type { DriverOpeners, NebulaConfig, ServerConfig } from './config-model.ts';

export interface ConfigKey {
  /** In words, for the reference. */
  readonly type: string;
  readonly doc: string;
  /** In words; left out where there is none. */
  readonly default?: string;
  /** As it stands in `nebula.config.yaml`; of code, in `nebula.config.ts`. */
  readonly example: string;
  /** What is wrong with a value that is given; undefined: nothing. */
  readonly check: (value: unknown) => Wrong | undefined;
  /** Only code can say it: it has no place in YAML. */
  readonly isCode?: true;
  /** A running server takes a change up by itself. */
  readonly isLive?: true;
}

export interface Wrong {
  /** What it is, where saying its value is not enough. */
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
const texts = (example: string): ConfigKey['check'] => is(isTexts, `Give a list of texts, e.g. ['${example}']`);

/** A number of units, or a text with its unit. */
function measure(parse: typeof parseSize, hint: string): ConfigKey['check'] {
  return (value) => {
    if (typeof value === 'number' && value > 0) return undefined;
    const parsed = typeof value === 'string' ? parse(value) : undefined;
    return typeof parsed === 'number' ? undefined : { hint: parsed === undefined ? hint : `${parsed.hint}. ${hint}` };
  };
}

const retention = measure(parseDuration, "Give a duration, e.g. '30d', or null");

function checkActions(value: unknown): Wrong | undefined {
  if (!Array.isArray(value)) return { hint: 'Write actions: [ … ]' };
  const at = value.findIndex((action) => typeof action?.id !== 'string' || typeof action.run !== 'function');
  return at < 0 ? undefined : { what: `actions[${at}] is not an action`, hint: 'Make it with defineAction({ … })' };
}

function checkPolicies(value: unknown): Wrong | undefined {
  if (!isObject(value)) return { hint: 'Write retryPolicies: { … }' };
  const wrong = Object.entries(value as object).find(([, policy]) => typeof policy !== 'function');
  return wrong && { what: `retryPolicies.${wrong[0]} is not a function`, hint: 'Give a function of (k, error)' };
}

const TOKENLESS_KEYS = ['project', 'loopback', 'path'];

/** A short path could be guessed. */
function checkTokenless(value: unknown): Wrong | undefined {
  const hint = 'Write workflowGraph: { project: default, loopback: true } or { project: default, path: <a secret> }';
  if (!isObject(value)) return { hint };
  const { project, loopback, path } = value as Record<string, unknown>;
  const unknown = Object.keys(value as object).find((key) => !TOKENLESS_KEYS.includes(key));
  if (unknown !== undefined) return { what: `server.workflowGraph.${unknown} is not known`, hint };
  if (!isText(project)) return { what: 'server.workflowGraph has no project', hint };
  if (path !== undefined && !/^[\w-]{24,200}$/.test(String(path))) {
    const what = 'server.workflowGraph.path is not a secret of 24 to 200 letters, digits, _ and -';
    return { what, hint: 'Make one: openssl rand -hex 24' };
  }
  if (path === undefined && loopback !== true) return { what: 'server.workflowGraph lets nobody in', hint };
  return undefined;
}

const CEILING_HINT = "Write projects: { NAME: { ceiling: { network: ['api.example.com'] } } }, or ceiling: all";

function checkProjects(value: unknown): Wrong | undefined {
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
  if (!isObject(ceiling)) return 'has a ceiling that is no object';
  const { files = {}, ...lists } = ceiling as { readonly files?: unknown };
  if (!isObject(files)) return 'has a ceiling whose files are no object';
  for (const [key, list] of [...Object.entries(lists), ...Object.entries(files as object)]) {
    const isKnown = key in lists ? ['network', 'shell', 'env'].includes(key) : ['read', 'write'].includes(key);
    if (!isKnown) return `has a ceiling with an unknown key '${key}'`;
    if (!isTexts(list)) return `has a ceiling whose ${key} is no list of texts`;
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
  default: EXPRESSION_LIMITS[name].toLocaleString('en'),
  example: `expressionLimits: { ${name}: ${EXPRESSION_LIMITS[name]} }`,
  check: is((value) => typeof value === 'number' && value > 0, 'Give a number above 0'),
});

type Path =
  | keyof NebulaConfig
  | `server.${keyof ServerConfig}`
  | `drivers.${keyof DriverOpeners}`
  | `expressionLimits.${keyof ExpressionLimits}`
  | `capabilities.${Exclude<keyof Capabilities, 'files'>}`
  | `capabilities.files${'' | '.read' | '.write'}`;

/** By path; in the order of the reference. */
export const CONFIG_KEYS: Readonly<Record<Path, ConfigKey>> = {
  dataDir: {
    type: 'text',
    doc: 'Where runs are kept, relative to the folder of the configuration.',
    default: '`.nebula`',
    example: 'dataDir: .nebula',
    check: is(isText, "Give a folder, e.g. '.nebula'"),
  },
  concurrency: {
    type: 'whole number',
    doc: 'Attempts that may run at the same time in this process.',
    default: '4; preset `selfhost`: 64',
    example: 'concurrency: 8',
    check: is(isWhole(1), 'Give a whole number above 0'),
  },
  labels: {
    type: 'list of texts',
    doc: 'What this process has: a node runs here if it asks for no other `labels`. All others are for workers outside.',
    default: 'none',
    example: 'labels: [gpu, eu]',
    check: texts('gpu'),
  },
  maxActiveRuns: {
    type: 'whole number',
    doc: 'Starts are refused with `BUSY` while so many runs wait or go on.',
    default: '100,000',
    example: 'maxActiveRuns: 20000',
    check: is(isWhole(1), 'Give a whole number above 0'),
  },
  retention: {
    type: 'duration, milliseconds or null',
    doc: 'How long finished runs are kept; null: for ever.',
    default: '30 days',
    example: 'retention: 30d',
    check: (value) => (value === null ? undefined : retention(value)),
  },
  inlineLimit: {
    type: 'size, or bytes',
    doc: 'Values above this size are kept as files of their own.',
    default: '64 KiB',
    example: 'inlineLimit: 64KiB',
    check: measure(parseSize, "Give a size, e.g. '64KiB'"),
  },
  durability: {
    type: '`strict` or `relaxed`',
    doc: 'strict: a finished step is on disk. relaxed: a power cut may lose the last moments.',
    default: '`strict`',
    example: 'durability: relaxed',
    check: is(isOneOf(['strict', 'relaxed']), "It is 'strict' or 'relaxed'"),
  },
  capabilities: {
    type: 'object',
    doc: 'What the operator grants to every workflow of the project `default`, besides what workflows ask for. In other projects their ceiling decides.',
    default: 'nothing',
    example: 'capabilities: { network: [api.example.com] }',
    check: section('capabilities'),
  },
  'capabilities.network': {
    type: 'list of texts',
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
    type: 'list of texts',
    doc: 'Patterns of files that may be read, relative to the project.',
    example: 'capabilities: { files: { read: [data/**] } }',
    check: texts('data/**'),
  },
  'capabilities.files.write': {
    type: 'list of texts',
    doc: 'Patterns of files that may be written.',
    example: 'capabilities: { files: { write: [out/**] } }',
    check: texts('out/**'),
  },
  'capabilities.shell': {
    type: 'list of texts',
    doc: 'Programs that actions may run.',
    example: 'capabilities: { shell: [git] }',
    check: texts('git'),
  },
  'capabilities.env': {
    type: 'list of texts',
    doc: 'Variables of the environment that actions may read.',
    example: 'capabilities: { env: [HOME] }',
    check: texts('HOME'),
  },
  projects: {
    type: 'object',
    doc: 'By project, its `ceiling`: what its runs may be granted at the most (`network`, `files`, `shell`, `env` as in `capabilities`), or `all` for whatever workflows ask for. A ceiling that was set by `nebula projects set` or the API goes before.',
    default: 'preset `desktop`: `all`; others: nothing',
    example: 'projects: { default: { ceiling: { network: ["*.example.com"] } } }',
    check: checkProjects,
  },
  expressionLimits: {
    type: 'object',
    doc: 'What one evaluation of an expression may cost; what is left out keeps its default.',
    example: 'expressionLimits: { maxOperations: 50000 }',
    check: section('expressionLimits'),
  },
  'expressionLimits.maxAstDepth': limit('maxAstDepth', 'How deep an expression may nest.'),
  'expressionLimits.maxOperations': limit('maxOperations', 'Steps of one evaluation.'),
  'expressionLimits.maxStringBytes': limit('maxStringBytes', 'Bytes of a text that it makes.'),
  'expressionLimits.maxArrayLength': limit('maxArrayLength', 'Elements of a list that it makes.'),
  'expressionLimits.maxEvaluationMs': limit('maxEvaluationMs', 'Milliseconds that it may take.'),
  server: {
    type: 'object',
    doc: 'What `nebula serve` goes by. Options of the command win over it.',
    example: 'server: { port: 7777 }',
    check: section('server'),
  },
  'server.preset': {
    type: '`desktop`, `selfhost` or `cloud`',
    doc: 'desktop: one person, with a token in a file. selfhost: users who sign in. cloud is not built yet.',
    default: '`desktop`',
    example: 'server: { preset: selfhost }',
    check: is(isOneOf(['desktop', 'selfhost', 'cloud']), "It is 'desktop', 'selfhost' or 'cloud'"),
  },
  'server.host': {
    type: 'text',
    doc: 'The address on which it listens. Anything but loopback can be reached by others.',
    default: '`127.0.0.1`',
    example: 'server: { host: 0.0.0.0 }',
    check: is(isText, "Give an address, e.g. '127.0.0.1'"),
  },
  'server.port': {
    type: 'whole number',
    doc: 'The port; 0 takes any free one.',
    default: '7777',
    example: 'server: { port: 8080 }',
    check: is(isWhole(0, 65_535), 'Give a whole number from 0 to 65535'),
  },
  'server.url': {
    type: 'text',
    doc: 'How people and programs reach it, where a proxy stands before it: addresses for calls begin so. With https, cookies go over HTTPS only.',
    default: 'where it listens',
    example: 'server: { url: "https://flows.example.com" }',
    check: is((value) => isText(value) && URL.canParse(String(value)), "Give a URL, e.g. 'https://flows.example.com'"),
  },
  'server.trustProxy': {
    type: 'list of texts',
    doc: 'Addresses and ranges of proxies that are believed when they say who calls (`X-Forwarded-For`), and whether over HTTPS (`X-Forwarded-Proto`); also `loopback`, `linklocal` and `uniquelocal`.',
    default: 'none',
    example: 'server: { trustProxy: [10.0.0.0/8] }',
    check: is(isProxies, "Give a list of addresses or ranges, e.g. ['10.0.0.0/8', 'loopback']"),
  },
  'server.hosts': {
    type: 'list of texts',
    doc: 'Further host names under which it answers. A server on loopback answers under names of loopback only.',
    default: 'none; beyond loopback: any',
    example: 'server: { hosts: [flows.example.com] }',
    check: texts('flows.example.com'),
  },
  'server.origins': {
    type: 'list of texts',
    doc: 'Origins of web pages that may call the API from a browser.',
    default: 'none',
    example: 'server: { origins: ["https://app.example.com"] }',
    check: texts('https://app.example.com'),
  },
  'server.bodyLimit': {
    type: 'size, or bytes',
    doc: 'The largest request that it takes.',
    default: '4 MiB',
    example: 'server: { bodyLimit: 64MiB }',
    check: measure(parseSize, "Give a size, e.g. '4MiB'"),
  },
  'server.workflows': {
    type: 'list of texts',
    doc: 'Patterns of workflow files, relative to the configuration: registered and activated at the start, and again when they change.',
    default: '`workflows/**/*.{yaml,yml,json}`',
    example: 'server: { workflows: [flows/*.yaml] }',
    check: texts('workflows/**/*.yaml'),
    isLive: true,
  },
  'server.workflowGraph': {
    type: '`{ project, loopback, path }`',
    doc: 'Lets in workers of workflow-graph that send no token, each as a worker of `project` and nothing else: those that call from this machine (`loopback: true`), or below `/workflow-graph/<path>` (a secret of 24 characters or more).',
    default: 'none are let in',
    example: 'server: { workflowGraph: { project: default, loopback: true } }',
    check: checkTokenless,
  },
  'server.metrics': {
    type: '`signed-in` or `public`',
    doc: 'Who may read `/metrics`.',
    default: '`signed-in`',
    example: 'server: { metrics: public }',
    check: is(isOneOf(['signed-in', 'public']), "It is 'signed-in' or 'public'"),
  },
  'server.logLevel': {
    type: '`debug`, `info`, `warn` or `error`',
    doc: 'What it says while it runs: this level and above. Requests are at debug, runs that end at info.',
    default: '`info`',
    example: 'server: { logLevel: warn }',
    check: is(isOneOf(['debug', 'info', 'warn', 'error']), "It is 'debug', 'info', 'warn' or 'error'"),
    isLive: true,
  },
  'server.database': {
    type: 'text',
    doc: 'Where runs and records are kept: `sqlite` in the data folder. `postgres://…` is not built yet.',
    default: '`sqlite`',
    example: 'server: { database: sqlite }',
    check: is(isText, "Give 'sqlite', or a URL"),
  },
  'server.queue': {
    type: 'text',
    doc: 'How work is handed out: `memory`. `redis://…` and `amqp://…` are not built yet.',
    default: '`memory`',
    example: 'server: { queue: memory }',
    check: is(isText, "Give 'memory', or a URL"),
  },
  actions: {
    type: 'list of actions',
    doc: "The project's own actions, besides the built-in ones.",
    example: 'actions: [charge, pack]',
    check: checkActions,
    isCode: true,
  },
  retryPolicies: {
    type: 'functions by name',
    doc: 'By the name that `retry.policy` gives.',
    example: 'retryPolicies: { patient: (k) => k * 1000 }',
    check: checkPolicies,
    isCode: true,
  },
  drivers: {
    type: 'object',
    doc: 'Drivers of your own. Each one left out is the default.',
    example: 'drivers: { blobs: ({ dataDir }) => … }',
    check: section('drivers'),
    isCode: true,
  },
  'drivers.store': driver('store', 'Keeps journals and workflow versions.'),
  'drivers.records': driver('records', 'Keeps what a server has besides runs; needed beside a store of your own.'),
  'drivers.queue': driver('queue', 'Hands out work.'),
  'drivers.blobs': driver('blobs', 'Keeps large values.'),
  'drivers.logs': driver('logs', 'Keeps what actions say.'),
  'drivers.sandbox': driver('sandbox', 'Runs actions.'),
  'drivers.secrets': driver('secrets', 'Keeps secrets.'),
};
