import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { execute } from '../src/commands/test.ts';
import { composeServices } from '../src/compose/services.ts';
import { projectFolder } from './support/nebula-process.ts';
import { type MemoryIo, memoryIo, memoryOutput } from './support/screen-text.ts';

const FLOW = `
id: flow
nodes:
  a: { action: my.work@1, with: { n: 1 } }
  b: { needs: [a], wait: { approval: { title: Ok? } } }
  c: { action: my.work@1, with: { n: 2 } }
edges: [{ from: a, to: c, on: error }]
`;
const CONFIG = `
import { defineAction, defineConfig } from '@nebula/sdk';
export default defineConfig({
  actions: [
    defineAction({
      id: 'my.work',
      version: '1',
      output: { type: 'object', required: ['done'], properties: { done: { type: 'boolean' } } },
      run: () => ({ done: true }),
    }),
  ],
});
`;
const GOOD = `
workflow: flow.yaml
mocks: { my.work: { output: { done: true } } }
tests:
  - name: it is approved
    steps: [{ approve: b }]
    crashes: true
    expect: { path: [a, b] }
`;
const WRONG = `
workflow: flow.yaml
mocks: { my.work: { output: { done: true } } }
tests:
  - name: it goes elsewhere
    steps:
      - approve: b
    expect:
      path: [c, b]
      output: { b: { payload: { approved: false } } }
  - name: the mock is wrong
    mocks: { a: { output: { don: true } } }
`;

let dir = '';
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function nebulaTest(
  files: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  options: { json?: boolean; colours?: boolean } = {},
): Promise<{ code: number; io: MemoryIo; text: string }> {
  dir = projectFolder({ 'flow.yaml': FLOW, 'nebula.config.ts': CONFIG, ...files });
  const io = memoryIo({ cwd: dir, out: memoryOutput({ colours: options.colours ?? false }) });
  const context = { io, services: composeServices(io), program: 'nebula' };
  const code = await execute({ ...context, options: { json: options.json === true } }, args);
  return { code, io, text: io.out.text() };
}

describe('nebula test', () => {
  test('[TST-30] runs the tests beside the workflows, with the actions of the project, and prints coverage', async () => {
    const { code, text } = await nebulaTest({ 'flow.test.yaml': GOOD, 'node_modules/x/x.test.yaml': 'no: test' });
    expect(code).toBe(0);
    expect(text).toMatch(/^flow\.test\.yaml\n {2}✓ it is approved {2}survived \d+ kills\n\n1 passed\n\nCoverage\n/);
    expect(text).toContain('  flow  nodes 2/3  edges 1/2\n    never ran    c\n    never taken  a -> c (error)\n');
  });

  test('[TST-30] other workflows are found in the files beside the one that is tested', async () => {
    const { code, text } = await nebulaTest({
      'outer.yaml': 'id: outer\nnodes:\n  sub: { workflow: { id: inner } }\noutput: "{{ $nodes.sub.output }}"\n',
      'inner.yaml':
        'id: inner\nnodes:\n  a: { action: core.set@1, with: { value: 7 } }\noutput: "{{ $nodes.a.output }}"\n',
      'outer.test.yaml': 'workflow: outer.yaml\ntests:\n  - name: it gives seven\n    expect: { output: 7 }\n',
    });
    expect(text).toContain('✓ it gives seven');
    expect(code).toBe(0);
  });

  test('[TST-30] the tests of the examples pass', async () => {
    const root = path.resolve(import.meta.dirname, '../../..');
    const io = memoryIo({ cwd: root });
    const code = await execute({ io, services: composeServices(io), program: 'nebula', options: {} }, ['examples']);
    expect(io.out.text()).not.toContain('✗');
    expect(code).toBe(0);
  });

  test('[TST-31] a difference is shown with its position, the expected and the actual value', async () => {
    const { code, text } = await nebulaTest({ 'flow.test.yaml': WRONG });
    expect(code).toBe(1);
    expect(text).toBe(`flow.test.yaml
  ✗ it goes elsewhere  flow.test.yaml:10:7

      output.b.payload.approved
        expected  false
        received  true

      path
        - expected  + received
        - c
        + a
          b

      it went a → b

  ✗ the mock is wrong  flow.test.yaml:11:11

      MOCK_INVALID  the output of the mock of 'a' does not match my.work@1: done is missing
      hint: \`nebula actions my.work\` shows the output schema


0 passed, 2 failed

Coverage
  flow  nodes 2/3  edges 1/2
    never ran    c
    never taken  a -> c (error)
`);
  });

  test('[TST-32] a file that cannot be run is reported with line and column, the others are run, and the exit code is 2', async () => {
    const bad = 'workflow: flow.yaml\ntests:\n  - name: x\n    expct: {}\n';
    const { code, text } = await nebulaTest({
      'a.test.yaml': bad,
      'b.test.yaml': 'workflow: nope.yaml\ntests: [{ name: x }]',
      'flow.test.yaml': GOOD,
    });
    expect(code).toBe(2);
    expect(text).toContain("a.test.yaml:4:5  error UNKNOWN_KEY  unknown key 'expct' in a test");
    expect(text).toContain("hint: did you mean 'expect'?");
    expect(text).toContain('nope.yaml cannot be read');
    expect(text).toContain('1 passed, 2 files could not be run');
    await expect(nebulaTest({})).rejects.toMatchObject({ code: 'NO_TESTS' });
    await expect(nebulaTest({}, ['nowhere'])).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
    await expect(nebulaTest({}, ['flow.yaml'])).rejects.toMatchObject({ code: 'NOT_A_TEST' });
  });

  test('[TST-33] --json is one document; a terminal has colours', async () => {
    const { code, text } = await nebulaTest({ 'flow.test.yaml': WRONG }, ['flow.test.yaml'], { json: true });
    expect(code).toBe(1);
    expect(JSON.parse(text)).toMatchObject({
      passed: false,
      files: [
        {
          file: 'flow.test.yaml',
          tests: [
            {
              name: 'it goes elsewhere',
              passed: false,
              differences: [{ what: 'output.b.payload.approved' }, { what: 'path' }],
            },
            { name: 'the mock is wrong', error: { code: 'MOCK_INVALID' } },
          ],
        },
      ],
      coverage: [{ workflowId: 'flow', nodes: { total: 3, ran: 2, never: ['c'] } }],
    });
    const coloured = await nebulaTest({ 'flow.test.yaml': GOOD }, [], { colours: true });
    expect(coloured.text).toContain('\u001b[32m✓');
  });

  test('[TST-34] *.test.ts files run with the test runner of Node, and count for coverage', {
    timeout: 60_000,
  }, async () => {
    const code = `
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testWorkflow } from '@nebula/testing';
const flow = new URL('./flow.yaml', import.meta.url);
const mocks = { a: { done: true }, c: null };
test('approved', async () => {
  const run = await testWorkflow(flow, { mocks });
  await run.approve('b');
  assert.equal(run.status, 'completed');
});
test('rejected', async () => {
  const run = await testWorkflow(flow, { mocks });
  await run.reject('b');
  assert.equal(run.status, 'completed');
});
`;
    const found = await nebulaTest({
      'flow.test.ts': code,
      'other.test.ts': "import 'vitest';\nimport '@nebula/testing';",
    });
    expect(found.code).toBe(1);
    expect(found.text).toContain('✓ approved');
    expect(found.text).toContain('✗ rejected  flow.test.ts:12:1');
    expect(found.text).toMatch(/ERR_ASSERTION .*strictly equal/);
    expect(found.text).toContain('1 passed, 1 failed');
    expect(found.text).toContain('  flow  nodes 2/3  edges 1/2');
    writeFileSync(
      path.join(dir, 'flow.test.ts'),
      "import 'node:test';\nimport '@nebula/testing';\nthrow new Error('broken');",
    );
    const context = { io: found.io, services: composeServices(found.io), program: 'nebula' };
    expect(await execute({ ...context, options: {} }, [])).toBe(1);
    expect(found.io.out.text()).toMatch(/✗ \(the file\)[\s\S]*Error: broken/);
  });
});
