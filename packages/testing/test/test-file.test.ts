import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ActionContext } from '@nebula/core';
import type { Engine } from '@nebula/engine';
import { afterAll, describe, expect, it } from 'vitest';
import { Coverage, readTestFile, replay, runTestFile, type TestFile, TestRun, testWorkflow } from '../src/index.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'test-file-'));
afterAll(() => rmSync(dir, { recursive: true }));

writeFileSync(
  path.join(dir, 'flow.yaml'),
  `
id: flow
nodes:
  a: { action: x.y@1, with: { n: "{{ $input?.n ?? 'null' }}" }, retry: { attempts: 2, delay: 1h } }
  b: { needs: [a], wait: { approval: { title: Ok?, who: [ann, bob] }, deadline: 7d } }
  c: { action: x.z@1 }
  hook: { needs: [b], wait: { callback: true } }
  hear: { needs: [hook], wait: { signal: go, key: "{{ $input?.n ?? 'null' }}" } }
edges: [{ from: a, to: c, on: error }]
output: { a: "{{ $a }}", list: [1, { x: 1, y: 2 }] }
`,
);

const problems = (text: string) =>
  readTestFile(text).problems.map(({ code, range, hint }) => [code, `${range?.line}:${range?.column}`, hint]);

async function results(tests: string, coverage = new Coverage()) {
  const text = `workflow: flow.yaml\nmocks: { x.y: { output: { k: 1 } }, x.z: { output: 2 } }\ntests:\n${tests}`;
  const { file, problems } = readTestFile(text);
  if (file === undefined) throw new Error(JSON.stringify(problems));
  return runTestFile(file, { dir, coverage });
}

describe('credentials in test files', () => {
  const use = {
    id: 'key.use',
    version: '1',
    effect: 'pure' as const,
    run: async (ctx: ActionContext) => (await ctx.credential('api')).length,
  };

  it('[TST-35] are for all tests, or for one', async () => {
    writeFileSync(path.join(dir, 'key.yaml'), 'id: key\nnodes: { a: { action: key.use@1, credentials: { api: k } } }');
    const { file } = readTestFile(`
workflow: key.yaml
credentials: { k: four }
tests:
  - { name: all, expect: { output: { a: 4 } } }
  - { name: one, credentials: { k: twelve chars }, expect: { output: { a: 12 } } }
`);
    const found = await runTestFile(file as TestFile, { dir, coverage: new Coverage(), actions: [use] });
    expect(found.map(({ name, passed }) => [name, passed])).toEqual([
      ['all', true],
      ['one', true],
    ]);
  });

  it('[TST-35] are texts by name', () => {
    expect(problems('workflow: a.yaml\ncredentials: [a]\ntests: [{ name: x, credentials: { k: [1] } }]')).toMatchObject(
      [
        ['WRONG_TYPE', '2:14', undefined],
        ['WRONG_TYPE', '3:38', undefined],
      ],
    );
  });
});

describe('test files', () => {
  it('[TST-16] mistakes have their place and a suggestion', () => {
    expect(problems('workflow: a.yaml\ntest: []')).toEqual([['UNKNOWN_KEY', '2:1', "did you mean 'tests'?"]]);
    expect(problems('tests: [{ name: x }]')).toMatchObject([
      ['MISSING_KEY', '1:1', expect.stringContaining('workflow:')],
    ]);
    expect(problems('workflow: a.yaml')).toMatchObject([['MISSING_KEY', '1:1', expect.anything()]]);
    const one = (text: string) => problems(`workflow: a.yaml\ntests:\n  - name: x\n    ${text}`);
    expect(one('mocks: { a: { outptu: 1 } }')).toEqual([['UNKNOWN_KEY', '4:19', "did you mean 'output'?"]]);
    expect(one('mocks: { a: { output: 1, error: X } }')).toMatchObject([['MOCK_INVALID', '4:14', expect.anything()]]);
    expect(one('mocks: { a: { sequence: [] } }')).toMatchObject([['MOCK_INVALID', '4:29', expect.anything()]]);
    expect(one('mocks: { a: 3 }')).toMatchObject([['WRONG_TYPE', '4:17', expect.anything()]]);
    expect(one('steps: [{ aprove: b }]')).toEqual([['UNKNOWN_KEY', '4:15', "did you mean 'approve'?"]]);
    expect(one('steps: [{ advance: 3 weeks }]')).toEqual([['BAD_DURATION', '4:24', "did you mean '21d'?"]]);
    expect(one('steps: [{ advance: 1h, approve: b }]')).toMatchObject([['STEP_INVALID', '4:13', expect.anything()]]);
    expect(one('steps: [{ signal: { payload: 1 } }]')).toMatchObject([['MISSING_KEY', '4:15', 'add it, e.g. name: …']]);
    expect(one('steps: [{ cancel: { nod: a } }]')).toEqual([['UNKNOWN_KEY', '4:25', "did you mean 'node'?"]]);
    expect(one('steps: [{ cancel: { compensate: maybe } }]')).toMatchObject([['WRONG_TYPE', '4:37', undefined]]);
    expect(one('steps: [{ retry: true, in: { a: 1 } }]')).toMatchObject([['WRONG_TYPE', '4:32', undefined]]);
    expect(one('expect: { status: complete }')).toEqual([['UNKNOWN_CHOICE', '4:23', "did you mean 'completed'?"]]);
    expect(one('expect: { path: a }')).toEqual([['WRONG_TYPE', '4:21', 'write it as a list: [a]']]);
    expect(problems('workflow: [')).toMatchObject([['YAML_SYNTAX', '1:11', expect.stringContaining("add ']'")]]);
  });

  it('[TST-17] steps are done in order, and expectations hold in between', async () => {
    const [all] = await results(`
  - name: everything
    input: { n: "7" }
    mocks: { a: { sequence: [{ error: { code: BUSY, kind: SYSTEM } }, { after: 1h, output: { k: 2 } }] } }
    steps:
      - expect: { status: running, waiting: [b], ran: [a] }
      - crash
      - advance: 6d
      - approve: { node: b, by: bob, comment: fine, form: { x: 1 } }
      - pause: lunch
      - expect: { status: paused }
      - resume
      - callback: { node: hook, payload: { n: 1 } }
      - signal: { name: go, key: "7", payload: 3 }
    crashes: true
    expect:
      output: { a: { k: { gt: 1, lte: 2 } }, list: [{ type: integer }, { x: 1 }] }
      path: [a, b, hook, hear]
      skipped: [c]
      nodes: { a: { attempts: { in: [2, 3] } }, b: { output: { payload: { comment: fine } } }, c: skipped }
      calls: { a: 2, x.y: [{ n: "7" }, { n: { regex: /^\\d$/ } }] }
`);
    expect(all).toMatchObject({ passed: true, differences: [] });
    expect(all?.crashes).toBeGreaterThan(10);
  });

  /** All requests of an engine: the compiler reports missing ones. */
  const VERBS: Readonly<
    Record<Extract<keyof Engine, `request${string}` | 'publishSignal'>, readonly (keyof TestRun)[]>
  > = {
    requestSignal: ['signal'],
    publishSignal: ['publish'],
    requestAnswer: ['approve', 'reject'],
    // In a test it is the same call.
    requestCall: ['callback'],
    requestCallback: ['callback'],
    requestCancel: ['cancel'],
    requestPause: ['pause'],
    requestResume: ['resume'],
    requestSettle: ['settle'],
    requestRetry: ['retry'],
    requestReplay: ['replay'],
    requestMigration: ['migrate'],
    requestMigrationBack: ['migrateBack'],
  };

  it.each(Object.values(VERBS).flat())('[TST-20] %s is a method and a step', (verb) => {
    expect(TestRun.prototype).toHaveProperty(verb);
    const [found] = problems(`workflow: a.yaml\ntests: [{ name: x, steps: [{ ${verb}: [] }] }]`);
    expect(found?.[0]).not.toBe('UNKNOWN_KEY');
  });

  it('[TST-20] steps in children, of one node, and on runs that are over', async () => {
    writeFileSync(
      path.join(dir, 'child.yaml'),
      'id: child\nnodes: { ok: { wait: { approval: { title: Ok? } } }, hear: { wait: { signal: go } } }',
    );
    writeFileSync(
      path.join(dir, 'parent.yaml'),
      `
id: parent
nodes:
  slow: { action: x.slow@1 }
  next: { needs: [slow], action: x.y@1 }
  call: { workflow: { id: child, mode: child } }
`,
    );
    const { file, problems } = readTestFile(`
workflow: parent.yaml
workflows: [child.yaml]
mocks: { x.slow: { after: 1h, output: 1 }, x.y: { sequence: [{ error: NO }, { output: 2 }] } }
tests:
  - name: a node is cancelled
    until: slow
    crashes: true
    steps:
      - expect: { nodes: { slow: running } }
      - cancel: { node: slow, reason: too slow }
      - { expect: { waiting: [ok, hear] }, in: call }
      - { approve: ok, in: [call] }
      - publish: go
    expect: { nodes: { slow: cancelled, next: skipped, call: completed } }
  - name: again and again
    steps:
      - expect: { status: failed, calls: { next: 1 } }
      - { expect: { status: cancelled }, in: call }
      - retry
      - { cancel: { node: ok }, in: call }
      - publish: { name: go, payload: 1 }
      - expect: { status: completed, calls: { next: 2 } }
      - replay: slow
    expect: { calls: { slow: 2, next: 3 } }
  - name: no such child
    steps: [{ signal: go, in: slow }]
`);
    expect(problems).toEqual([]);
    const found = await runTestFile(file as TestFile, { dir, coverage: new Coverage() });
    expect(found.map(({ differences, failure }) => [differences, failure?.code])).toEqual([
      [[], undefined],
      [[], undefined],
      [[], 'UNKNOWN_EXECUTION'],
    ]);
  });

  it('[TST-18] every difference says what, where, expected and received', async () => {
    const found = await results(`
  - name: completes unless it says otherwise
  - name: output
    steps: [{ approve: b }, { callback: hook }, { signal: { name: go, key: "null" } }]
    input: { n: "null" }
    expect:
      output: { a: { k: 2 }, list: [1], none: { exists: true } }
      path: [a]
      ran: [c]
      calls: { a: 3 }
      nodes: { b: failed }
  - name: a rejection
    steps: [reject: b]
    expect: { error: REJECTED }
  - name: an error that is not there
    mocks: { a: { error: OTHER } }
    expect: { error: { code: NO } }
  - name: a step that is refused
    steps:
      - approve: c
  - name: no such node
    expect: { waiting: [b], calls: { bb: 1 } }
`);
    const said = found.map(({ passed, differences, failure }) => [
      passed,
      differences.map(({ what, expected, actual }) => [what, expected, actual]),
      failure?.code,
    ]);
    expect(said).toEqual([
      [false, [['status', 'completed', 'running']], undefined],
      [
        false,
        [
          ['output.a.k', 2, 1],
          ['output.list', [1], [1, { x: 1, y: 2 }]],
          ['output.none', { exists: true }, undefined],
          ['path', ['a'], ['a', 'b', 'hook', 'hear']],
          ['ran', ['c'], ['a', 'b', 'hook', 'hear']],
          ['nodes.b.status', 'failed', 'completed'],
          ['calls.a', 3, 1],
        ],
        undefined,
      ],
      [true, [], undefined],
      [
        false,
        [
          ['status', 'failed', 'completed'],
          ['error', { code: 'NO' }, null],
        ],
        undefined,
      ],
      [false, [], 'NOT_WAITING'],
      [false, [], 'UNKNOWN_NODE'],
    ]);
    expect(found[1]?.differences[0]?.range).toMatchObject({ line: 10 });
    expect(found[4]?.failure?.range).toMatchObject({ line: 23 });
  });

  it('[TST-22] a workflow in TypeScript is named like a file', async () => {
    const sdk = import.meta.resolve('@nebula/sdk');
    writeFileSync(
      path.join(dir, 'built.ts'),
      `
import { wait, workflow } from '${sdk}';
const part = workflow('part', {}, (w) => ({ event: w.wait('nap', wait.for('1d')).output.event }));
export default workflow('built', {}, (w) => w.workflow('part', part, {}));
`,
    );
    writeFileSync(path.join(dir, 'empty.ts'), 'export const nothing = 1;');
    writeFileSync(path.join(dir, 'broken.ts'), "throw new Error('oh');");
    const { file } = readTestFile('workflow: built.ts\ntests: [{ name: x, expect: { output: { event: for } } }]');
    expect(await runTestFile(file as TestFile, { dir, coverage: new Coverage() })).toMatchObject([{ passed: true }]);
    const run = await testWorkflow(pathToFileURL(path.join(dir, 'built.ts')));
    expect(run.path).toEqual(['part/nap', 'part']);
    expect(await replay(run.journal, path.join(dir, 'built.ts'))).toMatchObject({ same: true });
    await expect(testWorkflow(path.join(dir, 'empty.ts'))).rejects.toMatchObject({
      code: 'WORKFLOW_INVALID',
      message: expect.stringContaining('default export'),
    });
    await expect(testWorkflow(path.join(dir, 'broken.ts'))).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  });

  it('[TST-19] coverage counts nodes and edges over all tests, and lists those that never ran', async () => {
    const coverage = new Coverage();
    await results('  - { name: waits, expect: { waiting: [b] } }', coverage);
    expect(coverage.summary()).toEqual([
      {
        workflowId: 'flow',
        nodes: { total: 5, ran: 1, never: ['b', 'c', 'hook', 'hear'] },
        edges: { total: 4, taken: 1, never: ['a -> c (error)', 'b -> hook', 'hook -> hear'] },
      },
    ]);
    await results('  - { name: fails, mocks: { a: { error: NO } } }', coverage);
    expect(coverage.summary()[0]).toMatchObject({ nodes: { ran: 2 }, edges: { taken: 2 } });
    const other = new Coverage();
    other.add(JSON.parse(JSON.stringify(coverage.data)));
    expect(other.summary()).toEqual(coverage.summary());
  });

  it('[TST-19] always edges of unhandled failures and of cancelled nodes count', async () => {
    const nodes = 'a: { action: x.y@1 }, slow: { action: x.z@1 }, tidy: { action: x.t@1 }, off: { action: x.t@1 }';
    const edges = '[{ from: a, to: tidy, on: always }, { from: slow, to: off, on: always }]';
    writeFileSync(path.join(dir, 'tidy.yaml'), `id: tidy\nnodes: { ${nodes} }\nedges: ${edges}`);
    const mocks = '{ x.y: { error: NO }, x.z: { hang: true }, x.t: { output: 1 } }';
    const { file } = readTestFile(
      `workflow: tidy.yaml\ntests: [{ name: x, mocks: ${mocks}, expect: { status: failed } }]`,
    );
    const coverage = new Coverage();
    expect(await runTestFile(file as never, { dir, coverage })).toMatchObject([{ passed: true }]);
    expect(coverage.summary()).toMatchObject([{ edges: { total: 2, taken: 2, never: [] } }]);
  });

  it('[TST-19] only edges that are written in the definition count', async () => {
    writeFileSync(
      path.join(dir, 'split.yaml'),
      'id: split\nnodes: { s: { split: { in: [1] } }, a: { needs: [s], action: x.y@1 }, m: { needs: [a], merge: {} } }',
    );
    const { file } = readTestFile('workflow: split.yaml\ntests: [{ name: x, mocks: { x.y: { output: 1 } } }]');
    const coverage = new Coverage();
    expect(await runTestFile(file as never, { dir, coverage })).toMatchObject([{ passed: true }]);
    expect(coverage.summary()).toMatchObject([
      { nodes: { total: 3, ran: 3 }, edges: { total: 1, taken: 1, never: [] } },
    ]);
  });

  it('[TST-19] nodes of inline workflows count for these, whatever the iteration', async () => {
    writeFileSync(
      path.join(dir, 'sub.yaml'),
      'id: sub\nnodes: { s: { action: x.y@1 }, t: { needs: [s], when: false, action: x.y@1 } }',
    );
    writeFileSync(
      path.join(dir, 'main.yaml'),
      'id: main\nnodes:\n  each: { forEach: { in: [1, 2] }, do: { nodes: { in: { workflow: { id: sub } } } } }',
    );
    const { file } = readTestFile(
      'workflow: main.yaml\nworkflows: [sub.yaml]\ntests: [{ name: x, mocks: { x.y: { output: 1 } } }]',
    );
    const coverage = new Coverage();
    expect(await runTestFile(file as never, { dir, coverage })).toMatchObject([{ passed: true }]);
    expect(coverage.summary()).toMatchObject([
      { workflowId: 'main', nodes: { total: 2, ran: 2 } },
      { workflowId: 'sub', nodes: { total: 2, ran: 1, never: ['t'] }, edges: { total: 1, taken: 1 } },
    ]);
  });
});
