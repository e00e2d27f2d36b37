/** Reads and compiles a received definition: a small one in this thread, a large one in the checking thread. */
import {
  type Ceiling,
  type Compile,
  compileRead,
  countGraphs,
  type Json,
  type Problem,
  type ReadResult,
  readDefinition,
  readDefinitionObject,
  type WorkflowDefinition,
} from '@nebula/core';
import { UPLOAD_LIMITS } from '../limits.ts';
import type { FindUsedWorkflow } from './used-workflows.ts';

/** The text, or the parsed value. */
export type DefinitionInput = { readonly source: string; readonly filename: string } | { readonly definition: Json };

export interface CheckOptions {
  readonly ceiling: Ceiling;
  readonly workflows: FindUsedWorkflow;
  /** False: files of the project have only the limits of the language. */
  readonly isBounded: boolean;
  readonly compile: Compile;
}

export type Checked =
  | { readonly definition: WorkflowDefinition | undefined; readonly problems: readonly Problem[] }
  | { readonly tooMany: 'nodes' | 'edges'; readonly count: number };

export function readInput(input: DefinitionInput): ReadResult {
  return 'source' in input
    ? readDefinition(input.source, { file: input.filename })
    : readDefinitionObject(input.definition);
}

export function checkDefinition(
  input: DefinitionInput,
  { ceiling, workflows, isBounded, compile }: CheckOptions,
  read: ReadResult = readInput(input),
): Checked {
  const excess = isBounded ? excessOf(read.definition ?? read.draft?.definition) : undefined;
  if (excess !== undefined) return excess;
  if ('source' in input) {
    const { definition, problems } = compileRead(read, compile, { workflows, ceiling });
    return { definition, problems };
  }
  if (read.definition === undefined) return { definition: undefined, problems: read.problems };
  const { problems } = compile(read.definition, { workflows, ceiling });
  return { definition: read.definition, problems: [...read.problems, ...problems] };
}

function excessOf(definition: WorkflowDefinition | undefined): Extract<Checked, { tooMany: string }> | undefined {
  if (definition === undefined) return undefined;
  const { nodes, edges } = countGraphs(definition);
  if (nodes > UPLOAD_LIMITS.maxNodes) return { tooMany: 'nodes', count: nodes };
  return edges > UPLOAD_LIMITS.maxEdges ? { tooMany: 'edges', count: edges } : undefined;
}
