/** A walk through the command, for `npm test -- --quick`: on a real data folder in this process, and once as a process. */
import { expect, test } from 'vitest';
import { nebula, projectFolder } from './support/nebula-process.ts';
import { say } from './support/served.ts';

const FLOW = `id: flow
nodes:
  a: { action: core.set@1, with: { value: "{{ $input.n }}" } }
  w: { needs: [a], wait: { signal: go } }
output: "{{ [$a, $w.payload] }}"
`;

test('[CLI-31, CLI-42] a run parks, is listed, continues with its signal and ends', async () => {
  const cwd = projectFolder({ 'flow.yaml': FLOW, 'bad.yaml': 'id: bad\nnodes: { a: { action: core.nop@1 } }\n' });
  expect(await say(cwd, ['validate', 'bad.yaml'])).toMatchObject({
    code: 2,
    out: expect.stringContaining('core.noop'),
  });
  const parked = await say(cwd, ['run', 'flow.yaml', '--input', '{ "n": 7 }', '--json']);
  expect(parked.code).toBe(4);
  const { executionId } = JSON.parse(parked.out);
  expect((await say(cwd, ['executions', 'list'])).out).toContain(executionId);
  await say(cwd, ['executions', 'signal', executionId, 'go', '--payload', '8']);
  const ended = await say(cwd, ['resume', executionId, '--json']);
  expect(JSON.parse(ended.out)).toMatchObject({ status: 'completed', output: [7, 8] });
  expect((await say(cwd, ['executions', 'explain', executionId])).code).toBe(0);
});

test('a run as a process, from the sources', async () => {
  const cwd = projectFolder({ 'one.yaml': 'id: one\nnodes: { a: { action: core.set@1, with: { value: 1 } } }\n' });
  const { code, stdout, stderr } = await nebula(['run', 'one.yaml', '--json'], { cwd, env: { NODE_OPTIONS: '' } });
  expect([code, stderr]).toEqual([0, '']);
  expect(JSON.parse(stdout)).toMatchObject({ status: 'completed', output: { a: 1 } });
});
