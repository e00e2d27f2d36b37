/** Jobs files of workflow-graph, read as definitions of ours. */
import { describe, expect, it } from 'vitest';
import {
  compileSource,
  createCatalog,
  type JsonObject,
  jobsDefinition,
  jobsIn,
  readJobsDocument,
} from '../../src/index.ts';
import { codes, places, yaml } from './reading.ts';

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
      command: "export G='v'\nexport L='7'\necho {{.x}}",
      needs: ['unit-tests'],
      labels: ['linux'],
      retries: 0,
    });
    expect(compileSource(FILE, createCatalog([])).problems).toEqual([]);
  });

  it('[DEF-117] always() and failure() have an edge from every ancestor, and their successors do not hide a failure', () => {
    const { definition } = yaml(FILE);
    expect(definition?.edges).toEqual([
      { from: '2nd', to: 'tidy', on: 'always' },
      { from: 'unit-tests', to: 'tidy', on: 'always' },
      { from: '2nd', to: 'page', on: 'always', when: "$nodes['2nd'].status == 'failed'" },
      { from: 'unit-tests', to: 'page', on: 'always', when: "$nodes['unit-tests'].status == 'failed'" },
    ]);
    expect(definition?.nodes?.['tidy']).not.toHaveProperty('needs');
    expect(definition?.nodes?.['after']?.when).toContain("$nodes['unit-tests'].status");
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
    expect(places(yaml(bad))).toEqual([
      'UNKNOWN_KEY 4:16',
      'WRONG_TYPE 5:3',
      'UNKNOWN_NODE 6:15',
      'WRONG_TYPE 7:25',
      'WRONG_TYPE 7:40',
      'MISSING_KEY 8:16',
    ]);
    expect(codes(yaml('name: t\nmore: 1\njobs: { a: { run: x } }'))).toEqual(['UNKNOWN_KEY']);
    expect(codes(yaml('name: t\njobs: {}'))).toEqual(['WRONG_TYPE']);
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
      { id: 'a', name: 'A', command: 'make', needs: [], labels: ['x'], retries: 2 },
      { id: 'b', name: 'B', command: 'ship', needs: ['a'], labels: [], retries: 0 },
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

  it('[DEF-116] a workflow of ours is never taken for one', () => {
    expect(codes(yaml('id: x\njobs: { a: { action: core.noop@1 } }'))).toContain('UNKNOWN_KEY');
    expect(jobsIn({ nodes: { a: { action: 'core.noop@1' } } })).toBeUndefined();
  });
});
