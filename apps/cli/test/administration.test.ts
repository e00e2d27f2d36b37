import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { projectFolder } from './support/nebula-process.ts';
import { Served, say } from './support/served.ts';

const greeting = (word: string): string => `
id: greeting
description: Says it.
triggers:
  - webhook: { path: /greeting }
  - schedule: { cron: "0 2 * * *", timezone: Europe/Berlin }
nodes: { say: { action: core.set@1, with: { value: ${word} } } }
output: "{{ $nodes.say.output }}"
`;
const PASSWORD = 'a long enough password';

let served: Served;

beforeAll(async () => {
  served = await Served.open({ 'one.yaml': greeting('hello'), 'two.yaml': greeting('hi') });
});

afterAll(async () => {
  expect(served.troubles).toEqual([]);
  await served.close();
});

/** With a server, and on a folder that nobody has. */
const locations = [
  ['at a server', () => ({ cwd: served.cwd, env: { NEBULA_SERVER: served.url } })],
  [
    'on a data folder',
    () => ({ cwd: projectFolder({ 'one.yaml': greeting('hello'), 'two.yaml': greeting('hi') }), env: {} }),
  ],
] as const;

describe.each(locations)('workflows %s', (name, location) => {
  test('[CLI-602, CLI-257] are registered, listed, shown, activated and compared', async () => {
    const { cwd, env } = location();
    const nebula = (...argv: string[]) => say(cwd, argv, { env });
    const first = await nebula('workflows', 'register', 'one.yaml');
    expect([first.code, first.out, first.err]).toEqual([0, '✓ greeting v1 is new, active\n', '']);
    expect((await nebula('workflows', 'register', 'two.yaml', '--no-activate')).out).toBe(
      '✓ greeting v2 is new, not active\n',
    );
    const list = JSON.parse((await nebula('workflows', 'list', '--json')).out);
    expect(list).toMatchObject({
      items: [{ workflowId: 'greeting', activeVersion: 1, newestVersion: 2, versions: 2 }],
    });
    expect((await nebula('workflows', 'list')).out).toMatch(/WORKFLOW.*\ngreeting +v1 +v2 +2 +(?:just now|\d+s ago)/);
    const shown = (await nebula('workflows', 'show', 'greeting')).out;
    expect(shown).toContain('greeting  v1 is active  default\nSays it.\n');
    expect(shown).toMatch(/started by {2}POST \/hooks\/greeting\nstarted by {2}0 2 \* \* \* Europe\/Berlin, next /);
    expect(shown).toContain('│ core.set@1 │');
    expect((await nebula('workflows', 'activate', 'greeting')).out).toBe('✓ greeting v2 is active\n');
    expect((await nebula('workflows', 'activate', 'greeting', 'v1')).out).toBe('✓ greeting v1 is active\n');
    expect((await nebula('workflows', 'diff', 'greeting', '1')).out).toBe(
      '- nodes.say.with.value: "hello"\n+ nodes.say.with.value: "hi"\n',
    );
    expect((await nebula('workflows', 'diff', 'greeting', '1', '1')).out).toBe('v1 and v1 are equal\n');
    expect((await nebula('workflows', 'register', 'one.yaml')).out).toBe('✓ greeting v1 is unchanged, active\n');
    expect((await nebula('workflows', 'deactivate', 'greeting')).out).toContain('the triggers of greeting are off');
    const slip = await nebula('workflows', 'show', 'greting');
    expect([slip.code, slip.err]).toEqual([
      2,
      expect.stringMatching(/^error UNKNOWN_WORKFLOW: .*\nhint: did you mean greeting\?/),
    ]);
    const none = await nebula('workflows', 'activate', 'greeting', '7');
    expect([none.code, none.err]).toEqual([
      2,
      expect.stringContaining('error UNKNOWN_WORKFLOW: There is no version 7'),
    ]);
    expect((await nebula('workflows', 'activate', 'greeting', 'newest')).code).toBe(2);
    writeFileSync(path.join(cwd, 'bad.yaml'), 'id: bad\nnodes: { a: { action: nope@1 } }\n');
    const bad = await nebula('workflows', 'register', 'one.yaml', 'bad.yaml');
    expect([bad.code, bad.out, bad.err]).toEqual([2, '', expect.stringContaining('bad.yaml:2:')]);
    expect(name).toBeTruthy();
  });

  test('[CLI-258] are started by their id: the active version, a named version, or once', async () => {
    const { cwd, env } = location();
    const nebula = (...argv: string[]) => say(cwd, argv, { env });
    await nebula('workflows', 'register', 'two.yaml', 'one.yaml');
    const active = await nebula('start', 'greeting');
    expect([active.code, active.err]).toEqual([0, '']);
    expect(active.out).toMatch(/run started {2}greeting v\d/);
    expect(active.out).toContain('"hello"');
    const { activeVersion } = JSON.parse((await nebula('workflows', 'show', 'greeting', '--json')).out);
    const other = String(3 - activeVersion);
    expect(JSON.parse((await nebula('start', 'greeting', '--workflow-version', other, '--json')).out)).toMatchObject({
      output: 'hi',
    });
    const first = JSON.parse((await nebula('start', 'greeting', '--idempotency-key', 'k', '--json')).out);
    const second = await nebula('start', 'greeting', '--idempotency-key', 'k', '--json');
    expect([JSON.parse(second.out).executionId, second.err]).toEqual([
      first.executionId,
      expect.stringContaining('already completed'),
    ]);
    const left = await nebula('start', 'greeting', '--no-wait');
    expect(left).toMatchObject({ code: 0, out: expect.stringMatching(/^exe_[0-9a-z]+\n$/) });
    expect((await nebula('resume', left.out.trim())).code).toBe(0);
    const slip = await nebula('start', 'greting');
    expect([slip.code, slip.err]).toEqual([2, expect.stringContaining('did you mean greeting?')]);
  });
});

describe.each(locations)('records of a server, %s', (_name, location) => {
  test('[CLI-320] the ceiling of a project is raised, lowered and reset', async () => {
    const { cwd, env } = location();
    const nebula = (...argv: string[]) => say(cwd, argv, { env });
    const set = async (...argv: string[]) =>
      JSON.parse((await nebula('projects', 'set', 'caged', ...argv, '--json')).out);
    expect(await set()).toMatchObject({ ceiling: 'all' });
    for (const option of ['--allow', '--deny']) {
      const refused = await nebula('projects', 'set', 'caged', option, 'shell=git');
      expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("the ceiling in force is 'all'")]);
    }
    expect((await nebula('projects', 'set', 'caged', '--only', 'shell=sh')).out).toContain('grants at most shell sh\n');
    const allowed = await set(
      '--only',
      'network=api.example.com',
      '--only',
      'shell=git,node',
      '--only',
      'files.read=data/**',
    );
    expect(allowed.ceiling).toEqual({
      network: ['api.example.com'],
      files: { read: ['data/**'], write: [] },
      shell: ['git', 'node'],
    });
    expect((await set('--deny', 'shell=node', '--allow', 'env=HOME')).ceiling).toMatchObject({
      shell: ['git'],
      env: ['HOME'],
    });
    expect((await nebula('projects', 'list')).out).toContain(
      'network api.example.com · files.read data/** · shell git · env HOME',
    );
    expect((await set('--only', 'nothing')).ceiling).toEqual({});
    expect((await nebula('projects', 'set', 'caged', '--only', 'shell=sh', '--allow', 'env=HOME')).code).toBe(2);
    const slip = await nebula('projects', 'set', 'caged', '--allow', 'disk=all');
    expect([slip.code, slip.err]).toEqual([2, expect.stringContaining("'disk=all' is not a capability")]);
    expect(await set('--reset-ceiling')).toMatchObject({ ceiling: 'all' });
    await nebula('projects', 'remove', 'caged');
  });

  test('[CLI-321] secrets are kept, listed and deleted by project', async () => {
    const { cwd, env } = location();
    const nebula = (argv: string[], stdin = '') => say(cwd, ['secrets', ...argv], { env, stdin });
    await say(cwd, ['projects', 'set', 'vault'], { env });
    await nebula(['set', 'press', '--project', 'vault'], 'a value of the vault');
    const names = async (...argv: string[]) =>
      JSON.parse((await nebula(['list', '--json', ...argv])).out).items.map(({ name }: { name: string }) => name);
    expect(await names('--project', 'vault')).toEqual(['press']);
    // The handlers of the contract have done it, in this process.
    expect((await say(cwd, ['audit', '--json'], { env })).out).toContain('putSecret');
    expect((await nebula(['set', 'press', '--project', 'nowhere'], 'a value')).err).toContain('UNKNOWN_PROJECT');
    expect(await names()).not.toContain('press');
    expect((await nebula(['delete', 'press'])).code).toBe(2);
    expect((await nebula(['set', 'vault/press'], 'another value')).code).toBe(2);
    expect((await nebula(['delete', 'press', '--project', 'vault'])).code).toBe(0);
    await say(cwd, ['projects', 'remove', 'vault'], { env });
  });

  test('[CLI-300] projects are made, renamed, listed and removed', async () => {
    const { cwd, env } = location();
    const nebula = (...argv: string[]) => say(cwd, argv, { env });
    const made = await nebula('projects', 'set', 'team');
    expect([made.code, made.out, made.err]).toEqual([
      0,
      '✓ saved the project team; it grants at most everything that its workflows ask for\n',
      '',
    ]);
    expect((await nebula('projects', 'set', 'team', '--name', 'Our team')).out).toBe(
      '✓ saved the project team (Our team); it grants at most everything that its workflows ask for\n',
    );
    expect((await nebula('projects', 'list')).out).toMatch(
      /^PROJECT +SINCE +NAME +GRANTS AT MOST\n(.*\n)*team +(?:just now|\d+s ago) +Our team +everything that its workflows ask for\n/,
    );
    const { items: projects } = JSON.parse((await nebula('projects', 'list', '--json')).out);
    expect(projects).toContainEqual({
      projectId: 'team',
      name: 'Our team',
      ceiling: 'all',
      createdAt: expect.any(String),
    });
    const own = greeting('hey').replaceAll('greeting', 'team-greeting');
    writeFileSync(path.join(cwd, 'team.yaml'), own);
    await nebula('workflows', 'register', 'team.yaml', '--project', 'team');
    const full = await nebula('projects', 'remove', 'team');
    expect([full.code, full.err]).toEqual([2, expect.stringContaining('error PROJECT_NOT_EMPTY')]);
    await nebula('projects', 'set', 'empty');
    expect(JSON.parse((await nebula('projects', 'remove', 'empty', '--json')).out)).toEqual({
      projectId: 'empty',
      deleted: true,
    });
    const gone = await nebula('projects', 'remove', 'empty');
    expect([gone.code, gone.err]).toEqual([2, expect.stringContaining('error UNKNOWN_PROJECT')]);
  });

  test('[CLI-301] launch plans are made, shown, listed and removed', async () => {
    const { cwd, env } = location();
    const nebula = (...argv: string[]) => say(cwd, argv, { env });
    await nebula('workflows', 'register', 'one.yaml');
    expect((await nebula('plans', 'list')).out).not.toContain('morning');
    const inputs = ['--default', '{"region": "eu"}', '--fixed', '{"day": 1}'];
    const made = await nebula('plans', 'set', 'morning', '--workflow', 'greeting', ...inputs);
    expect([made.code, made.out, made.err]).toEqual([0, '✓ the plan morning starts greeting\n', '']);
    const limited = await nebula('plans', 'set', 'morning', '--limit', '2', '--policy', 'wait', '--json');
    expect(JSON.parse(limited.out)).toMatchObject({
      workflowId: 'greeting',
      version: 'active',
      inputs: { region: 'eu' },
      fixed: { day: 1 },
      concurrency: { limit: 2, policy: 'wait' },
    });
    expect((await nebula('plans', 'list')).out).toMatch(
      /PLAN +STARTS +AT ONCE +CHANGED +WITH\n(.*\n)*morning +greeting +2, else wait +(?:just now|\d+s ago) +region, day \(fixed\)\n/,
    );
    const listed = JSON.parse((await nebula('plans', 'list', '--json', '--project', 'default')).out);
    expect(listed.items).toContainEqual(JSON.parse((await nebula('plans', 'show', 'morning', '--json')).out));
    const text = ['--workflow-version', '1', '--description', 'Every morning.', '--policy', 'skip'];
    expect((await nebula('plans', 'set', 'morning', ...text)).out).toBe('✓ the plan morning starts greeting v1\n');
    const shown = (await nebula('plans', 'show', 'morning')).out;
    expect(shown).toMatch(/^morning {2}active {2}default\nEvery morning\.\n\nstarts {3}greeting v1\n/);
    expect(shown).toContain('at once  2, else skip\n');
    expect(shown).toContain('default inputs\n{ "region": "eu" }\n\nfixed inputs\n{ "day": 1 }\n');
    expect((await nebula('plans', 'set', 'morning', '--limit', 'none')).code).toBe(0);
    expect((await nebula('plans', 'show', 'morning')).out).toContain('at once  any number');
    expect((await nebula('plans', 'remove', 'morning')).out).toBe('✓ removed the launch plan morning\n');
    for (const word of ['show', 'remove']) {
      const gone = await nebula('plans', word, 'morning');
      expect([gone.code, gone.err]).toEqual([2, expect.stringContaining('error UNKNOWN_PLAN')]);
    }
  });

  test('[CLI-302] an invalid launch plan is reported, and not created', async () => {
    const { cwd, env } = location();
    const nebula = (...argv: string[]) => say(cwd, argv, { env });
    await nebula('workflows', 'register', 'one.yaml');
    const wrong: readonly (readonly [string, ...string[]])[] = [
      ['USAGE: the launch plan does not exist yet'],
      ['UNKNOWN_WORKFLOW', '--workflow', 'greting'],
      ['UNKNOWN_WORKFLOW', '--workflow', 'greeting', '--workflow-version', '99'],
      ['USAGE: 0 is not a version', '--workflow', 'greeting', '--workflow-version', '0'],
      ['INPUT_INVALID: --default is not JSON', '--workflow', 'greeting', '--default', '{'],
      ['INPUT_INVALID: --fixed is not an object', '--workflow', 'greeting', '--fixed', '[1]'],
      ['BODY_INVALID', '--workflow', 'greeting', '--default', '{"a": 1}', '--fixed', '{"a": 2}'],
      ['--policy is missing', '--workflow', 'greeting', '--limit', '1'],
      ['--limit is missing', '--workflow', 'greeting', '--policy', 'wait'],
      ['--limit is missing', '--workflow', 'greeting', '--limit', 'none', '--policy', 'wait'],
      ['--limit 0: not a whole number', '--workflow', 'greeting', '--limit', '0', '--policy', 'wait'],
      ['--policy', '--workflow', 'greeting', '--limit', '1', '--policy', 'hope'],
    ];
    for (const [message, ...argv] of wrong) {
      const { code, out, err } = await nebula('plans', 'set', 'never', ...argv);
      expect([code, out, err], argv.join(' ')).toEqual([2, '', expect.stringContaining(message)]);
    }
    expect((await nebula('plans', 'set', 'never', '--workflow', 'greting')).err).toContain('did you mean greeting?');
    expect((await nebula('plans', 'list')).out).not.toContain('never');
  });

  test('[CLI-303] the audit log shows who changed what, newest first', async () => {
    const { cwd, env } = location();
    const nebula = (...argv: string[]) => say(cwd, argv, { env });
    await nebula('workflows', 'register', 'one.yaml');
    await nebula('projects', 'set', 'older');
    await nebula('plans', 'set', 'newer', '--workflow', 'greeting');
    const latest = await nebula('audit', '--limit', '2');
    expect([latest.code, latest.err]).toEqual([0, '']);
    expect(latest.out).toMatch(
      /^WHEN +WHO +WHAT +OUTCOME +TARGET\n(?:just now|\d+s ago) +owner +putLaunchPlan +done +newer\n(?:just now|\d+s ago) +owner +putProject +done +older\n$/,
    );
    const { items: entries } = JSON.parse((await nebula('audit', '--limit', '1', '--json')).out);
    expect(entries).toEqual([expect.objectContaining({ who: 'owner', operation: 'putLaunchPlan', target: 'newer' })]);
    expect((await nebula('audit', '--who', 'zoe')).out).toBe('zoe has made no changes\n');
    expect(await nebula('audit', '--limit', 'all')).toMatchObject({
      code: 2,
      err: expect.stringContaining('error USAGE: --limit all'),
    });
  });
});

describe('commands that need a server', () => {
  test('[CLI-258] launch plans are started by name, with their fixed inputs', async () => {
    await served.nebula(['workflows', 'register', 'one.yaml']);
    await served.nebula(['plans', 'set', 'daily', '--workflow', 'greeting']);
    const { code, out } = await served.nebula(['start', 'daily', '--plan']);
    expect([code, out]).toEqual([0, expect.stringContaining('"hello"')]);
    const cwd = projectFolder({ 'one.yaml': greeting('hello') });
    await say(cwd, ['workflows', 'register', 'one.yaml']);
    await say(cwd, ['plans', 'set', 'daily', '--workflow', 'greeting']);
    const here = await say(cwd, ['start', 'daily', '--plan']);
    expect([here.code, here.out]).toEqual([0, expect.stringContaining('"hello"')]);
  });

  test('[CLI-260] schedules are listed, and fired before their time', async () => {
    await served.nebula(['workflows', 'register', 'one.yaml']);
    const list = await served.nebula(['schedules', 'list']);
    expect(list.out).toMatch(/greeting--1 +greeting +0 2 \* \* \* Europe\/Berlin +– +\d{2,4}/);
    const fired = await served.nebula(['schedules', 'fire', 'greeting--1']);
    const executionId = /exe_[0-9a-z]+/.exec(fired.out)?.[0] as string;
    expect([fired.code, fired.out]).toEqual([0, `✓ greeting is started: ${executionId}\n`]);
    expect((await served.nebula(['resume', executionId])).code).toBe(0);
    expect(await served.nebula(['schedules', 'fire', 'nope'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('UNKNOWN_SCHEDULE'),
    });
    const cwd = projectFolder({ 'one.yaml': greeting('hello') });
    await say(cwd, ['workflows', 'register', 'one.yaml']);
    expect((await say(cwd, ['schedules', 'list'])).out).toContain('greeting--1');
    const alone = await say(cwd, ['schedules', 'fire', 'greeting--1']);
    expect([alone.code, alone.err]).toEqual([2, expect.stringContaining('error NEEDS_SERVER')]);
  });

  test('[CLI-35] looking at a folder without data makes none', async () => {
    const cwd = projectFolder({});
    for (const argv of [
      ['workflows', 'list'],
      ['users', 'list'],
      ['schedules', 'list'],
      ['projects', 'list'],
      ['plans', 'list'],
      ['audit'],
      ['start', 'x'],
    ]) {
      expect(await say(cwd, argv), argv.join(' ')).toMatchObject({
        code: 2,
        err: expect.stringContaining('DATA_DIR_MISSING'),
      });
    }
    expect(existsSync(path.join(cwd, '.nebula'))).toBe(false);
  });
});

describe('people', () => {
  test('[CLI-273, CLI-274] secrets of a server with users, and keys for a few operations', async () => {
    const selfhost = await Served.open({ 'one.yaml': greeting('hello') }, { preset: 'selfhost' });
    const { cwd, url } = selfhost;
    const here = (argv: readonly string[], stdin = '') => say(cwd, argv, { stdin });
    const there = ['--server', url, '--as', 'ann', '--password-stdin'];
    try {
      await here(['users', 'add', 'ann', '--admin', '--password-stdin'], PASSWORD);
      const set = await here(['secrets', 'set', 'stripe', ...there], `${PASSWORD}\nfirst line\nsecond\n`);
      expect([set.code, set.err]).toEqual([0, '']);
      const rotated = await here(['secrets', 'rotate', 'stripe', ...there], `${PASSWORD}\nanother value`);
      expect([rotated.code, rotated.err]).toEqual([0, '']);
      expect((await here(['secrets', 'list', ...there], PASSWORD)).out).toContain('stripe');
      expect((await here(['secrets', 'rotate', '--key', ...there], PASSWORD)).err).toContain('SECRETS_KEY_FOREIGN');
      expect((await here(['secrets', 'delete', 'strip', ...there], PASSWORD)).err).toContain("did you mean 'stripe'");
      expect((await here(['secrets', 'delete', 'stripe', ...there], PASSWORD)).code).toBe(0);
      expect((await here(['secrets', 'list', '--as', 'nobody'])).err).toContain('UNKNOWN_USER');
      const idle = await here(['keys', 'create', 'idle', '--as', 'ann']);
      expect([idle.code, idle.err]).toEqual([0, expect.stringContaining('the key has no role')]);
      const scoped = ['keys', 'create', 'hook', '--as', 'ann', '--role', 'operator', '--scope', 'startExecution'];
      const { token } = JSON.parse((await here([...scoped, '--json'])).out);
      expect((await here(['keys', 'list'])).out).toMatch(/hook .*default=operator: startExecution\n/);
      await here(['workflows', 'register', 'one.yaml']);
      const call = async (path: string, body?: string) =>
        (
          await fetch(`${url}/api/v1${path}`, {
            headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
            ...(body && { method: 'POST', body }),
          })
        ).status;
      expect(await call('/executions', '{"workflowId":"greeting"}')).toBe(201);
      expect(await call('/executions')).toBe(403);
    } finally {
      await selfhost.close();
    }
  });

  test('[CLI-304] the audit log and projects of a server with users need an administrator', async () => {
    const selfhost = await Served.open({ 'one.yaml': greeting('hello') }, { preset: 'selfhost' });
    const { cwd, url } = selfhost;
    const as = (user: string) => ['--server', url, '--as', user, '--password-stdin'];
    const signedIn = (user: string, argv: readonly string[], columns?: number) =>
      say(cwd, [...argv, ...as(user)], { stdin: PASSWORD, ...(columns !== undefined && { columns }) });
    try {
      await say(cwd, ['users', 'add', 'ann', '--admin', '--password-stdin'], { stdin: PASSWORD });
      await say(cwd, ['users', 'add', 'bob', '--role', 'viewer', '--password-stdin'], { stdin: PASSWORD });
      expect((await signedIn('ann', ['projects', 'set', 'team'])).code).toBe(0);
      for (const [argv, error] of [
        [['projects', 'set', 'bobs'], 'NOT_FOUND'],
        [['audit'], 'NOT_ALLOWED'],
      ] as const) {
        const { code, err } = await signedIn('bob', argv);
        expect([code, err], argv.join(' ')).toEqual([2, expect.stringContaining(`error ${error}`)]);
      }
      expect((await signedIn('bob', ['projects', 'list'])).out).not.toContain('team');
      const all = (await signedIn('ann', ['audit'])).out;
      expect(all).toMatch(/ bob +putProject +refused 404 +bobs\n/);
      expect(all).toMatch(/ ann +putProject +done +team\n/);
      const long = 'long-'.repeat(30);
      expect((await signedIn('ann', ['projects', 'set', long])).code).toBe(0);
      const screen = (await signedIn('ann', ['audit'], 80)).out.split('\n');
      expect(Math.max(...screen.map((line) => line.length))).toBeLessThanOrEqual(80);
      expect(screen.some((line) => line.includes('long-long-'))).toBe(true);
    } finally {
      await selfhost.close();
    }
  });

  test('[CLI-259, CLI-244] users and keys: on the folder, beside the server, and over HTTP', async () => {
    const selfhost = await Served.open({ 'one.yaml': greeting('hello') }, { preset: 'selfhost' });
    const { cwd, url } = selfhost;
    const stdin = `${PASSWORD}\n`;
    try {
      expect([selfhost.session.tokenFile, existsSync(path.join(cwd, '.nebula/token'))]).toEqual([undefined, false]);
      const added = await say(cwd, ['users', 'add', 'ann', '--admin', '--password-stdin'], { stdin });
      expect([added.code, added.out, added.err]).toEqual([0, '✓ added ann as an administrator\n', '']);
      expect(await say(cwd, ['users', 'add', 'ann', '--password-stdin'], { stdin })).toMatchObject({
        code: 2,
        err: expect.stringContaining('USER_EXISTS'),
      });
      const both = `${PASSWORD}\nanother long password\n`;
      const there = ['--server', url, '--as', 'ann', '--password-stdin'];
      const bob = await say(cwd, ['users', 'add', 'bob', '--role', 'viewer', ...there], { stdin: both });
      expect([bob.code, bob.err]).toEqual([0, '']);
      expect((await say(cwd, ['users', 'list', ...there], { stdin })).out).toMatch(
        /ann .*everything\nbob .*default=viewer\n$/,
      );
      expect((await say(cwd, ['users', 'list'])).out).toContain('bob');
      const wrong = await say(cwd, ['users', 'list', ...there], { stdin: 'not the password\n' });
      expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('error LOGIN_FAILED')]);
      const key = await say(cwd, ['keys', 'create', 'ci', '--role', 'editor', ...there, '--expires', '90d', '--json'], {
        stdin,
      });
      const { token, keyId } = JSON.parse(key.out);
      const env = { NEBULA_SERVER: url, NEBULA_TOKEN: token };
      expect((await say(cwd, ['run', 'one.yaml'], { env })).code).toBe(0);
      const mine = await say(cwd, ['keys', 'list']);
      expect([mine.out.includes(keyId), mine.out.includes(token)]).toEqual([true, false]);
      const local = await say(cwd, ['keys', 'create', 'look', '--as', 'bob', '--role', 'viewer']);
      expect(local.out).toMatch(/the key look of bob; it is shown only once:\nnbk_\w+\n$/);
      const look = { NEBULA_SERVER: url, NEBULA_TOKEN: local.out.trim().split('\n')[1] as string };
      expect((await say(cwd, ['executions', 'list'], { env: look })).code).toBe(0);
      const refused = await say(cwd, ['run', 'one.yaml'], { env: look });
      expect([refused.code, refused.err]).toEqual([
        2,
        expect.stringContaining('error NOT_ALLOWED: bob/look may not do this'),
      ]);
      expect((await say(cwd, ['keys', 'remove', keyId])).code).toBe(0);
      expect(await say(cwd, ['run', 'one.yaml'], { env })).toMatchObject({
        code: 2,
        err: expect.stringContaining('NOT_SIGNED_IN'),
      });
      expect(
        (await say(cwd, ['users', 'passwd', 'bob', '--password-stdin'], { stdin: 'yet another password' })).code,
      ).toBe(0);
      expect((await say(cwd, ['users', 'remove', 'bob'])).code).toBe(0);
      expect(await say(cwd, ['users', 'passwd', 'bob', '--password-stdin'], { stdin })).toMatchObject({
        code: 2,
        err: expect.stringContaining('UNKNOWN_USER'),
      });
      expect(await say(cwd, ['users', 'add', 'eve'])).toMatchObject({
        code: 2,
        err: expect.stringContaining('--password-stdin'),
      });
      expect(await say(cwd, ['keys', 'create', 'x'])).toMatchObject({ code: 2, err: expect.stringContaining('--as') });
      expect(await say(cwd, ['users', 'add', 'eve', '--role', 'default=king'])).toMatchObject({
        code: 2,
        err: expect.stringContaining('viewer, operator'),
      });
    } finally {
      await selfhost.close();
    }
  });
});

describe('doctor', () => {
  test('[CLI-261] [CLI-590] a folder with a server, one without, and a server alone', async () => {
    expect((await say(served.cwd, ['secrets', 'set', 'checked'], { stdin: 'some value' })).code).toBe(0);
    const well = await say(served.cwd, ['doctor', '--json']);
    expect(JSON.parse(well.out)).toMatchObject({ ok: true });
    expect(JSON.parse(well.out).checks.map(({ name }: { name: string }) => name)).toEqual([
      'node',
      'config',
      'folder',
      'disk',
      'database',
      'token',
      'secrets',
      'clock',
      'server',
      'access',
    ]);
    const configured = projectFolder({ 'nebula.config.yaml': 'concurrency: 2' });
    const named = await say(configured, ['doctor'], { columns: 200 });
    expect(named.out).toMatch(/✓ config +\S+nebula\.config\.yaml/);
    const fresh = await say(projectFolder({}), ['doctor']);
    expect([fresh.code, fresh.out]).toEqual([0, expect.stringMatching(/✓ database +it is created with the first run/)]);
    const there = await served.nebula(['doctor']);
    expect([there.code, there.out]).toEqual([0, expect.stringMatching(/✓ access +you are owner/)]);
  });

  test('[CLI-261] errors say what is wrong and what to do', async () => {
    const cwd = projectFolder({ 'one.yaml': greeting('hello') });
    await say(cwd, ['run', 'one.yaml']);
    writeFileSync(path.join(cwd, '.nebula/server.json'), '{"url":"http://127.0.0.1:1","pid":1}');
    writeFileSync(path.join(cwd, '.nebula/token'), 'short');
    writeFileSync(path.join(cwd, '.nebula/secrets.json'), '{}');
    writeFileSync(path.join(cwd, '.nebula/nebula.db'), 'no database at all, whatever it says');
    chmodSync(path.join(cwd, '.nebula'), 0o755);
    const { code, out } = await say(cwd, ['doctor'], { columns: 60 });
    expect(code).toBe(1);
    for (const name of ['folder', 'database', 'token', 'secrets', 'server'])
      expect(out).toMatch(new RegExp(`✗ ${name} `));
    expect(out.match(/→ /g)?.length).toBe(5);
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(90);
    const gone = await say(cwd, ['doctor', '--server', 'http://127.0.0.1:1', '--json']);
    expect(JSON.parse(gone.out).checks.at(-1)).toMatchObject({ name: 'server', ok: false, hint: expect.any(String) });
  });
});
