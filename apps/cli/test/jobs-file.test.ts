/** Jobs files of workflow-graph at the command line. */
import { describe, expect, test } from 'vitest';
import { projectFolder } from './support/nebula-process.ts';
import { say } from './support/served.ts';

const CI = `name: CI
on: push
env: { STAGE: test }
jobs:
  unit-tests: { run: echo units, retries: 1 }
  2nd-build: { needs: [unit-tests], run: 'echo "built for $STAGE"' }
`;

describe('a jobs file at the command line', () => {
  test('[CLI-340] run runs its commands here, as validate and graph read it', async () => {
    const cwd = projectFolder({ 'ci.yml': CI });
    expect(await say(cwd, ['validate', 'ci.yml'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('ci, 2 nodes'),
    });
    expect((await say(cwd, ['graph', 'ci.yml'])).out).toContain('2nd-build');
    const run = await say(cwd, ['run', 'ci.yml', '--json']);
    expect(run.code).toBe(0);
    const { executionId, status } = JSON.parse(run.out);
    expect(status).toBe('completed');
    expect((await say(cwd, ['executions', 'logs', executionId])).out).toContain('built for test');
  });

  test('[CLI-340] a command that fails is tried again as often as retries says, and fails the run', async () => {
    const cwd = projectFolder({ 'ci.yml': 'name: t\non: push\njobs: { a: { run: exit 3, retries: 1 } }\n' });
    const { code, out } = await say(cwd, ['run', 'ci.yml', '--json']);
    expect(code).not.toBe(0);
    expect(JSON.parse(out).nodes.a).toMatchObject({ status: 'failed', attempts: 2, error: { code: 'JOB_FAILED' } });
  });

  test('[CLI-341] jobs that ask for labels run here only if this process has them', async () => {
    const cwd = projectFolder({ 'ci.yml': 'name: t\non: push\njobs: { a: { run: echo a, labels: [linux, aws] } }\n' });
    const refused = await say(cwd, ['run', 'ci.yml', '--labels', 'linux']);
    expect(refused.err).toMatch(/^error LABELS_MISSING: .*aws/m);
    expect((await say(cwd, ['run', 'ci.yml', '--labels', 'linux,aws'])).code).toBe(0);
  });

  test('[CLI-342] problems of a jobs file have a line and a column', async () => {
    const cwd = projectFolder({ 'ci.yml': 'name: t\non: push\njobs:\n  a: { run: echo a, runs-on: linux }\n' });
    const { code, out } = await say(cwd, ['validate', 'ci.yml']);
    expect(code).not.toBe(0);
    expect(out).toMatch(/ci\.yml:4:21/);
    expect(out).toContain("unknown key 'runs-on'");
  });
});
