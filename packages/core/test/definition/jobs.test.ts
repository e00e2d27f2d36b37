/** Jobs files of workflow-graph, read as definitions of ours. */
import { describe, expect, it } from 'vitest';
import { stepsCommand } from '../../src/imports/job-action.ts';
import {
  compileSource,
  createCatalog,
  type JsonObject,
  jobsDefinition,
  jobsIn,
  readJobsDocument,
} from '../../src/index.ts';
import { codes, positions, yaml } from './reading.ts';

const FILE = `name: Nightly build
on: [push, tag]
env: { G: v }
jobs:
  unit-tests: { run: make, retries: 1 }
  2nd: { name: Second, needs: unit-tests, run: "echo {{.x}}", labels: [linux], timeout: 1.5, env: { L: 7 } }
  tidy: { needs: [2nd], run: rm, if: always() }
  page: { needs: [2nd], run: call, if: "\${{ failure() }}" }
  after: { needs: [tidy], run: x }
`;

describe('a jobs file', () => {
  it('[DEF-118] the hint for a job that can never run names no key that jobs lack', () => {
    const { problems } = compileSource('name: n\njobs:\n  a: { run: x, if: failure() }', createCatalog([]));
    const hint = 'change the condition, or remove it';
    expect(problems).toMatchObject([{ code: 'NEVER_RUNS', path: ['jobs', 'a', 'if'], hint }]);
  });

  it('[DEF-116] is a workflow whose jobs are nodes, under the name that it has', () => {
    const { definition, problems } = yaml(FILE);
    expect(problems).toEqual([]);
    expect(definition).toMatchObject({
      id: 'nightly-build',
      name: 'Nightly build',
      description: 'on: [push, tag]',
      config: { onFailure: 'finish-running' },
    });
    expect(definition?.nodes?.['2nd']).toMatchObject({
      name: 'Second',
      needs: ['unit-tests'],
      labels: ['linux'],
      timeout: '1500ms',
      with: { env: { G: 'v', L: '7' }, upstream: { 'unit-tests': "{{ $nodes['unit-tests'].output }}" } },
    });
    expect(definition?.nodes?.['unit-tests']?.retry).toMatchObject({ attempts: 2, delay: '0s' });
    expect(jobsIn(definition as unknown as JsonObject)?.[1]).toEqual({
      id: '2nd',
      name: 'Second',
      command: 'echo {{.x}}',
      env: { G: 'v', L: '7' },
      needs: ['unit-tests'],
      labels: ['linux'],
      retries: 0,
      timeoutSeconds: 1.5,
    });
    expect(jobsIn(definition as unknown as JsonObject)?.map(({ condition }) => condition)).toEqual([
      undefined,
      undefined,
      'always()',
      'failure()',
      undefined,
    ]);
    expect(compileSource(FILE, createCatalog([])).problems).toEqual([]);
  });

  it('[DEF-117] always() and failure() have an edge from every ancestor, and their successors do not hide a failure', () => {
    const { definition } = yaml(FILE);
    expect(definition?.edges).toEqual([
      { from: '2nd', to: 'tidy', on: 'always' },
      { from: 'unit-tests', to: 'tidy', on: 'always' },
      { from: '2nd', to: 'page', on: 'always', when: "$nodes['2nd'].status == 'failed'" },
      { from: 'unit-tests', to: 'page', on: 'always', when: "$nodes['unit-tests'].status == 'failed'" },
      { from: '2nd', to: 'after' },
    ]);
    expect(definition?.nodes?.['tidy']).toMatchObject({ join: 'ended' });
    expect(definition?.nodes?.['tidy']).not.toHaveProperty('needs');
    expect(definition?.nodes?.['after']).not.toHaveProperty('when');
  });

  it('[DEF-117] a job after a cleanup behind hundreds of jobs needs a few edges, and no long expression', () => {
    const chain = Array.from(
      { length: 300 },
      (_, at) => `  job-${at}: { run: x${at > 0 ? `, needs: job-${at - 1}` : ''} }`,
    );
    const file = `jobs:\n${chain.join('\n')}\n  tidy: { run: x, needs: job-299, if: always() }\n  after: { run: x, needs: tidy }`;
    const { problems, definition } = compileSource(file, createCatalog([]));
    expect(problems).toEqual([]);
    expect(definition?.edges?.filter(({ to }) => to === 'after')).toHaveLength(1);
  });

  it.each([
    '1e999',
    '{"jobs": 1e999}',
    '{"jobs": {"a": 1e999}}',
    '{"jobs": [1e999]}',
    '{"jobs": {"a": {"run": 1e999}}}',
    '{"jobs": {"a": {"steps": [1e999]}}}',
    '{"jobs": {"a": {"run": "x", "retries": 1e999}}}',
    '{"jobs": {"a": {"run": "x", "__proto__": {}}}}',
    '{"jobs": {"__proto__": {"run": "x"}}}',
  ])('[DEF-118] a body with a number that is not finite, or a reserved key, is refused (%s)', (body) => {
    expect(readJobsDocument(JSON.parse(body)).findings).not.toEqual([]);
  });

  it('[DEF-118] thousands of unknown needs are reported without a suggestion for each', () => {
    const jobs = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, at) => [`job-number-${at}`, { run: 'x', needs: [`jab-nomber-${at}`] }]),
    );
    const { findings: problems } = readJobsDocument({ jobs });
    expect(problems.filter(({ hint }) => hint?.startsWith('did you mean')).length).toBeLessThanOrEqual(20);
    expect(problems.length).toBeGreaterThan(20);
  });

  it('[DEF-118] problems are reported at their position, unknown keys included', () => {
    const bad = `name: t
on: push
jobs:
  a: { run: x, runs-on: linux }
  b: { run: x, steps: [{ run: y }] }
  c: { needs: [aa], run: x }
  d: { run: x, timeout: soon, retries: -1 }
  e: { steps: [{ name: no run }] }
`;
    expect(positions(yaml(bad))).toEqual([
      'UNKNOWN_KEY 4:16',
      'WRONG_TYPE 5:3',
      'UNKNOWN_NODE 6:15',
      'WRONG_TYPE 7:25',
      'OUT_OF_RANGE 7:40',
      'MISSING_KEY 8:16',
    ]);
    expect(positions(yaml('name: t\njobs: { build.linux: { run: x } }'))).toEqual(['BAD_ID 2:9']);
    expect(codes(yaml('name: t\nmore: 1\njobs: { a: { run: x } }'))).toEqual(['UNKNOWN_KEY']);
    expect(codes(yaml('name: t\njobs:'))).toEqual(['MISSING_KEY']);
    expect(codes(yaml('jobs: { a: { run: x, needs: b }, b: { run: x, needs: a } }'))).toEqual(['CYCLE']);
    const broken = compileSource('name: t\njobs:\n  a: { run: x, if: "((" }', createCatalog([]));
    expect(broken.problems.map(({ code, range, path }) => [code, range?.line, path])).toEqual([
      ['EXPRESSION_SYNTAX', 3, ['jobs', 'a', 'if']],
    ]);
  });

  it('[DEF-116] the list of its client says the same', () => {
    const jobs = [
      { id: 'a', name: 'A', command: 'make', depends_on: [], required_labels: ['x'], max_retries: 2 },
      { id: 'b', name: 'B', command: 'ship', depends_on: ['a'], metadata: { icon: 'rocket' }, status: 'queued' },
    ];
    const { document, findings } = readJobsDocument({ name: 'n', trigger: 'manual', jobs });
    expect(findings).toEqual([]);
    const { definition } = jobsDefinition(document as NonNullable<typeof document>);
    expect(jobsIn(definition)).toEqual([
      { id: 'a', name: 'A', command: 'make', needs: [], labels: ['x'], retries: 2, env: {} },
      { id: 'b', name: 'B', command: 'ship', needs: ['a'], labels: [], retries: 0, env: {} },
    ]);
    expect(document?.jobs[1]?.display).toEqual({ metadata: { icon: 'rocket' } });
    const wrong = readJobsDocument({
      name: 'n',
      jobs: [
        { id: 'a', needs: ['b'] },
        { id: 'a', command: 'x' },
      ],
    });
    expect(wrong.findings.map(({ code }) => code)).toEqual(['UNKNOWN_KEY', 'MISSING_KEY', 'WRONG_TYPE']);
  });

  it('[DEF-130] ids that look like integers keep their order, in a file and in a list', () => {
    const order = ['b', '10', '2', 'a'];
    const { definition } = yaml('jobs: { b: { run: x }, "10": { run: x }, 2: { run: x, needs: b }, a: { run: x } }');
    expect(definition?.order).toEqual(order);
    expect(jobsIn(definition as unknown as JsonObject)?.map(({ id }) => id)).toEqual(order);
    const { document } = readJobsDocument({ jobs: order.map((id) => ({ id, command: 'x' })) });
    expect(jobsIn(jobsDefinition(document as NonNullable<typeof document>).definition)?.map(({ id }) => id)).toEqual(
      order,
    );
  });

  it('[DEF-131] a list of jobs may be empty, and may have what a status shows', () => {
    for (const empty of ['jobs: {}', 'jobs: []']) {
      const { definition, problems } = yaml(empty);
      expect([definition?.nodes, problems.map(({ code }) => code)]).toEqual([{}, ['NO_NODES']]);
    }
    const steps = [
      { run: 'make', if: '$input.x', env: { A: '1' } },
      { run: 'rm', if: 'always()' },
    ];
    const own = { id: 'a', command: 'make', if: 'failure()', timeout: 1.5, env: { B: '2' } };
    const shown = { outputs: {}, error: null, started_at_ms: null, completed_at_ms: null, status: 'queued' };
    const read = (job: JsonObject) => {
      const body = { id: 'w', status: 'created', run_id: null, jobs: [{ ...own, ...shown, ...job }] };
      const { document, findings } = readJobsDocument(body);
      expect(findings).toEqual([]);
      return document?.jobs[0];
    };
    expect(read({})).toMatchObject({ condition: 'failure()', timeoutSeconds: 1.5, env: { B: '2' } });
    const listed = read({
      steps,
      command: stepsCommand(steps.map(({ if: condition, env = {}, ...step }) => ({ ...step, env, condition }))),
    });
    expect(listed?.steps.map(({ run, condition }) => [run, condition])).toEqual([
      ['make', '$input.x'],
      ['rm', 'always()'],
    ]);
    // An edited command replaces the steps.
    expect(read({ steps, command: 'other' })?.steps).toEqual([
      { run: 'other', env: {}, condition: undefined, isWhole: true },
    ]);
  });

  it('[DEF-132] always() and the like stand alone, in a job and in a step', () => {
    const file = (condition: string) => `name: t
jobs:
  a: { run: x }
  b: { needs: a, run: x, if: "${condition}" }
  c: { steps: [{ run: x }, { run: y, if: "${condition}" }] }
`;
    for (const condition of ['always() && $a.x', '!failure()', "$a.x == 'y' and success()"]) {
      const { problems } = yaml(file(condition));
      expect(problems.map(({ code, path, hint }) => [code, path.join('.'), hint])).toEqual(
        ['jobs.b.if', 'jobs.c.steps.1.if'].map((path) => ['WRONG_TYPE', path, expect.stringContaining('write `if: ')]),
      );
    }
    expect(yaml(file("$input.x == 'always()'")).problems).toEqual([]);
    const wrong = compileSource(file('(('), createCatalog([])).problems;
    expect(wrong.map(({ path }) => path.join('.'))).toEqual(['jobs.b.if', 'jobs.c.steps.1.if']);
  });

  it('[DEF-116] a workflow of ours is never taken for one', () => {
    expect(codes(yaml('id: x\njobs: { a: { action: core.noop@1 } }'))).toContain('UNKNOWN_KEY');
    expect(jobsIn({ nodes: { a: { action: 'core.noop@1' } } })).toBeUndefined();
  });
});
