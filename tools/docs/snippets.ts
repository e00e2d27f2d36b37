/** Workflows in the documentation: whole ones, and parts that are put into a small frame to be checked. */
import { builtinActions } from '@nebula/actions';
import { type Action, compilePlan, createCatalog, type Problem, readDefinition, renderProblems } from '@nebula/core';

const WORKFLOW_KEYS = ['nodes', 'edges', 'config', 'output', 'input', 'variables', 'name', 'description', 'version'];
const NODE_KEYS = [
  'needs',
  'when',
  'join',
  'retry',
  'timeout',
  'onError',
  'priority',
  'estimate',
  'enabled',
  'effect',
  'capabilities',
  'credentials',
  'notes',
  'action',
  'with',
];

export interface Snippet {
  readonly source: string;
  /** A whole workflow can be run; a part is only checked. */
  readonly isWhole: boolean;
}

export function snippetOf(text: string): Snippet {
  const keys = [...text.matchAll(/^([\w-]+):/gm)].map((match) => match[1]!);
  // A workflow of ours, or a jobs file of workflow-graph.
  if (keys.includes('id') || keys.includes('jobs')) return { source: text, isWhole: true };
  if (keys.every((key) => WORKFLOW_KEYS.includes(key))) {
    const nodes = keys.includes('nodes') ? '' : '\nnodes: { frame: { action: core.noop@1 } }\n';
    return { source: `id: frame\n${text}\n${nodes}`, isWhole: false };
  }
  if (keys.every((key) => NODE_KEYS.includes(key))) {
    const action = keys.includes('action') ? '' : '    action: core.noop@1\n';
    return { source: `id: frame\nnodes:\n  frame:\n${action}${indented(text, 4)}\n`, isWhole: false };
  }
  return { source: `id: frame\nnodes:\n${indented(text, 2)}\n`, isWhole: false };
}

function indented(text: string, columns: number): string {
  return text.replace(/^(?=.)/gm, ' '.repeat(columns));
}

/** Every problem of a workflow, and a report of them. */
export function problemsOf(source: string, own: readonly Action[]): { problems: readonly Problem[]; report: string } {
  const read = readDefinition(source, { file: 'snippet.yaml' });
  const catalog = createCatalog([...builtinActions, ...own], {}, {});
  const planned =
    read.definition === undefined ? [] : compilePlan(read.definition, catalog, { source: read.source }).problems;
  const problems = [...read.problems, ...planned];
  return { problems, report: renderProblems(problems, { file: 'snippet.yaml', text: source, color: false }) };
}
