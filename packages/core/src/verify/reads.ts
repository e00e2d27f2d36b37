/** Lists everything in a workflow that reads values, with its document path. */
import type { CompiledValue } from '../expression/index.ts';
import type { GraphRecord } from '../plan/context.ts';
import type { NodePlan, WaitPlan, Work } from '../plan/plan.ts';
import type { DocumentPath } from '../problem.ts';
import { definitionOf, edgePathOf, nodePath } from './verification.ts';

export interface Read {
  readonly value: CompiledValue;
  readonly path: DocumentPath;
  /** The node that reads; undefined for the output of the graph. */
  readonly node: NodePlan | undefined;
  /** Evaluated after the node has completed. */
  readonly isAfter: boolean;
}

export function* readsOf(record: GraphRecord): Generator<Read> {
  const { plan, source } = record;
  for (const node of plan.nodes) {
    for (const [keys, value] of beforeNode(record, node)) {
      if (value !== undefined) yield { value, path: [...nodePath(record, node), ...keys], node, isAfter: false };
    }
    for (const [keys, value] of afterNode(node)) {
      if (value !== undefined) yield { value, path: [...nodePath(record, node), ...keys], node, isAfter: true };
    }
    for (const edge of node.outgoing) {
      if (edge.when === undefined) continue;
      yield { value: edge.when, path: [...edgePathOf(record, edge), 'when'], node, isAfter: true };
    }
  }
  if (plan.output !== undefined) {
    yield { value: plan.output, path: [...source.path, 'output'], node: undefined, isAfter: true };
  }
}

type Part = readonly [keys: DocumentPath, value: CompiledValue | undefined];

function beforeNode(record: GraphRecord, node: NodePlan): readonly Part[] {
  return [
    [['when'], node.when],
    [['concurrency', 'key'], node.concurrency?.key],
    [['rateLimit', 'key'], node.rateLimit?.key],
    ...partsOf(node.work, definitionOf(record, node).split !== undefined),
  ];
}

function afterNode({ work, compensate, emits }: NodePlan): readonly Part[] {
  return [
    [['compensate', 'with'], compensate?.with],
    [['emit'], emits],
    [['workflow', 'output'], work.kind === 'inline' || work.kind === 'child' ? work.output : undefined],
    [['while', 'condition'], work.kind === 'while' ? work.condition : undefined],
    [['retryUntil', 'until'], work.kind === 'retryUntil' ? work.until : undefined],
  ];
}

function partsOf(work: Work, isSplit: boolean): readonly Part[] {
  switch (work.kind) {
    case 'action':
      return [[['with'], work.with]];
    case 'dynamic':
      return [[['dynamic', 'with'], work.with]];
    case 'branch':
      return [
        [['branch', 'on'], work.on],
        ...work.cases.map(({ when }, index): Part => [['branch', 'cases', index, 'when'], when]),
      ];
    case 'set':
      return Array.from(work.values, ([name, value]): Part => [['set', name], value]);
    case 'terminate':
      return [
        [['with', 'output'], work.output],
        [['with', 'error'], work.error],
      ];
    case 'forEach':
      return [[[isSplit ? 'split' : 'forEach', 'in'], work.in]];
    case 'inline':
    case 'child':
      return [[['workflow', 'input'], work.input]];
    case 'wait':
      return [
        [['wait', 'deadline'], work.deadline],
        ...work.waits.flatMap((one, index) =>
          partsOfWait(one, work.waits.length === 1 ? ['wait'] : ['wait', 'any', index]),
        ),
      ];
    case 'while':
    case 'retryUntil':
    case 'group':
    case 'merge':
      return [];
  }
}

function partsOfWait(wait: WaitPlan, keys: DocumentPath): readonly Part[] {
  switch (wait.kind) {
    case 'for':
      return [[[...keys, 'for'], wait.for]];
    case 'until':
      return [[[...keys, 'until'], wait.until]];
    case 'signal':
      return [[[...keys, 'key'], wait.key]];
    case 'approval':
      return [
        [[...keys, 'approval', 'title'], wait.title],
        [[...keys, 'approval', 'who'], wait.who],
      ];
    case 'callback':
      return [];
  }
}
