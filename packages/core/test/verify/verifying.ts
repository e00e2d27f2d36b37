/** Shared functions of the tests of verification. */
import {
  type Action,
  compilePlan,
  compileSource,
  createCatalog,
  type JsonSchema,
  type Problem,
  readDefinition,
  type WorkflowDefinition,
} from '../../src/index.ts';

const closed = (properties: Record<string, JsonSchema>): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

const ORDER = closed({
  id: { type: 'integer' },
  state: { enum: ['open', 'paid'] },
  total: { type: 'number', minimum: 0 },
  note: { type: ['string', 'null'] },
  lines: { type: 'array', items: closed({ sku: { type: 'string' }, count: { type: 'integer' } }) },
});

const actions: readonly Action[] = [
  { id: 'do', version: '1', effect: 'idempotent', run: () => null },
  { id: 'look', version: '1', effect: 'pure', run: () => null },
  { id: 'pay', version: '1', effect: 'once', run: () => null },
  { id: 'sure', version: '1', effect: 'once', run: () => null, verify: () => ({ happened: false }) },
  {
    id: 'ask',
    version: '1',
    effect: (input) => ((input as { method: string }).method.toUpperCase() === 'GET' ? 'pure' : 'once'),
    run: () => null,
  },
  { id: 'order', version: '1', effect: 'pure', output: ORDER, run: () => null },
  {
    id: 'open',
    version: '1',
    effect: 'pure',
    output: { type: 'object', properties: { state: { type: 'string' }, inner: { type: 'object' } } },
    run: () => null,
  },
  { id: 'loose', version: '1', effect: 'pure', output: ORDER, describeOnly: ['output'], run: () => null },
  {
    id: 'mail',
    version: '1',
    effect: 'idempotent',
    input: {
      type: 'object',
      properties: {
        to: { type: 'string' },
        count: { type: 'integer' },
        note: { type: ['string', 'null'] },
        tags: { type: 'array', items: { type: 'string' } },
        state: { enum: ['new', 'old'] },
        line: closed({ sku: { type: 'string' }, count: { type: 'integer' } }),
        either: { anyOf: [{ type: 'string' }, { type: 'boolean' }] },
      },
    },
    run: () => null,
  },
  {
    id: 'coerce',
    version: '1',
    effect: 'pure',
    input: { type: 'object', properties: { n: { type: 'number' } } },
    describeOnly: ['input'],
    run: () => null,
  },
  {
    id: 'web',
    version: '1',
    effect: 'pure',
    capabilities: ['network'],
    input: { type: 'object', properties: { url: { type: 'string' }, timeout: { default: '10s' } } },
    reaches: { network: (input) => URL.parse((input as { url: string }).url)?.host },
    run: () => null,
  },
  {
    id: 'disk',
    version: '1',
    effect: 'pure',
    capabilities: ['files', 'shell'],
    reaches: {
      'files.read': (input) => (input as { from: string }).from,
      'files.write': (input) => (input as { to: string }).to,
      shell: (input) => (input as { run?: { program: string } }).run?.program ?? 'sh',
    },
    run: () => null,
  },
  { id: 'call', version: '1', effect: 'pure', capabilities: ['network'], run: () => null },
  {
    id: 'bounded',
    version: '1',
    effect: 'pure',
    capabilities: ['network'],
    input: { type: 'object', properties: { timeout: { default: '10s' } } },
    run: () => null,
  },
];

const catalog = createCatalog(actions);

/** Other workflows by id, as YAML without the id. */
export type Others = Readonly<Record<string, string>>;

export function problemsOf(yaml: string, others: Others = {}): readonly Problem[] {
  return compileSource(`id: test\n${yaml}`, catalog, {
    file: 'test.yaml',
    workflows: (id) => named(id, others[id]),
  }).problems;
}

function named(id: string, yaml: string | undefined): WorkflowDefinition | undefined {
  return yaml === undefined ? undefined : readDefinition(`id: ${id}\n${yaml}`, { file: `${id}.yaml` }).definition;
}

/** `CODE path: message` of every problem. */
export function problemTexts(yaml: string, others: Others = {}): string[] {
  return problemsOf(yaml, others).map(({ code, path, message }) => `${code} ${path.join('.')}: ${message}`);
}

/** `CODE path` of every problem. */
export function codes(yaml: string, others: Others = {}): string[] {
  return problemsOf(yaml, others).map(({ code, path }) => `${code} ${path.join('.')}`);
}

/** Codes of the problems of a definition that a program made. */
export function problemsIn(definition: object, verify = true): string[] {
  return compilePlan(definition as WorkflowDefinition, catalog, { verify }).problems.map(({ code }) => code);
}
