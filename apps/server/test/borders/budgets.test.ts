/** Walks the table of budgets: each is probed just below and just above. */
import { builtinActions } from '@nebula/actions';
import {
  allSteps,
  compilePlan,
  compileSchema,
  compileValue,
  createBudget,
  createCatalog,
  EXPRESSION_LIMITS,
  isMoment,
  isUnfinished,
  type Json,
  type JsonSchema,
  readDefinition,
  readDefinitionObject,
  type SchemaCheck,
  StepBudget,
} from '@nebula/core';
import { realClock } from '@nebula/drivers/real';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUDGETS, type BudgetName } from '../../src/budgets.ts';
import { bodyFault, readForm } from '../../src/http/bodies.ts';
import { BodyMemory } from '../../src/http/body-memory.ts';
import { NOBODY } from '../../src/identity/principal.ts';
import { HTTP_LIMITS } from '../../src/limits.ts';
import { Followers } from '../../src/live/followers.ts';
import { indexChange } from '../../src/records.ts';
import { parseFilePattern } from '../../src/triggers/file-pattern.ts';
import { announcing } from '../support/announcing.ts';
import { type Booted, boot, TOKEN } from '../support/boot.ts';
import { ask } from '../support/users.ts';
import { echo } from '../support/workflows.ts';
import { BACKUP_PROBES } from './backup-probes.ts';
import { CHECK_PROBES } from './check-probes.ts';
import { SOCKET_PROBES } from './socket-probes.ts';
import { WATCH_PROBES } from './watch-probes.ts';

const faultOf = (text: string) => allSteps(bodyFault(text));

let booted: Booted;
beforeAll(async () => {
  booted = await boot();
  await booted.client.call('registerWorkflow', { body: { definition: echo() } });
});
afterAll(() => booted.close());

/** Returns whether input of that size is accepted. */
type Probe = (size: number) => boolean | Promise<boolean>;

const takes = (act: () => unknown): boolean => {
  try {
    act();
    return true;
  } catch {
    return false;
  }
};
const isTaken = async (line: string, given: { body?: unknown; raw?: string; headers?: Record<string, string> }) => {
  const headers = { authorization: `Bearer ${TOKEN}`, ...given.headers };
  return (await ask(booted, line, { ...given, headers })).status < 400;
};
const start = (input: Json) => isTaken('POST /api/v1/executions', { body: { workflowId: 'echo', input } });
const isRefusedAs = async (code: string, line: string, body: unknown): Promise<boolean> =>
  (await ask(booted, line, { body, headers: { authorization: `Bearer ${TOKEN}` } })).json?.code === code;
const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const nodes = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, { action: 'core.noop' }]));
const evaluates = (expression: string, scope: Json = null): boolean =>
  takes(() => {
    const value = compileValue(`{{ ${expression} }}`);
    return value.evaluate({ input: scope } as never, createBudget());
  });
const schemaOf = (levels: number): JsonSchema => (levels === 1 ? {} : { not: schemaOf(levels - 1) });
const loops = (levels: number): Json =>
  levels === 0
    ? { nodes: { a: { action: 'core.noop' } } }
    : { nodes: { l: { forEach: { in: '{{ [1] }}' }, do: loops(levels - 1) } } };
const isRead = (definition: Json): boolean =>
  readDefinitionObject(definition).problems.every(({ severity }) => severity !== 'error');
const followers = (limits: { maxFollowers: number; maxFollowersPerCaller: number }, count: number): boolean => {
  const all = new Followers(limits);
  return takes(() => {
    for (let at = 0; at < count; at++) all.count(NOBODY, (async function* () {})());
  });
};
/** Keywords that cost one step each, and nothing more for a list. */
const IDLE = { type: 'array', minProperties: 0, maxProperties: 0, minimum: 0, maximum: 0, minLength: 0, maxLength: 0 };
const MORE = { exclusiveMinimum: 0, exclusiveMaximum: 0, multipleOf: 1 };

/** Returns whether a check of so many steps is accepted: eleven items against a list of choices, and the rest. */
function checks(steps: number): boolean {
  const choices = Math.floor((steps - 1) / 11) - 2;
  const left = steps - 1 - 11 * (choices + 2);
  const idle = Object.fromEntries(Object.entries({ ...IDLE, ...MORE }).slice(0, left));
  const schema = { ...idle, items: { enum: Array(choices).fill(0) as Json[] } };
  return compileSchema(schema as JsonSchema).problems(Array(11).fill(0) as Json) === undefined;
}

/** A list whose items take so many steps each, and which takes one step and `more` by itself. */
function listSchema(steps: number, more: number): SchemaCheck {
  const allOf = Array(steps - 1).fill({ type: 'integer' }) as JsonSchema[];
  const idle = Object.fromEntries(Object.entries({ ...IDLE, ...MORE }).slice(0, more));
  return compileSchema({ ...idle, items: { allOf } } as JsonSchema);
}

const OWNER = { authorization: `Bearer ${TOKEN}` };
const CATALOG = createCatalog([...builtinActions, { id: 'graph', version: '1', effect: 'pure', run: () => null }]);

/** A graph with so many edges between few nodes. */
function dense(edges: number): { readonly nodes: Readonly<Record<string, Json>> } {
  const all: Record<string, Json> = {};
  for (let left = edges, at = 0; left > 0 || at === 0; left -= at, at++) {
    const needs = Array.from({ length: Math.min(at, left) }, (_, index) => `n${index}`);
    all[`n${at}`] = { action: 'core.noop', needs };
  }
  return { nodes: all };
}

/** Returns whether a returned graph is accepted; its output is filled up to that size. */
function isAccepted(graph: Json, bytes?: number): boolean {
  const { plan } = compilePlan({ id: 'x', nodes: { p: { dynamic: { action: 'graph' } } } } as never, CATALOG);
  const work = plan?.root.nodes[0]?.work;
  if (work?.kind !== 'dynamic') throw new Error('no dynamic node');
  const fill = bytes === undefined ? graph : { ...(graph as object), output: 'x'.repeat(bytes - sizeOf(graph)) };
  return 'body' in work.accept(fill);
}

const sizeOf = (value: Json): number => JSON.stringify(value).length;

const STARTS_ECHO = { workflowId: 'echo' };

/** Puts the last of so many records of a project; the others are only in the index. */
async function isLast(kind: string, size: number, put: (id: string) => Promise<boolean>): Promise<boolean> {
  const others = Array.from({ length: size - 1 }, (_, at) => indexChange(kind, 'default', `other${at}`, true));
  await booted.parts.records.commit(others);
  try {
    return await put(`last${size}`);
  } finally {
    await booted.parts.records.commit(others.map((one) => ({ ...one, body: null })));
  }
}

/** Budgets of sockets, of the checking thread and of file triggers are tested with a lowered limit. */
const DRIVEN_PROBES = { ...SOCKET_PROBES, ...CHECK_PROBES, ...WATCH_PROBES };
const driven = Object.fromEntries(
  Object.entries(DRIVEN_PROBES).map(([name, probe]): [string, Probe] => [
    name,
    (size) => probe(size > BUDGETS[name as BudgetName].limit),
  ]),
) as Record<keyof typeof DRIVEN_PROBES, Probe>;

const PROBES: Readonly<Record<BudgetName, Probe>> = {
  ...driven,
  'body.size': (size) => start('x'.repeat(size - '{"workflowId":"echo","input":""}'.length)),
  'body.public': async (size) => {
    const raw = JSON.stringify({ user: 'a', password: 'b' }).padEnd(size);
    return (await ask(booted, 'POST /api/v1/login', { raw })).status !== 413;
  },
  'body.memory': (size) => {
    // Each caller takes half of what the others have left, and the last ones a byte each.
    const memory = new BodyMemory(BUDGETS['body.memory'].limit);
    let taken = 0;
    for (let caller = 0; taken < size && caller < 100; caller++) {
      const share = Math.max(1, Math.floor((size - taken) / 2));
      if (memory.take(`caller ${caller}`, share)) taken += share;
    }
    return taken === size;
  },
  'body.values': (size) => faultOf(`[${'1,'.repeat(size - 1)}1]`) === undefined,
  'body.fields': (size) =>
    readForm('a&'.repeat(size - 1), realClock).then(
      () => true,
      () => false,
    ),
  'body.depth': (size) => faultOf(nested(size)) === undefined,
  'body.definition': async (size) => {
    const raw = JSON.stringify({ source: 'id: x' }).padEnd(size);
    return (await ask(booted, 'POST /api/v1/workflows/validate', { raw, headers: OWNER })).status !== 413;
  },
  'test.pins': async (size) => {
    const pins = Object.fromEntries(Array.from({ length: size }, (_, at) => [`n${at}`, { output: 1 }]));
    // No node has these names.
    return !(await isRefusedAs('BODY_INVALID', 'POST /api/v1/tests', { ...STARTS_ECHO, pins }));
  },
  'test.size': (size) => {
    const pins = (chars: number) => ({ say: { output: 'x'.repeat(chars) } });
    const body = { ...STARTS_ECHO, pins: pins(size - JSON.stringify(pins(0)).length) };
    return isTaken('POST /api/v1/tests', { body });
  },
  'test.rehearsed': (size) =>
    isTaken('POST /api/v1/workflows/echo/rehearse', { body: { definition: echo(), limit: size } }),
  'input.depth': (size) => start(JSON.parse(nested(size)) as Json),
  'time.latest': (size) => isMoment(size),
  'log.lines': async (size) =>
    !(await isRefusedAs('BODY_INVALID', 'POST /api/v1/leases/x/logs', { lines: Array(size).fill({ message: 'm' }) })),
  'log.line': async (size) =>
    !(await isRefusedAs('BODY_INVALID', 'POST /api/v1/leases/x/logs', { lines: [{ message: 'm'.repeat(size) }] })),
  'definition.text': (size) =>
    isTaken('POST /api/v1/workflows/validate', { body: { source: 'id: x'.padEnd(size, '\n') } }),
  'definition.json': (size) => {
    const definition = (chars: number) => ({
      id: 'x',
      nodes: { a: { action: 'core.set', with: { value: 'x'.repeat(chars) } } },
    });
    const body = { definition: definition(size - JSON.stringify(definition(0)).length) };
    return isTaken('POST /api/v1/workflows/validate', { body });
  },
  'definition.nodes': (size) =>
    isTaken('POST /api/v1/workflows/validate', { body: { definition: { id: 'x', nodes: nodes(size) } } }),
  'definition.edges': (size) =>
    isTaken('POST /api/v1/workflows/validate', { body: { definition: { id: 'x', ...dense(size) } } }),
  'definition.expressions': (size) =>
    compilePlan(
      { id: 'x', nodes: { a: { action: 'core.noop', when: `1${' '.repeat(size - 2)}2` } } } as never,
      CATALOG,
    ).problems.every(({ code }) => code !== 'EXPRESSION_LIMIT'),
  'announced.count': async (size) => {
    const announced = announcing().open();
    const actions = Array.from({ length: size }, (_, at) => ({ id: `far.a${at}`, version: '1' }));
    return announced.add(actions, 'default').then(
      () => true,
      () => false,
    );
  },
  'plan.count': (size) => isLast('plan', size, (id) => isTaken(`PUT /api/v1/plans/${id}`, { body: STARTS_ECHO })),
  'draft.count': async (size) => {
    const put = (draft: number) => isTaken(`PUT /api/v1/drafts/draft-${draft}`, { body: { text: 'x' } });
    let isLastTaken = true;
    for (let draft = 0; draft < size; draft++) isLastTaken = await put(draft);
    return isLastTaken;
  },
  'draft.text': (size) => isTaken('PUT /api/v1/drafts/draft-1', { body: { text: 'x'.repeat(size) } }),
  'layout.nodes': (size) => {
    const moved = Array.from({ length: size }, (_, node) => [`n${node}`, { x: node, y: 0 }]);
    return isTaken('PUT /api/v1/workflows/echo/layout', { body: { nodes: Object.fromEntries(moved) } });
  },
  'schedule.count': (size) =>
    isLast('schedule', size, (id) =>
      isTaken(`PUT /api/v1/schedules/${id}`, { body: { ...STARTS_ECHO, every: '1h', active: false } }),
    ),
  'notification.count': (size) =>
    isLast('notification', size, (id) =>
      isTaken(`PUT /api/v1/notifications/${id}`, { body: { url: 'https://hooks.example.com/' } }),
    ),
  'notification.recipients': (size) => {
    const recipients = Array.from({ length: size }, (_, n) => `&to=person-${n}@example.com`).join('');
    const url = `smtps://mail.example.com/?from=nebula@example.com${recipients}`;
    return isTaken('PUT /api/v1/notifications/mailed', { body: { url } });
  },
  'announced.size': (size) => {
    const action = (chars: number) => ({
      id: 'far.long',
      effect: 'pure',
      input: { title: 'x'.repeat(chars) },
      version: '1',
    });
    const chars = size - JSON.stringify(action(0)).length;
    return isTaken('POST /api/v1/workers', { body: { workerId: 'long', actions: [action(chars)] } });
  },
  'returned.size': (size) => isAccepted({ nodes: { a: { action: 'core.noop' } }, output: '' }, size),
  'returned.values': (size) =>
    // The graph, its nodes, the node, its action, the output: five more.
    isAccepted({ nodes: { a: { action: 'core.noop' } }, output: Array(size - 5).fill(1) as Json[] }),
  'returned.nodes': (size) => isAccepted({ nodes: nodes(size) }),
  'returned.edges': (size) => isAccepted(dense(size) as Json),
  'definition.depth': (size) =>
    isRead({ id: 'x', nodes: { a: { action: 'core.set', with: { value: JSON.parse(nested(size - 4)) as Json } } } }),
  'definition.bodies': (size) => isRead({ id: 'x', ...(loops(size) as object) }),
  'definition.aliases': (size) =>
    readDefinition(`id: x\nnodes:\n  a:\n    action: core.set\n    with: { value: [&v 1${', *v'.repeat(size)}] }\n`, {
      file: 'x.yaml',
    }).problems.every(({ severity }) => severity !== 'error'),
  'expression.depth': (size) => evaluates(`${'['.repeat(size)}${']'.repeat(size)}`),
  'expression.work': (size) => takes(() => createBudget().spend(size)),
  'expression.step': (size) =>
    takes(() => {
      const budgets = new StepBudget(() => createBudget());
      const { maxOperations } = EXPRESSION_LIMITS;
      for (let left = size; left > 0; left -= maxOperations) budgets.next().spend(Math.min(left, maxOperations));
    }),
  'expression.text': (size) => evaluates(`'x'.repeat(${size})`),
  'expression.list': (size) => evaluates(`range(0, ${size})`),
  'schema.values': (size) => takes(() => compileSchema({ enum: Array(size - 2).fill(0) as Json[] })),
  'schema.depth': (size) => takes(() => compileSchema(schemaOf(size))),
  'schema.patterns': (size) =>
    takes(() =>
      compileSchema({
        properties: Object.fromEntries(
          Array.from({ length: Math.ceil(size / 1_000) }, (_, at) => [
            `p${at}`,
            { pattern: `${at}{${at < 10 ? 990 : 900}}` },
          ]),
        ),
      }),
    ),
  'schema.work': (size) => checks(size),
  'schema.large': (size) => {
    const begun = listSchema(size, 0).begin(Array(100_000).fill(0) as Json);
    if (!isUnfinished(begun)) throw new Error('it is not checked in pieces');
    let step = begun.next();
    while (step.done !== true) step = begun.next();
    return step.value === undefined;
  },
  'schema.decision': (size) =>
    listSchema(8, (size - 1) % 8).problems(Array(Math.floor((size - 1) / 8)).fill(0) as Json) === undefined,
  ...BACKUP_PROBES,
  'pattern.size': (size) => takes(() => parseFilePattern('x'.repeat(size))),
  'pattern.alternatives': (size) => takes(() => parseFilePattern(`{${'a,'.repeat(size - 1)}b}`)),
  'pattern.segments': (size) => takes(() => parseFilePattern(Array(size).fill('a').join('/'))),
  'follower.total': (size) =>
    followers({ maxFollowers: BUDGETS['follower.total'].limit, maxFollowersPerCaller: 1e9 }, size),
  'follower.perCaller': (size) =>
    followers({ maxFollowers: 1e9, maxFollowersPerCaller: BUDGETS['follower.perCaller'].limit }, size),
};

describe('[SRV-500] every budget holds', () => {
  it.each(Object.keys(BUDGETS) as BudgetName[])('%s', { timeout: 60_000 }, async (name) => {
    const { limit } = BUDGETS[name];
    expect([name, 'below', await PROBES[name](limit)]).toEqual([name, 'below', true]);
    expect([name, 'above', await PROBES[name](limit + 1)]).toEqual([name, 'above', false]);
  });
});

it('[SRV-672] each different name of a member counts as six values', () => {
  const bodyOf = (count: number, names: number) =>
    `[${Array.from({ length: count }, (_, at) => `{"n${at % names}":1}`).join()}]`;
  // An object and its comma are two values.
  expect(faultOf(bodyOf(12_500, 12_500))).toBeUndefined();
  expect(faultOf(bodyOf(12_510, 12_510))?.code).toBe('TOO_LARGE');
  expect(faultOf(bodyOf(40_000, 3_333))).toBeUndefined();
  expect(faultOf(bodyOf(40_000, 3_340))?.code).toBe('TOO_LARGE');
  // A name is what stands before a colon, not a value.
  const texts = Array.from({ length: 40_000 }, (_, at) => `{"a":"value ${at}:"}`);
  expect(faultOf(`[${texts.join()}]`)).toBeUndefined();
});

it('[SRV-489] text inside strings does not count as values of a body, whatever is escaped', () => {
  const over = '['.repeat(HTTP_LIMITS.maxBodyDepth + 1);
  for (const inside of [over, `\\"${over}`, `\\\\\\"${over}`, `${over}\\\\`, `${over}\\"`]) {
    expect(faultOf(`["${inside}"]`), inside.slice(0, 8)).toBeUndefined();
  }
  for (const before of ['""', '"\\\\"', '"\\""']) expect(faultOf(`[${before},${over}`)?.code).toBe('BODY_INVALID');
  // Wherever a piece of the scan ends.
  for (let gap = 65_536 - 8; gap < 65_536; gap++) {
    const space = ' '.repeat(gap);
    expect(faultOf(`[${space}"\\\\\\"${over}"]`), String(gap)).toBeUndefined();
    expect(faultOf(`[${space}"\\\\",${over}`)?.code, String(gap)).toBe('BODY_INVALID');
    expect(faultOf(`["${space}\\"${over}"]`), String(gap)).toBeUndefined();
  }
  // Not JSON, but scanned all the same: each string is looked at once.
  const began = process.cpuUsage().user;
  expect(faultOf(`{"${'a'.repeat(2_000_000)}"${':'.repeat(2_000_000)}`)).toBeUndefined();
  expect(process.cpuUsage().user - began).toBeLessThan(5_000_000);
  const names = Array.from({ length: 13_000 }, (_, at) => `"${'x'.repeat(40)}${at}":1`);
  expect(faultOf(`{${names.join()}}`)).toBeUndefined();
  expect(faultOf(`{${[...names, ...names.map((name) => `"y${name.slice(1)}`)].join()}}`)?.code).toBe('TOO_LARGE');
});
