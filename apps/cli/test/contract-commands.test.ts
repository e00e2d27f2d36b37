import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { projectFolder } from './support/nebula-process.ts';
import { Served, say } from './support/served.ts';

const FILES = {
  'add.yaml': `
id: add
tags: [sums, daily]
input: { type: object, properties: { a: { type: number } } }
nodes: { sum: { action: core.set@1, with: { value: "{{ $input.a + 1 }}" } } }
output: "{{ $nodes.sum.output }}"
`,
  'other.yaml': `
id: other
nodes: { a: { action: core.noop@1 } }
`,
  'ask.yaml': `
id: ask
nodes: { ok: { wait: { approval: { title: Ship it? }, deadline: 2h } } }
`,
  'loop.yaml': `
id: loop
nodes:
  each:
    forEach: { in: [1, 2, 3], minSuccess: 0 }
    do:
      nodes:
        say: { action: core.log@1, with: { message: "Item {{ $item }}" } }
        odd: { needs: [say], when: $item == 2, action: core.fail@1, with: { code: ODD, message: two } }
`,
  'slow.yaml': `
id: slow
nodes: { calm: { action: core.set@1, with: { value: 7 }, cache: { ttl: 1h } } }
`,
};

let served: Served;

beforeAll(async () => {
  served = await Served.open(FILES);
});

afterAll(async () => {
  await served.close();
});

/** With a server, and on a folder that no engine has. */
const locations = [
  ['at a server', () => ({ cwd: served.cwd, env: { NEBULA_SERVER: served.url } })],
  ['on a data folder', () => ({ cwd: projectFolder(FILES), env: {} })],
] as const;

describe.each(locations)('operations %s', (_, location) => {
  test('[CLI-401, CLI-402, CLI-403] a run is relaunched, counted and found by tag', async () => {
    const { cwd, env } = location();
    const nebula = (...argv: string[]) => say(cwd, argv, { env });
    const json = async (...argv: string[]) => JSON.parse((await nebula(...argv, '--json')).out);
    const first = await json('run', 'add.yaml', '--set', 'a=1');
    expect(first).toMatchObject({ status: 'completed', output: 2 });
    const again = await nebula('executions', 'relaunch', first.executionId);
    expect([again.code, again.out]).toEqual([0, expect.stringContaining('✓ completed in')]);
    const other = await json('executions', 'relaunch', first.executionId, '--set', 'a=5', '--workflow-version', '1');
    expect(other).toMatchObject({ status: 'completed', output: 6 });
    expect(other.executionId).not.toBe(first.executionId);
    const left = await nebula('executions', 'relaunch', first.executionId, '--no-wait');
    expect([left.code, left.out]).toEqual([0, expect.stringMatching(/^exe_\w+\n$/)]);
    await nebula('resume', left.out.trim());
    expect(await nebula('executions', 'relaunch', 'exe_none')).toMatchObject({
      code: 2,
      err: expect.stringContaining('error UNKNOWN_EXECUTION: there is no run exe_none'),
    });
    expect(await json('executions', 'count', '--workflow', 'add')).toMatchObject({ counts: { completed: 4 } });
    expect((await nebula('executions', 'count', '--workflow', 'nope')).out).toBe('no run matches\n');
    await nebula('workflows', 'register', 'other.yaml');
    const ids = async (...more: string[]): Promise<string[]> =>
      (await json('workflows', 'list', ...more)).items.map((one: { workflowId: string }) => one.workflowId);
    expect(await ids()).toEqual(expect.arrayContaining(['add', 'other']));
    expect(await ids('--tag', 'daily')).toEqual(['add']);
    expect(await ids('--tag', 'nope')).toEqual([]);
    await nebula('executions', 'delete', '--workflow', 'add', '--yes');
    expect((await nebula('executions', 'count', '--workflow', 'add')).out).toBe('no run matches\n');
  });

  test('[CLI-404] schedules are made, changed, shown and removed', async () => {
    const { cwd, env } = location();
    const nebula = (...argv: string[]) => say(cwd, argv, { env });
    await nebula('workflows', 'register', 'add.yaml');
    const made = await nebula('schedules', 'set', 'nightly', '--workflow', 'add', '--cron', '0 2 * * *');
    expect([made.code, made.out]).toEqual([0, expect.stringMatching(/^✓ saved the schedule nightly; next /)]);
    await nebula('schedules', 'set', 'nightly', '--every', '15m', '--input', '{"a": 3}');
    await nebula('schedules', 'set', 'nightly', '--off');
    const shown = JSON.parse((await nebula('schedules', 'show', 'nightly', '--json')).out);
    expect(shown).toMatchObject({ workflowId: 'add', cron: null, every: '15m', input: { a: 3 }, active: false });
    expect(await nebula('schedules', 'set', 'nightly', '--on', '--off')).toMatchObject({ code: 2 });
    expect((await nebula('schedules', 'remove', 'nightly')).out).toBe('✓ removed the schedule nightly\n');
    expect(await nebula('schedules', 'show', 'nightly')).toMatchObject({
      code: 2,
      err: expect.stringContaining('UNKNOWN_SCHEDULE'),
    });
  });

  test('[CLI-604, CLI-510] notifications are made, changed, tested, listed and removed', async () => {
    const { cwd, env } = location();
    const nebula = (...argv: string[]) => say(cwd, argv, { env });
    expect((await nebula('notifications', 'set', 'ops')).err).toContain('a new notification needs --url');
    // Nothing listens on port 9.
    const made = await nebula('notifications', 'set', 'ops', '--url', 'http://localhost:9/x', '--event', 'failed');
    expect([made.code, made.out]).toEqual([0, '✓ saved the notification ops; about failed\n']);
    const saved = JSON.parse((await nebula('notifications', 'set', 'ops', '--gather', '5m', '--off', '--json')).out);
    expect(saved).toMatchObject({ url: 'http://localhost:9/x', on: ['failed'], gather: '5m', active: false });
    expect((await nebula('notifications', 'list')).out).toContain('off');
    const tested = await nebula('notifications', 'test', 'ops');
    expect([tested.code, tested.out]).toEqual([1, expect.stringContaining('could not be reached')]);
    expect((await nebula('notifications', 'remove', 'ops')).out).toBe('✓ the notification ops is gone\n');
    expect((await nebula('notifications', 'list')).out).toMatch(
      /no notifications are configured: a server tells nobody of .* notifications set NAME --url URL/,
    );
  });

  test('[CLI-720] what waits for a person is listed and counted', async () => {
    const { cwd, env } = location();
    const nebula = (...argv: string[]) => say(cwd, argv, { env });
    const { executionId } = JSON.parse((await nebula('run', 'ask.yaml', '--json')).out);
    const { out } = await nebula('human-tasks', 'list', '--kind', 'approval', '--workflow', 'ask', '--by-deadline');
    expect(out).toContain('EXECUTION');
    expect(out).toMatch(new RegExp(`${executionId} +ok +approval +Ship it\\?`));
    expect((await nebula('human-tasks', 'count', '--workflow', 'ask')).out).toMatch(/approval +1/);
    expect((await nebula('human-tasks', 'list', '--kind', 'unknown')).out).toBe('nothing waits for a person\n');
    expect(JSON.parse((await nebula('human-tasks', 'count', '--workflow', 'ask', '--json')).out)).toMatchObject({
      total: 1,
    });
    await nebula('executions', 'cancel', executionId);
    await nebula('resume', executionId);
    expect((await nebula('human-tasks', 'count', '--workflow', 'ask')).out).toBe('nothing waits for a person\n');
  });

  test('[CLI-721] runs are filtered by error and id, iterations by status, logs by text, and a replay is previewed', async () => {
    const { cwd, env } = location();
    const nebula = (...argv: string[]) => say(cwd, argv, { env });
    const { executionId } = JSON.parse((await nebula('run', 'loop.yaml', '--json')).out);
    const ids = async (...more: string[]): Promise<string[]> => {
      const { items } = JSON.parse((await nebula('executions', 'list', ...more, '--json')).out);
      return items.map((one: { executionId: string }) => one.executionId);
    };
    expect(await ids('--search', executionId.slice(0, -1), '--root')).toEqual([executionId]);
    expect(await ids('--error', 'NOPE')).toEqual([]);
    expect((await nebula('executions', 'list', '--error', 'NOPE')).out).toBe('no run matches\n');
    const failed = await nebula('executions', 'iterations', executionId, 'each', '--status', 'failed');
    expect(failed.out).toMatch(/1 +failed .*two/);
    expect((await nebula('executions', 'iterations', executionId, 'each', '--status', 'open')).out).toBe(
      'no iteration is open\n',
    );
    expect((await nebula('executions', 'logs', executionId, '--search', 'ITEM 2')).out).toMatch(/Item 2\n$/);
    const text = (await nebula('executions', 'logs', executionId, '--download')).out.trimEnd().split('\n');
    expect(text.map((line) => line.replace(/^\S+ /, ''))).toEqual([
      'INFO  each/0/say#1 Item 1',
      'INFO  each/1/say#1 Item 2',
      'INFO  each/2/say#1 Item 3',
    ]);
    const preview = await nebula('executions', 'replay', executionId, 'each', '--dry-run');
    expect([preview.code, preview.out]).toEqual([0, 'would run again: each\n']);
    expect(await nebula('executions', 'logs', executionId, '--follow', '--search', 'x')).toMatchObject({ code: 2 });
  });

  test('[CLI-722] statistics and triggers', async () => {
    const { cwd, env } = location();
    const nebula = (...argv: string[]) => say(cwd, argv, { env });
    await nebula('run', 'other.yaml');
    const { out } = await nebula('statistics', '--workflow', 'other', '--bucket', '6h');
    expect(out).toMatch(/SINCE \(UTC\) +STARTS +COMPLETED/);
    expect((await nebula('statistics', '--workflow', 'nope')).out).toBe('no runs in this time\n');
    expect((await nebula('statistics', '--bucket', '1s')).code).toBe(2);
    await nebula('workflows', 'register', 'add.yaml');
    await nebula('schedules', 'set', 'often', '--workflow', 'add', '--every', '15m');
    expect((await nebula('triggers', 'list', '--kind', 'schedule')).out).toMatch(/schedule +add +every 15m/);
    await nebula('schedules', 'remove', 'often');
    const fleet = await nebula('fleet');
    expect(fleet.out + fleet.err).toMatch('NEBULA_SERVER' in env ? /slots +0 of \d+ in use/ : /error NEEDS_SERVER/);
  });

  test('[CLI-405] cached outputs are listed and removed', async () => {
    const { cwd, env } = location();
    const nebula = (...argv: string[]) => say(cwd, argv, { env });
    const ran = await nebula('run', 'slow.yaml', '--json');
    expect(ran.code, ran.err).toBe(0);
    expect((await nebula('cache', 'list', '--action', 'core.set@1')).out).toContain('calm');
    expect((await nebula('cache', 'clear', '--action', 'core.set@1')).out).toBe('✓ 1 cached output removed\n');
    expect((await nebula('cache', 'list')).out).toBe('no outputs are cached\n');
  });

  test('[CLI-406] keys, values and workers', async () => {
    const { cwd, env } = location();
    const nebula = (...argv: string[]) => say(cwd, argv, { env });
    const { executionId } = JSON.parse((await nebula('run', 'other.yaml', '--json')).out);
    expect((await nebula('executions', 'permits', executionId, 'bank')).out).toBe(
      'no run holds the key bank or waits for it\n',
    );
    expect(await nebula('executions', 'value', executionId, 'short')).toMatchObject({ code: 2 });
    const missing = await nebula('executions', 'value', executionId, 'a'.repeat(64));
    expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('BLOB_MISSING')]);
    const workers = await nebula('workers', 'list');
    expect(workers.out + workers.err).toContain('NEBULA_SERVER' in env ? 'no workers' : 'error NEEDS_SERVER');
  });
});
