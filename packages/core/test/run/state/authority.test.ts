/** A run carries the authority it was started with, and nothing in it can widen that. */
import { describe, expect, it } from 'vitest';
import { askedBy, compileSource, createCatalog, readDefinition, type WorkflowDefinition } from '../../../src/index.ts';
import { ceilingOf } from '../../../src/run/state/authority.ts';
import { childAuthority, decodeSnapshot, encodeSnapshot, foldFrames, grantTo, newRunState } from '../../../src/run.ts';
import { type Drive, drive, type Short, testActions } from '../drive.ts';

const CEILING = { network: ['*.example.com'], shell: ['git'] };
const AUTHORITY = { principal: 'ada', ceiling: CEILING };

const grantOf = (run: Drive, node: string): unknown => run.attempts.get(node)?.granted;

describe('the authority of a run', () => {
  it('[RUN-400] an attempt gets the capabilities that its node requests, narrowed by the ceiling of the run', () => {
    const short: Short = {
      config: { capabilities: { shell: ['*'] } },
      nodes: { a: {}, b: { capabilities: { network: ['api.example.com', 'evil.com'], files: { read: ['/**'] } } } },
    };
    const run = drive(short, { authority: AUTHORITY });
    expect(grantOf(run, 'a')).toEqual({ shell: ['git'] });
    expect(grantOf(run, 'b')).toEqual({ network: ['api.example.com'], shell: ['git'] });
    expect(grantOf(drive(short, { authority: { ceiling: {} } }), 'b')).toEqual({});
    expect(grantOf(drive(short, { authority: { ceiling: 'all' } }), 'a')).toEqual({ shell: ['*'] });
  });

  it('[RUN-400] a compensation gets no more than its run', () => {
    const run = drive(
      {
        nodes: {
          a: { action: 'do@1', capabilities: { shell: ['*'] }, compensate: { action: 'do@1' } },
          b: { needs: ['a'] },
        },
      },
      { authority: AUTHORITY },
    );
    run.complete('a').fail('b');
    const undo = [...run.attempts].find(([node]) => node !== 'a' && node !== 'b');
    expect(undo?.[1].granted).toEqual({ shell: ['git'] });
  });

  it('[RUN-400] the grant is worked out once for all attempts of a plan under a ceiling', () => {
    const items = { forEach: { in: '[1, 2, 3]', parallel: true }, do: { nodes: { a: {} } } };
    const run = drive({ config: { capabilities: { shell: ['*'] } }, nodes: { items } }, { authority: AUTHORITY });
    const grants = [...run.attempts.values()].map(({ granted }) => granted);
    expect(grants).toHaveLength(3);
    expect(new Set(grants).size).toBe(1);
  });

  it('[RUN-400] runs of a plan that were read with equal ceilings share the grant', () => {
    const first = drive({ nodes: { a: { capabilities: { shell: ['*'] } } } }, { authority: AUTHORITY });
    const asked = { shell: ['*'] };
    const read = [1, 2].map(() => decodeSnapshot(first.plan, 'exe_test', encodeSnapshot(first.state)));
    const [one, other] = read.map((state) => state && grantTo(state, asked));
    expect(one).toEqual({ shell: ['git'] });
    expect(other).toBe(one);
  });

  it('[RUN-401] it is in the journal and in snapshots, and survives retries', () => {
    const run = drive({ nodes: { a: { capabilities: { shell: ['*'] } } } }, { authority: AUTHORITY });
    expect(run.entries[0]).toMatchObject({ type: 'run.started', authority: AUTHORITY });
    run.fail('a').retry();
    expect(grantOf(run, 'a')).toEqual({ shell: ['git'] });
    const restored = decodeSnapshot(run.plan, 'exe_test', encodeSnapshot(run.state));
    expect(restored?.authority).toEqual(AUTHORITY);
    expect(ceilingOf(foldFrames(newRunState(run.plan, 'exe_test'), run.frames))).toEqual(CEILING);
  });

  const reopened = (run: Drive): unknown => run.entries.find(({ type }) => type === 'run.reopened');

  it('[RUN-404] a run that begins again is narrowed by the ceiling of now, and keeps that', () => {
    const nodes = { a: { capabilities: { shell: ['*'], network: ['api.example.com'] } } };
    const run = drive({ nodes }, { authority: AUTHORITY });
    run.fail('a').step({ type: 'retry', ceiling: { shell: ['*'] } });
    expect(reopened(run)).toMatchObject({ ceiling: { shell: ['git'] } });
    expect(grantOf(run, 'a')).toEqual({ shell: ['git'] });
    expect(run.state.authority).toEqual({ principal: 'ada', ceiling: { shell: ['git'] } });
    run.fail('a').step({ type: 'replay', node: 'a', ceiling: 'all' });
    expect(grantOf(run, 'a')).toEqual({ shell: ['git'] });
    run.fail('a').step({ type: 'replay', node: 'a', ceiling: {} });
    expect(grantOf(run, 'a')).toEqual({});
    expect(ceilingOf(foldFrames(newRunState(run.plan, 'exe_test'), run.frames))).toEqual({});
    const restored = decodeSnapshot(run.plan, 'exe_test', encodeSnapshot(run.state));
    expect(restored?.authority).toEqual({ principal: 'ada', ceiling: {} });
  });

  it.each([[CEILING], ['all'], [{ network: ['*'], shell: ['*'] }], [undefined]] as const)(
    '[RUN-404] a ceiling of now that is no lower (%j) changes nothing and is not journalled',
    (now) => {
      const run = drive({ nodes: { a: { capabilities: { shell: ['*'] } } } }, { authority: AUTHORITY });
      run.fail('a').step({ type: 'retry', ...(now && { ceiling: now }) });
      expect(reopened(run)).not.toHaveProperty('ceiling');
      expect(run.state.authority).toEqual(AUTHORITY);
      expect(grantOf(run, 'a')).toEqual({ shell: ['git'] });
    },
  );

  it('[RUN-401] a journal without it has the ceiling of its project when it is loaded', () => {
    const run = drive({
      nodes: { a: { capabilities: { shell: ['*'] } }, b: { needs: ['a'], capabilities: { shell: ['*'] } } },
    });
    expect(run.entries[0]).not.toHaveProperty('authority');
    run.state.projectCeiling = CEILING;
    run.complete('a');
    expect(grantOf(run, 'b')).toEqual({ shell: ['git'] });
  });

  const dynamic = (capabilities: object): Short => ({
    config: { capabilities: { network: ['api.example.com'] } },
    nodes: { plan: { dynamic: { action: 'look@1' }, ...(Object.keys(capabilities).length > 0 && { capabilities }) } },
  });

  it('[PLN-90] a graph returned at run time cannot grant itself more than its workflow', () => {
    const run = drive(dynamic({}));
    const greedy = { shell: ['*'], network: ['*'], files: { write: ['/**'] } };
    run.complete('plan', { nodes: { sh: { action: 'do@1', capabilities: greedy }, plain: { action: 'do@1' } } });
    expect(grantOf(run, 'plan/sh')).toEqual({ network: ['api.example.com'] });
    expect(grantOf(run, 'plan/plain')).toEqual({ network: ['api.example.com'] });
  });

  it('[PLN-90] nor can a graph inside that graph, or its compensations', () => {
    const run = drive(dynamic({ shell: ['git'] }));
    const greedy = { shell: ['*'] };
    run.complete('plan', { nodes: { inner: { dynamic: { action: 'look@1' }, capabilities: greedy } } });
    expect(grantOf(run, 'plan/inner')).toEqual({ network: ['api.example.com'], shell: ['git'] });
    run.complete('plan/inner', {
      nodes: {
        sh: { action: 'do@1', capabilities: greedy, compensate: { action: 'do@1' } },
        bad: { needs: ['sh'], action: 'do@1' },
      },
    });
    expect(grantOf(run, 'plan/inner/sh')).toEqual({ network: ['api.example.com'], shell: ['git'] });
    run.complete('plan/inner/sh').fail('plan/inner/bad');
    for (const { granted } of run.attempts.values()) expect(JSON.stringify(granted)).not.toContain('"*"');
  });

  it('[PLN-91] a workflow that a returned graph inlines or starts gets no more than that graph', () => {
    const shell: Short = { config: { capabilities: { shell: ['*'] } }, nodes: { sh: {} } };
    const short: Short = {
      nodes: {
        own: { workflow: { id: 'shell' } },
        plan: { dynamic: { action: 'look@1' }, capabilities: { shell: ['git'] } },
      },
    };
    const run = drive(short, { workflows: { shell }, authority: { ceiling: { shell: ['git', 'node'] } } });
    expect(grantOf(run, 'own/sh')).toEqual({ shell: ['git', 'node'] });
    const calls = { inside: { workflow: { id: 'shell' } }, child: { workflow: { id: 'other', mode: 'child' } } };
    run.complete('plan', { nodes: calls });
    expect(grantOf(run, 'plan/inside/sh')).toEqual({ shell: ['git'] });
    const [child] = run.children;
    expect(childAuthority(run.state, child?.bound)).toEqual({ ceiling: { shell: ['git'] } });
  });

  it('[RUN-402] a child has the authority of its parent', () => {
    const nodes = { child: { workflow: { id: 'other', mode: 'child' } } };
    const run = drive({ nodes }, { authority: AUTHORITY });
    expect(childAuthority(run.state, run.children[0]?.bound)).toEqual(AUTHORITY);
    const old = drive({ nodes });
    expect(childAuthority(old.state, undefined)).toBeUndefined();
    old.state.projectCeiling = {};
    expect(childAuthority(old.state, undefined)).toEqual({ ceiling: {} });
  });

  it('[PLN-92] a request beyond the ceiling of the project is a warning at its position', () => {
    const text = [
      'id: w',
      'config: { capabilities: { shell: [git] } }',
      'nodes:',
      '  a:',
      '    action: do@1',
      '    capabilities: { network: [api.example.com, evil.com] }',
    ].join('\n');
    const ceiling = { network: ['*.example.com'], shell: ['git'] };
    const catalog = createCatalog(testActions);
    expect(compileSource(text, catalog, { ceiling }).problems).toMatchObject([
      {
        code: 'OVER_CEILING',
        severity: 'warning',
        path: ['nodes', 'a', 'capabilities', 'network', 1],
        range: { line: 6 },
      },
    ]);
    expect(compileSource(text, catalog, { ceiling: 'all' }).problems).toEqual([]);
    expect(compileSource(text, catalog).problems).toEqual([]);
  });

  it.each([
    ['inbox/*.csv', 'inbox/*.csv'],
    ['inbox', 'inbox/**'],
    ['./in//box/a.csv', 'in/box/a.csv/**'],
    ['inbox/{a,b}/x?.csv', 'inbox/*/*'],
    ['in/[a-c]x', 'in/*'],
    ['in/{a/b,c}/x', 'in/**'],
    ['**/*.csv', '**/*.csv'],
    ['.', '**'],
  ])('[PLN-120] a trigger on %s asks to read %s', (path, read) => {
    const text = `id: w\ntriggers: [{ file: { path: '${path}' } }]\nnodes: { a: { action: do@1 } }`;
    const catalog = createCatalog(testActions);
    const { definition } = readDefinition(text, { file: 'w.yaml' });
    expect(askedBy(definition as WorkflowDefinition).files?.read).toEqual([read]);
    expect(compileSource(text, catalog, { ceiling: {} }).problems).toMatchObject([
      { code: 'OVER_CEILING', severity: 'warning', path: ['triggers', 0, 'file', 'path'], range: { line: 2 } },
    ]);
    expect(compileSource(text, catalog, { ceiling: { files: { read: [read] } } }).problems).toEqual([]);
  });
});
