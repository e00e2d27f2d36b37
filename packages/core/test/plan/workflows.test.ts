import { describe, expect, it } from 'vitest';
import { compilePlan, readDefinition, usedWorkflows, type WorkflowDefinition } from '../../src/index.ts';
import type { InlineWork } from '../../src/plan/plan.ts';
import { catalog, codes, findings, nodeOf, planOf } from './compiling.ts';

const library: Readonly<Record<string, WorkflowDefinition>> = {
  sub: {
    id: 'sub',
    version: 3,
    variables: { region: 'eu' },
    config: { onFailure: 'ignore' },
    input: {
      type: 'object',
      required: ['n', 'm'],
      properties: { n: { type: 'integer' }, m: { type: 'string', default: 'x' } },
      additionalProperties: false,
    },
    nodes: { a: { action: 'do', with: { r: '{{ $vars.region }}' } } },
  },
  broken: { id: 'broken', nodes: { a: { action: 'nope' } } },
  loop: { id: 'loop', nodes: { a: { workflow: { id: 'back' } } } },
  back: { id: 'back', nodes: { a: { workflow: { id: 'loop' } } } },
};
const others = {
  workflows: (id: string, version?: number) => {
    const found = library[id];
    return version === undefined || found?.version === version ? found : undefined;
  },
  knownWorkflows: Object.keys(library),
};

describe('workflows in workflows', () => {
  it('[PLN-23] an inline one is compiled with its own settings', () => {
    const plan = planOf('id: x\nnodes: { s: { workflow: { id: sub, version: 3, input: { n: 1 } } } }', others);
    const work = nodeOf(plan, 's').work as InlineWork;
    expect(work).toMatchObject({ kind: 'inline', isolation: 'isolated' });
    expect(work.workflow).toMatchObject({
      workflowId: 'sub',
      version: 3,
      onFailure: 'ignore',
      variables: { region: 'eu' },
    });
    expect(nodeOf(plan, 's/a').work.kind).toBe('action');
    expect(work.workflow.acceptInput({ n: 1 })).toMatchObject({ input: { n: 1, m: 'x' } });
  });

  it('[PLN-40] the time limit of an inline workflow is that of its node, and unsupported keys inside are reported', () => {
    const workflows = (id: string): WorkflowDefinition => {
      const configs: Record<string, WorkflowDefinition['config']> = {
        timed: { timeout: '1s' },
        last: { failureNode: 'a' },
        much: {
          mode: 'levels',
          maxParallelism: 1,
          maxTotalRetries: 1,
          start: { key: '$input.k' },
          onFailure: 'ignore',
        },
        same: { mode: 'parallel', retry: { attempts: 2 } },
      };
      return { id, nodes: { a: { action: 'do' } }, config: configs[id] ?? {} };
    };
    const plan = planOf(
      'id: x\nnodes: { s: { workflow: { id: timed } }, t: { workflow: { id: timed }, timeout: { total: 5s } } }',
      { workflows },
    );
    expect(nodeOf(plan, 's').timeouts.totalMs).toBe(1_000);
    expect(nodeOf(plan, 't').timeouts.totalMs).toBe(5_000);
    const problems = (id: string) =>
      compilePlan({ id: 'x', nodes: { s: { workflow: { id } } } }, catalog, { workflows }).problems.map(
        ({ code, severity, message }) => `${severity} ${code} ${message}`,
      );
    expect(problems('last')).toEqual([
      "error INLINE_CONFIG 'last' has a failure node, which works only in a separate run",
    ]);
    expect(problems('much')).toEqual([
      "warning INLINE_CONFIG config.mode, config.maxParallelism, config.maxTotalRetries, config.start of 'much' have no effect inside another run",
    ]);
    expect(problems('same')).toEqual([]);
  });

  it('[PLN-23] used twice, it is compiled once', () => {
    const plan = planOf(
      'id: x\nnodes: { s: { workflow: { id: sub, input: { n: 1 } } }, t: { workflow: { id: sub, input: { n: 2 } } } }',
      others,
    );
    expect((nodeOf(plan, 's').work as InlineWork).workflow).toBe((nodeOf(plan, 't').work as InlineWork).workflow);
  });

  it('[PLN-23] one that is unknown, broken or inside itself is reported', () => {
    expect(
      findings(
        `id: x
nodes:
  a: { workflow: { id: subb } }
  b: { workflow: { id: sub, version: 9, input: { n: 1 } } }
  c: { workflow: { id: broken } }
  d: { workflow: { id: loop } }
  e: { workflow: { id: x } }`,
        others,
      ),
    ).toEqual([
      "UNKNOWN_WORKFLOW nodes.a.workflow.id (did you mean 'sub'?)",
      'UNKNOWN_WORKFLOW nodes.b.workflow.id (available workflows: sub, broken, loop, back)',
      'BROKEN_WORKFLOW nodes.c.workflow.id (fix that workflow first)',
      'BROKEN_WORKFLOW nodes.d.workflow.id (fix that workflow first)',
      'INLINE_RECURSION nodes.e.workflow.id (use mode: child, which starts a separate run)',
    ]);
    expect(codes('id: x\nnodes: { a: { workflow: { id: sub } } }')).toEqual(['UNKNOWN_WORKFLOW']);
  });

  it('[PLN-23] any number of nested inline workflows is reported', () => {
    const deep = (id: string): WorkflowDefinition => ({ id, nodes: { a: { workflow: { id: `${id}x` } } } });
    expect(codes('id: x\nnodes: { a: { workflow: { id: y } } }', { workflows: deep })).toEqual(['BROKEN_WORKFLOW']);
  });

  it('[PLN-24] input that is written out is checked against the schema', () => {
    expect(
      findings(
        `id: x
nodes:
  a: { workflow: { id: sub } }
  b: { workflow: { id: sub, input: { n: one, nn: 2 } } }
  c: { workflow: { id: sub, mode: child, input: { n: "{{ $input.n }}", m: 7 } } }
  d: { workflow: { id: sub, input: "{{ $input }}" } }`,
        others,
      ),
    ).toEqual([
      "BAD_WORKFLOW_INPUT nodes.a.workflow.input.n (see the input of the workflow 'sub')",
      "BAD_WORKFLOW_INPUT nodes.b.workflow.input.n (see the input of the workflow 'sub')",
      "BAD_WORKFLOW_INPUT nodes.b.workflow.input.nn (did you mean 'n'?)",
      "BAD_WORKFLOW_INPUT nodes.c.workflow.input.m (see the input of the workflow 'sub')",
    ]);
  });

  it('[PLN-24] a child may be unknown for now, and may be the workflow itself', () => {
    const text =
      'id: x\nnodes: { a: { workflow: { id: later, mode: child } }, b: { workflow: { id: x, mode: child } } }';
    const { problems } = compilePlan(readDefinition(text).definition as WorkflowDefinition, catalog, {
      workflows: (id) => (id === 'x' ? { id } : undefined),
    });
    expect(problems.map(({ severity, code }) => `${severity} ${code}`)).toEqual(['warning UNKNOWN_WORKFLOW']);
    expect(codes(text)).toEqual([]);
  });

  it('[PLN-25] the workflows that a definition names can be listed', () => {
    const { definition } = readDefinition(`id: x
nodes:
  a: { workflow: { id: one } }
  b: { forEach: { in: [1] }, do: { nodes: { c: { workflow: { id: two, version: 4, mode: child } }, d: { workflow: { id: one } } } } }`);
    expect(usedWorkflows(definition as WorkflowDefinition)).toEqual([
      { id: 'one', mode: 'inline' },
      { id: 'two', version: 4, mode: 'child' },
    ]);
  });
});
