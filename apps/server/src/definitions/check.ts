/** Reads and compiles a definition that was sent: in this process where it is small, else in the thread beside it. */
import {
  type Catalog,
  type Ceiling,
  compilePlan,
  compileSource,
  isJsonObject,
  type Json,
  type Problem,
  type ReadResult,
  readDefinition,
  readDefinitionObject,
  type WorkflowDefinition,
} from '@nebula/core';
import type { FindInside } from './inside.ts';

/** Its text, or what was parsed of it. */
export type Given = { readonly source: string; readonly filename: string } | { readonly definition: Json };

export interface CheckOptions {
  readonly catalog: Catalog;
  readonly ceiling: Ceiling;
  readonly workflows: FindInside;
  /** Undefined: files of the project have the limits of the language only. */
  readonly maxNodes: number | undefined;
}

export type Checked =
  | { readonly definition: WorkflowDefinition | undefined; readonly problems: readonly Problem[] }
  | { readonly nodes: number };

export function readGiven(given: Given): ReadResult {
  return 'source' in given
    ? readDefinition(given.source, { file: given.filename })
    : readDefinitionObject(given.definition);
}

export function checkDefinition(
  given: Given,
  { catalog, ceiling, workflows, maxNodes }: CheckOptions,
  read: ReadResult = readGiven(given),
): Checked {
  if (read.definition !== undefined && maxNodes !== undefined) {
    const nodes = countNodes(read.definition as unknown as Json);
    if (nodes > maxNodes) return { nodes };
  }
  if ('source' in given) {
    const options = { file: given.filename, workflows, ceiling };
    const { definition, problems } = compileSource(given.source, catalog, options);
    return { definition, problems };
  }
  if (read.definition === undefined) return { definition: undefined, problems: read.problems };
  const { problems } = compilePlan(read.definition, catalog, { workflows, ceiling });
  return { definition: read.definition, problems: [...read.problems, ...problems] };
}

/** Those of bodies included: every member of a `nodes`. */
function countNodes(root: Json): number {
  let count = 0;
  const open: Json[] = [root];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, member] of Object.entries(value)) {
      if (name === 'nodes' && isJsonObject(member as Json)) count += Object.keys(member as object).length;
      open.push(member as Json);
    }
  }
  return count;
}
