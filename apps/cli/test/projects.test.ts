import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { projectFolder } from './support/nebula-process.ts';
import { Served, say } from './support/served.ts';

const greeting = (word: string): string => `
id: greeting
triggers:
  - schedule: { cron: "0 2 * * *", timezone: Europe/Berlin }
nodes: { say: { action: core.set@1, with: { value: ${word} } } }
`;

let served: Served;

beforeAll(async () => {
  served = await Served.open({ 'one.yaml': greeting('hello') });
});

afterAll(async () => {
  expect(served.troubles).toEqual([]);
  await served.close();
});

describe('a project of a server', () => {
  test('[CLI-272] has its own workflows, schedules and runs', async () => {
    const { cwd } = served;
    const nebula = (...argv: string[]) => say(cwd, argv, { env: { NEBULA_SERVER: served.url } });
    await served.session.api.call('putProject', { params: { projectId: 'team' }, body: { name: 'Team' } });
    writeFileSync(path.join(cwd, 'team.yaml'), greeting('hey').replaceAll('greeting', 'team-greeting'));
    writeFileSync(path.join(cwd, 'wait.yaml'), 'id: team-wait\nnodes: { go: { wait: { signal: go } } }\n');
    const ids = async (...argv: string[]) => (await nebula(...argv, '--json')).out.match(/"workflowId": "[^"]*"/g);
    await nebula('workflows', 'register', 'team.yaml', '--project', 'team');
    expect(await ids('workflows', 'list', '--project', 'team')).toEqual(['"workflowId": "team-greeting"']);
    expect((await nebula('workflows', 'list')).out).toMatch(/PROJECT +NAME\nteam-greeting .* team\b/);
    expect(await ids('schedules', 'list', '--project', 'team')).toEqual(['"workflowId": "team-greeting"']);
    expect((await nebula('run', 'wait.yaml', '--quiet', '--project', 'team')).code).toBe(4);
    expect(await ids('executions', 'list', '--project', 'team')).toEqual(['"workflowId": "team-wait"']);
    expect((await nebula('executions', 'list', '--project', 'default')).out).not.toContain('team-wait');
    expect((await nebula('executions', 'show', '--project', 'team')).out).toContain('team-wait');
    expect(JSON.parse((await nebula('signal', 'go', '--json')).out)).toMatchObject({ executionId: null });
    expect((await nebula('executions', 'pause', '--project', 'team', '--yes')).code).toBe(0);
    expect((await nebula('executions', 'resume', '--project', 'team', '--yes', '--no-run')).code).toBe(0);
    const sent = JSON.parse((await nebula('signal', 'go', '--project', 'team', '--json')).out);
    expect(sent).toMatchObject({ executionId: expect.stringMatching(/^exe_/) });
    expect((await nebula('resume', '--project', 'team', '--quiet')).code).toBe(0);
    expect((await nebula('executions', 'list', '--project', 'team')).out).toContain('completed');
  });

  test('[CLI-272] is none of a data folder', async () => {
    const cwd = projectFolder({ 'one.yaml': greeting('hello') });
    const { code, err } = await say(cwd, ['run', 'one.yaml', '--project', 'team']);
    expect([code, err]).toEqual([2, expect.stringContaining('error NEEDS_SERVER: --project needs a server')]);
    await say(cwd, ['run', 'one.yaml', '--quiet']);
    expect((await say(cwd, ['executions', 'list', '--project', 'default'])).out).toContain('greeting');
    expect((await say(cwd, ['executions', 'list', '--project', 'team'])).out).toBe('no run matches\n');
  });
});
