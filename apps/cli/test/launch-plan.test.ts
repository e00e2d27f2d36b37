/** Launch plans as nodes, at the command line. */
import { expect, test } from 'vitest';
import { projectFolder } from './support/nebula-process.ts';
import { say } from './support/served.ts';

test('[CLI-343] run starts a launch plan of the data folder for a node that names it', async () => {
  const cwd = projectFolder({
    'greet.yaml': 'id: greet\nnodes: { a: { action: core.noop@1 } }\noutput: "Hello {{ $input.name }}"\n',
    'main.yaml': 'id: main\nnodes: { sub: { workflow: { plan: nightly } } }\noutput: "{{ $sub }}"\n',
  });
  expect((await say(cwd, ['workflows', 'register', 'greet.yaml'])).code).toBe(0);
  const set = ['plans', 'set', 'nightly', '--workflow', 'greet', '--fixed', '{"name": "night"}'];
  expect((await say(cwd, set)).code).toBe(0);
  const run = await say(cwd, ['run', 'main.yaml', '--json']);
  expect(JSON.parse(run.out)).toMatchObject({ status: 'completed', output: 'Hello night' });
});
