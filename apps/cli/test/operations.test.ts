/** Runs every command, and compares the operations that it calls with the table. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROUTES } from '@nebula/client/routes';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS } from '../src/command-table.ts';
import { COMMAND_OPERATIONS } from './support/command-operations.ts';
import { projectFolder } from './support/nebula-process.ts';
import { sayNoted } from './support/recording.ts';
import { Served } from './support/served.ts';

/**
 * Foreign workers call the first: ours is seen by its claims and leases. Browsers call the others; `executions show RUN NODE`
 * shows the values of a node as a whole.
 */
const OF_OTHERS = ['beatWorker', 'signIn', 'getValues'];

/** Reads by which any command may find a run, watch it and show it. */
const READS_OF_RUNS: ReadonlySet<string> = new Set([
  ...['listExecutions', 'getExecution', 'getDefinition', 'getTimeline', 'getResult', 'listLogs'],
  ...['awaitRest', 'followExecution', 'followLogs', 'listAttempts'],
]);

const WORKFLOWS = {
  quick: { nodes: { a: { action: 'core.set', with: { value: 1 } } } },
  asks: { nodes: { ok: { wait: { approval: { title: 'Ship it?' } } } } },
  waits: { nodes: { w: { wait: { signal: 'go' } } } },
  calls: { nodes: { reply: { wait: { callback: true } } } },
  fails: { nodes: { boom: { action: 'core.fail', with: { message: 'no' } } } },
  loop: { nodes: { items: { forEach: { in: '[1, 2]' }, do: { nodes: { a: { action: 'core.noop' } } } } } },
  hangs: { nodes: { pay: { action: 'hang' } } },
  timed: { triggers: [{ interval: { every: '1h' } }], nodes: { a: { action: 'core.noop' } } },
};

const FILES = {
  'nebula.config.mjs': `
const stopped = (signal) => new Promise((done) => signal.addEventListener('abort', () => done(null)));
export default { actions: [{ id: 'hang', version: '1', effect: 'once', run: ({ signal }) => stopped(signal) }] };
`,
  'quick.yaml': 'id: quick\nnodes: { a: { action: core.set, with: { value: 1 } } }\n',
  'asking.yaml': 'id: asking\nconfig: { capabilities: { shell: [id] } }\nnodes: { a: { action: core.noop } }\n',
  'trying.yaml': 'id: trying\nconfig: { capabilities: { shell: [id] } }\nnodes: { a: { action: core.noop } }\n',
  'nested.yaml': 'id: nested\nnodes: { a: { workflow: { id: quick } } }\n',
  // No file has this workflow, so it is looked up among the registered ones.
  'outer.yaml': 'id: outer\nnodes: { a: { workflow: { id: loop } } }\n',
};

const PASSWORD = 'correct horse battery';
const AS_ROOT = ['--as', 'root', '--password-stdin'];

let called = new Set<string>();
const note = (operation: string): unknown => called.add(operation);
const onRequest = note;
let served: Served;
let selfhost: Served;

beforeAll(async () => {
  served = await Served.open(FILES, { onRequest });
  for (const [id, body] of Object.entries(WORKFLOWS)) {
    await served.session.api.call('registerWorkflow', { body: { definition: { id, ...body } } });
  }
  selfhost = await Served.open(FILES, { preset: 'selfhost', onRequest });
  const body = { password: PASSWORD, admin: true };
  await selfhost.session.api.call('putUser', { params: { userId: 'root' }, body });
});

afterAll(async () => {
  await served.close();
  await selfhost.close();
});

async function start(workflowId: string): Promise<string> {
  return (await served.session.api.call('startExecution', { body: { workflowId } })).executionId;
}

async function ended(workflowId: string): Promise<string> {
  const executionId = await start(workflowId);
  await served.session.api.run(executionId).result();
  return executionId;
}

/** A filter that selects several runs. */
async function all(workflow: string): Promise<string[]> {
  await Promise.all([start(workflow), start(workflow)]);
  return ['--workflow', workflow];
}

/** Calls in process see a run before its frame is durable, commands over HTTP afterwards: the journal is what counts. */
async function journalled(executionId: string, type: string): Promise<void> {
  const types = async (): Promise<unknown[]> => {
    const { items } = await served.session.api.call('getJournal', { params: { executionId } });
    return items.flatMap(({ entries }) => entries.map((entry) => (entry as { readonly type: string }).type));
  };
  await expect.poll(types, { timeout: 20_000 }).toContain(type);
}

async function paused(): Promise<string> {
  const executionId = await start('waits');
  await served.session.api.call('pauseExecution', { params: { executionId }, body: {} });
  await journalled(executionId, 'run.paused');
  return executionId;
}

/** An attempt of a `once` action was cut off: nobody knows whether it took effect. */
async function unknown(): Promise<string> {
  const executionId = await start('hangs');
  await journalled(executionId, 'node.started');
  await served.session.api.call('cancelExecution', { params: { executionId }, body: { node: 'pay' } });
  await journalled(executionId, 'node.unknown');
  return executionId;
}

interface Line {
  readonly argv: readonly string[];
  readonly at?: 'selfhost' | 'folder';
  readonly stdin?: string;
  /** The command is broken off with this call. */
  readonly until?: string;
}

type Step = readonly string[] | Line;

/** The command lines of each command: together they take every way that calls another operation. */
const SCRIPTS: Readonly<Record<string, () => Promise<readonly Step[]> | readonly Step[]>> = {
  run: () => [['run', 'quick.yaml'], { argv: ['run', 'asking.yaml'], at: 'folder' }],
  try: () => [['try', 'nested.yaml', '--until', 'a/a'], { argv: ['try', 'trying.yaml'], at: 'folder' }],
  'executions outputs': async () => [['executions', 'outputs', await ended('quick')]],
  'workflows rehearse': () => [['workflows', 'rehearse', 'quick.yaml']],
  resume: async () => [['resume', await paused()], ['resume']],
  start: async () => {
    await served.session.api.call('putLaunchPlan', { params: { planId: 'fast' }, body: { workflowId: 'quick' } });
    return [
      ['start', 'quick'],
      ['start', 'fast', '--plan'],
    ];
  },
  studio: () => [['studio']],
  demo: () => [{ argv: ['demo', '--data-dir', path.join(folder, 'demo')], at: 'folder', until: 'startExecution' }],
  init: () => [['init', 'new']],
  validate: () => [['validate', 'quick.yaml', 'outer.yaml']],
  graph: () => [['graph', 'outer.yaml']],
  test: async () => {
    await ended('quick');
    return [['test'], ['test', 'quick.yaml', '--against-runs']];
  },
  types: () => [['types']],
  eval: () => [['eval', '1 + 1']],
  actions: () => [['actions'], ['actions', 'core.set']],
  schema: () => [['schema']],
  completion: () => [['completion', 'bash']],
  'executions list': async () => [['executions', 'list', ...(await all('waits'))]],
  'executions count': () => [['executions', 'count']],
  'executions show': async () => [
    ['executions', 'show', await ended('quick')],
    ['executions', 'show', await ended('quick'), 'a'],
  ],
  'executions timeline': async () => [['executions', 'timeline', await ended('quick')]],
  'executions iterations': async () => [['executions', 'iterations', await ended('loop'), 'items']],
  'executions explain': async () => [['executions', 'explain', await ended('quick')]],
  'executions permits': async () => [['executions', 'permits', await ended('quick'), 'bank']],
  'executions logs': async () => [
    ['executions', 'logs', await ended('quick')],
    ['executions', 'logs', await ended('quick'), '--follow'],
    ['executions', 'logs', await ended('quick'), '--download'],
  ],
  'executions value': async () => [['executions', 'value', await ended('quick'), 'a'.repeat(64)]],
  'executions journal': async () => [['executions', 'journal', await ended('quick')]],
  'executions undo-plan': async () => [['executions', 'undo-plan', await ended('quick')]],
  'executions signal': async () => [
    ['executions', 'signal', await start('waits'), 'go'],
    ['executions', 'signal', 'go', ...(await all('waits')), '--yes'],
  ],
  signal: () => [['signal', 'later']],
  'executions approve': async () => [['executions', 'approve', await start('asks'), 'ok']],
  'executions reject': async () => [['executions', 'reject', await start('asks'), 'ok']],
  'executions callback': async () => [['executions', 'callback', await start('calls'), 'reply']],
  'executions pause': async () => [
    ['executions', 'pause', await start('waits')],
    ['executions', 'pause', ...(await all('asks')), '--yes'],
  ],
  'executions resume': async () => [
    ['executions', 'resume', await paused()],
    ['executions', 'resume', await paused(), await paused(), '--no-run', '--yes'],
  ],
  'executions cancel': async () => [
    ['executions', 'cancel', await start('waits'), '--no-run'],
    ['executions', 'cancel', ...(await all('calls')), '--yes'],
  ],
  'executions retry': async () => [
    ['executions', 'retry', await ended('fails')],
    ['executions', 'retry', await ended('fails'), await ended('fails'), '--yes'],
    ['executions', 'retry', await ended('fails'), '--latest'],
  ],
  'executions migrate': async () => [
    ['executions', 'migrate', await ended('quick'), '--to', 'quick.yaml', '--dry-run'],
    ['executions', 'migrate', await ended('fails'), await ended('fails'), '--yes'],
  ],
  'executions relaunch': async () => [['executions', 'relaunch', await ended('quick')]],
  'executions replay': async () => [['executions', 'replay', await ended('quick'), 'a']],
  'executions settle': async () => [['executions', 'settle', await unknown(), 'pay', '--happened']],
  'executions delete': async () => [
    ['executions', 'delete', await ended('quick')],
    ['executions', 'delete', await ended('loop'), await ended('loop'), '--yes'],
  ],
  'workflows register': () => [['workflows', 'register', 'quick.yaml']],
  'workflows list': () => [['workflows', 'list']],
  'workflows show': () => [['workflows', 'show', 'timed']],
  'workflows activate': () => [['workflows', 'activate', 'quick']],
  'workflows deactivate': () => [['workflows', 'deactivate', 'quick']],
  'workflows diff': () => [['workflows', 'diff', 'quick', '1']],
  'workflows compare': () => [['workflows', 'compare', 'quick.yaml']],
  'workflows archive': () => [['workflows', 'archive', 'quick']],
  'workflows unarchive': () => [['workflows', 'unarchive', 'quick']],
  'workflows layout': () => [['workflows', 'layout', 'quick', '--reset']],
  'drafts save': () => [['drafts', 'save', 'quick', 'quick.yaml']],
  'drafts list': () => [['drafts', 'list']],
  'drafts show': () => [['drafts', 'show', 'quick']],
  'drafts remove': () => [['drafts', 'remove', 'quick']],
  'schedules list': () => [['schedules', 'list']],
  'schedules set': () => [['schedules', 'set', 'nightly', '--workflow', 'timed', '--every', '1h']],
  'schedules show': () => [['schedules', 'show', 'nightly']],
  'schedules fire': () => [['schedules', 'fire', 'nightly']],
  'schedules remove': () => [['schedules', 'remove', 'nightly']],
  'plans set': () => [['plans', 'set', 'slow', '--workflow', 'timed']],
  'plans list': () => [['plans', 'list']],
  'plans show': () => [['plans', 'show', 'slow']],
  'plans remove': () => [['plans', 'remove', 'slow']],
  'users add': () => [['users', 'add', 'bob', '--password-stdin']],
  'users list': () => [{ argv: ['users', 'list', ...AS_ROOT], at: 'selfhost' }],
  'users passwd': () => [['users', 'passwd', 'bob', '--password-stdin']],
  'users own-password': () => [
    {
      argv: ['users', 'own-password', 'root', '--password-stdin'],
      at: 'selfhost',
      stdin: `${PASSWORD}\n${PASSWORD}`,
    },
  ],
  'users remove': () => [['users', 'remove', 'bob']],
  'keys create': () => [{ argv: ['keys', 'create', 'ci', ...AS_ROOT], at: 'selfhost' }],
  'keys list': () => [['keys', 'list']],
  'keys remove': () => [['keys', 'remove', 'none']],
  'projects list': () => [['projects', 'list']],
  'projects set': () => [['projects', 'set', 'team', '--allow', 'shell=git']],
  'projects remove': () => [['projects', 'remove', 'team']],
  fleet: () => [['fleet']],
  'triggers list': () => [['triggers', 'list']],
  'human-tasks list': () => [['human-tasks', 'list']],
  'human-tasks count': () => [['human-tasks', 'count']],
  statistics: () => [['statistics']],
  'workers list': () => [['workers', 'list']],
  'workers remove': () => [['workers', 'remove', 'none']],
  'workers remove-action': () => [['workers', 'remove-action', 'far@1']],
  'cache list': () => [['cache', 'list']],
  'cache clear': () => [['cache', 'clear']],
  'notifications set': () => [['notifications', 'set', 'ops', '--url', 'http://localhost:9/']],
  'notifications list': () => [['notifications', 'list']],
  'notifications test': () => [['notifications', 'test', 'ops']],
  'notifications remove': () => [['notifications', 'remove', 'ops']],
  backup: () => [['backup', path.join(folder, 'b.tar')]],
  'backup verify': () => [['backup', 'verify', path.join(folder, 'b.tar')]],
  restore: () => [['restore', path.join(folder, 'b.tar'), '--data-dir', path.join(folder, 'restored')]],
  audit: () => [['audit']],
  'context add': () => [
    { argv: ['context', 'add', 'here', '--server', served.url, '--token-stdin'], stdin: tokenIn(served.cwd) },
  ],
  'context list': () => [['context', 'list']],
  'context use': () => [['context', 'use', 'here']],
  'context remove': () => [['context', 'remove', 'here']],
  doctor: () => [['doctor'], { argv: ['doctor'], at: 'folder' }],
  'secrets set': () => [['secrets', 'set', 'stripe-key']],
  'secrets list': () => [['secrets', 'list']],
  'secrets rotate': () => [['secrets', 'rotate', 'stripe-key']],
  'secrets delete': () => [['secrets', 'delete', 'stripe-key']],
};

function tokenIn(cwd: string): string {
  return readFileSync(path.join(cwd, '.nebula/token'), 'utf8');
}

const folder = projectFolder(FILES);

/** Returns what the command printed. */
async function run(step: Step): Promise<string> {
  const { argv, at, stdin = PASSWORD, until }: Line = 'argv' in step ? step : { argv: step };
  const noting = (operation: string): void => {
    note(operation);
    if (operation === until) throw new Error('enough');
  };
  const { cwd, url } = at === 'selfhost' ? selfhost : served;
  const env = { XDG_CONFIG_HOME: path.join(folder, 'user'), ...(at !== 'folder' && { NEBULA_SERVER: url }) };
  const { out, err } = await sayNoted(at === 'folder' ? folder : cwd, argv, noting, { stdin, env });
  return `${argv.join(' ')}\n${out}${err}`;
}

/** Runs a command that stays until Ctrl-C, for as long as `work` takes. */
async function during(cwd: string, argv: readonly string[], work: () => Promise<void>): Promise<void> {
  const env = { NEBULA_SERVER: served.url, NEBULA_TOKEN: tokenIn(served.cwd) };
  const running = sayNoted(cwd, argv, note, { env });
  try {
    await work();
  } finally {
    process.emit('SIGHUP', 'SIGHUP');
    await running;
  }
}

function expectOperations(command: string, printed = ''): void {
  const known = COMMAND_OPERATIONS[command] ?? [];
  const own = [...called].filter((operation) => known.includes(operation as never) || !READS_OF_RUNS.has(operation));
  expect(own.toSorted(), printed).toEqual(known.toSorted());
}

describe('commands and operations', () => {
  test('[CLI-400] every command says which operations it calls, and every operation has a command', () => {
    const scripted = [...Object.keys(SCRIPTS), 'events', 'serve', 'stop', 'worker'];
    const names = COMMANDS.map(({ name }) => name).toSorted();
    expect(names).toEqual(Object.keys(COMMAND_OPERATIONS).toSorted());
    expect(names).toEqual(scripted.toSorted());
    const spoken = new Set<string>([...Object.values(COMMAND_OPERATIONS).flat(), ...OF_OTHERS]);
    expect([...spoken].toSorted()).toEqual(Object.keys(ROUTES).toSorted());
    for (const operation of READS_OF_RUNS) expect(ROUTES[operation as keyof typeof ROUTES]).toMatch(/^GET /);
  });

  test.each(Object.keys(SCRIPTS))('[CLI-400] %s calls these operations, and no others', async (command) => {
    const steps = (await SCRIPTS[command]?.()) ?? [];
    called = new Set();
    let printed = '';
    for (const step of steps) printed += await run(step);
    expectOperations(command, printed);
  });

  test('[CLI-400] events calls these operations, and no others', async () => {
    called = new Set();
    await during(served.cwd, ['events'], () => expect.poll(() => [...called]).toContain('followAll'));
    expectOperations('events');
  });

  test('[CLI-400] serve calls these operations, and no others', async () => {
    called = new Set();
    const cwd = projectFolder({ 'workflows/quick.yaml': FILES['quick.yaml'] });
    const argv = ['serve', '--preset', 'selfhost', '--port', '0'];
    await during(cwd, argv, () => expect.poll(() => [...called], { timeout: 10_000 }).toContain('listUsers'));
    expectOperations('serve');
  });

  test('[CLI-400] worker calls these operations, and no others', async () => {
    const cwd = projectFolder(WORKER_FILES);
    await served.session.api.call('putSecret', { params: { name: 'key' }, body: { value: 'a long secret' } });
    called = new Set();
    await during(cwd, ['worker'], async () => {
      await expect.poll(() => [...called], { timeout: 10_000 }).toContain('registerWorker');
      const definition = { id: 'far', nodes: FAR_NODES };
      await served.session.api.call('registerWorkflow', { body: { definition } });
      await start('far');
      const wanted = ['extendLease', 'logLease', 'failLease', 'revealCredential'];
      await expect.poll(() => [...called], { timeout: 10_000 }).toEqual(expect.arrayContaining(wanted));
      (await import(pathToFileURL(path.join(cwd, 'gate.mjs')).href)).open();
      await expect.poll(() => [...called], { timeout: 10_000 }).toContain('completeLease');
    });
    expectOperations('worker');
  });
});

const FAR_NODES = {
  slow: { action: 'slow@1', credentials: { key: 'key' } },
  bad: { action: 'bad@1' },
};

const WORKER_FILES = {
  'gate.mjs': 'export let open;\nexport const opened = new Promise((done) => { open = done; });\n',
  'nebula.config.mjs': `
import { opened } from './gate.mjs';
const slow = { id: 'slow', version: '1', effect: 'pure', credentials: ['key'], async run(ctx) {
  await ctx.credential('key');
  ctx.log.info('a line');
  ctx.progress(0.5);
  await opened;
  return null;
} };
const bad = { id: 'bad', version: '1', effect: 'pure', run() { throw new Error('no'); } };
export default { actions: [slow, bad] };
`,
};
