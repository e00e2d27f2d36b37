/** Compiles the work of a node by its kind. */
import type { Action } from '../action.ts';
import type { EdgeDefinition, NodeKind } from '../definition/model.ts';
import type { Steps } from '../steps.ts';
import type { JsonSchema } from '../value.ts';
import type { CompiledGraph } from './context.ts';
import { actionWork } from './kinds/action.ts';
import { branchWork } from './kinds/branch.ts';
import { dynamicWork } from './kinds/dynamic.ts';
import { compileBody, forEachWork, groupWork, retryUntilWork, whileWork } from './kinds/loops.ts';
import { setWork, terminateWork } from './kinds/set-and-terminate.ts';
import { subWorkflowWork } from './kinds/sub-workflow.ts';
import { waitWork } from './kinds/wait.ts';
import type { NodeReader } from './node-reader.ts';
import type { Work } from './plan.ts';
import { compileSplit, type Region } from './split.ts';
import { listSchema } from './value-schema.ts';

/** Information about a node that its graph has. */
export interface Surroundings {
  readonly kind: NodeKind | undefined;
  readonly action: Action | undefined;
  readonly edges: readonly EdgeDefinition[];
  /** The split of each merge. */
  readonly splitOf: ReadonlyMap<string, string>;
  /** The nodes between each split and its merge. */
  readonly regions: ReadonlyMap<string, Region>;
}

export interface CompiledWork {
  /** Undefined when there are errors. */
  readonly work: Work | undefined;
  readonly body?: CompiledGraph;
  /** The schema of the node's output, as far as known. */
  readonly output?: JsonSchema | undefined;
}

export function* compileWork(reader: NodeReader, around: Surroundings): Steps<CompiledWork> {
  const { definition, id } = reader.parts;
  switch (around.kind) {
    case 'action':
      return { work: actionWork(reader, around.action) };
    case 'dynamic':
      return { work: definition.dynamic && dynamicWork(reader, definition.dynamic, around.action) };
    case 'branch':
      return { work: definition.branch && (yield* branchWork(reader, definition.branch, around.edges)) };
    case 'forEach': {
      const body = yield* compileBody(reader, 'forEach', definition.forEach?.parallel);
      const { minSuccess } = definition.forEach ?? {};
      return {
        work: definition.forEach && forEachWork(reader, definition.forEach, body),
        body,
        output: listSchema(minSuccess === undefined ? body.output : undefined),
      };
    }
    case 'while': {
      const body = yield* compileBody(reader, 'iterations');
      return { work: whileWork(reader, body), body, output: body.output };
    }
    case 'retryUntil': {
      const body = yield* compileBody(reader, 'iterations');
      return { work: retryUntilWork(reader, body), body, output: body.output };
    }
    case 'group': {
      const { work, body } = yield* groupWork(reader);
      return { work, body, output: body.output };
    }
    case 'workflow':
      return definition.workflow ? yield* subWorkflowWork(reader, definition.workflow) : { work: undefined };
    case 'wait':
      return { work: definition.wait && (yield* waitWork(reader, definition.wait)) };
    case 'set':
      return { work: setWork(reader) };
    case 'terminate':
      return { work: terminateWork(reader) };
    case 'split':
      return (yield* compileSplit(reader, around.regions.get(id))) ?? { work: undefined };
    case 'merge': {
      const of = around.splitOf.get(id);
      return { work: of === undefined ? undefined : { kind: 'merge', of } };
    }
    case undefined:
      // A draft without a kind: its body is checked anyway.
      if (definition.do !== undefined) yield* compileBody(reader, 'any');
      return { work: undefined };
  }
}
