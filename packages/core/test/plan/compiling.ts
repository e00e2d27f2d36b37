/** Shared functions of the tests of compilation. */

import type { SourceCompilation } from '../../src/compile.ts';
import { type Action, type CompileOptions, compileSource, createCatalog } from '../../src/index.ts';
import type { GraphPlan, NodePlan, Plan } from '../../src/plan/plan.ts';

const actions: readonly Action[] = [
  {
    id: 'mail.send',
    version: '1',
    input: { type: 'object', required: ['to'], properties: { to: { type: 'string' } }, additionalProperties: false },
    output: { type: 'object', properties: { id: { type: 'string' } }, additionalProperties: false },
    run: () => null,
  },
  { id: 'do', version: '1', run: () => null },
  { id: 'pay', version: '1', credentials: ['account'], run: () => null },
];

export const catalog = createCatalog(actions);

export function compile(
  yaml: string,
  options: Pick<CompileOptions, 'workflows' | 'knownWorkflows'> = {},
): SourceCompilation {
  return compileSource(yaml, catalog, { file: 'test.yaml', ...options });
}

/** A plan, or a failure that shows the problems. */
export function planOf(yaml: string, options: Parameters<typeof compile>[1] = {}): Plan {
  const { plan, problems } = compile(yaml, options);
  if (plan === undefined) throw new Error(problems.map(({ code, message }) => `${code} ${message}`).join('\n'));
  return plan;
}

/** `CODE path (hint)` of every problem. */
export function findings(yaml: string, options: Parameters<typeof compile>[1] = {}): string[] {
  return compile(yaml, options).problems.map(
    ({ code, path, hint }) => `${code} ${path.join('.')}${hint === undefined ? '' : ` (${hint})`}`,
  );
}

export function codes(yaml: string, options: Parameters<typeof compile>[1] = {}): string[] {
  return compile(yaml, options).problems.map(({ code }) => code);
}

/** The node at a path of ids: `items/pack`. */
export function nodeOf(plan: Plan, path: string): NodePlan {
  let graph: GraphPlan | undefined = plan.root;
  let node: NodePlan | undefined;
  for (const id of path.split('/')) {
    node = graph?.nodes[graph.indexOf.get(id) ?? -1];
    if (node === undefined) throw new Error(`no node ${path}`);
    const work: NodePlan['work'] = node.work;
    graph = 'body' in work ? work.body : work.kind === 'inline' ? work.workflow.root : undefined;
  }
  return node as NodePlan;
}
