/** Combines compilation and verification. `plan` does not import `verify`, because `verify` reads plans. */
import type { Catalog } from './action.ts';
import type { ReadResult } from './definition/check.ts';
import type { WorkflowDefinition } from './definition/model.ts';
import { inTextOrder, isLocal } from './definition/problem-list.ts';
import { type ReadOptions, readDefinition } from './definition/read.ts';
import { bodyDepthOf, type SourceMap } from './definition/source-map.ts';
import { type Compilation, type CompileOptions, compileDefinition } from './plan/compile.ts';
import type { Plan } from './plan/plan.ts';
import type { DocumentPath, Problem } from './problem.ts';
import { allSteps, type Steps } from './steps.ts';
import { isJsonObject, type Json } from './value.ts';
import { verify } from './verify/verify.ts';

export type { Compilation, CompileOptions } from './plan/compile.ts';

export function compilePlan(
  definition: WorkflowDefinition,
  catalog: Catalog,
  options: CompileOptions = {},
): Compilation {
  return allSteps(compileSteps(definition, catalog, options));
}

/** Like `compilePlan`, in steps that can be interleaved with other work. */
export function compileSteps(
  definition: WorkflowDefinition,
  catalog: Catalog,
  options: CompileOptions = {},
): Steps<Compilation> {
  return compileDefinition(definition, catalog, options, verify);
}

/**
 * Compiles the text of a workflow to a plan, or reports all its problems at once: shape, graph, names, types and
 * expressions.
 */
export interface SourceCompilation {
  /** Present, like the plan, exactly when no problem is an error. */
  readonly definition: WorkflowDefinition | undefined;
  readonly plan: Plan | undefined;
  /** In the order of the text. */
  readonly problems: readonly Problem[];
  readonly source: SourceMap;
}

/** Options for compiling a source, including the other workflows that it may run. */
type SourceOptions = ReadOptions & Pick<CompileOptions, 'workflows' | 'knownWorkflows' | 'ceiling'>;

/** Compiles a definition with the catalog and the limits of the caller. */
export type Compile = (definition: WorkflowDefinition, options: CompileOptions) => Compilation;

export function compileSource(
  input: string | Uint8Array,
  catalog: Catalog,
  options: SourceOptions = {},
): SourceCompilation {
  const compile: Compile = (definition, how) => compilePlan(definition, catalog, how);
  return compileRead(readDefinition(input, options), compile, options);
}

/** Compiles a source that has already been read. */
export function compileRead(
  { definition, graphs, draft, problems, source }: ReadResult,
  compile: Compile,
  options: Omit<SourceOptions, keyof ReadOptions> = {},
): SourceCompilation {
  const { workflows, knownWorkflows, ceiling } = options;
  const others = {
    ...(workflows && { workflows }),
    ...(knownWorkflows && { knownWorkflows }),
    ...(ceiling && { ceiling }),
  };
  if (definition !== undefined && graphs !== undefined) {
    const compiled = compile(definition, { source, graphs, verify: true, ...others });
    const isValid = compiled.plan !== undefined;
    return {
      definition: isValid ? definition : undefined,
      plan: compiled.plan,
      problems: inTextOrder([...problems, ...compiled.problems]),
      source,
    };
  }
  if (draft === undefined) return { definition: undefined, plan: undefined, problems, source };
  const sound = withoutBroken(draft.definition, problems, source);
  const isGraphWhole = problems.every(({ code }) => code !== 'UNKNOWN_NODE');
  const verify = problems.every(isLocal);
  const more = compile(sound, { source, graphs: draft.graphs, isGraphWhole, verify, ...others }).problems;
  return { definition: undefined, plan: undefined, problems: inTextOrder([...problems, ...more]), source };
}

/** Removes the keys that have errors, so that the rest has the right shape and can be checked further. */
function withoutBroken(
  definition: WorkflowDefinition,
  problems: readonly Problem[],
  source: SourceMap,
): WorkflowDefinition {
  const copy = structuredClone(definition) as unknown as Record<string, Json>;
  for (const { severity, path } of problems) {
    if (severity === 'error') for (const one of source.normalisedPaths(path)) takeOut(copy, one);
  }
  return copy as unknown as WorkflowDefinition;
}

/**
 * The number of keys that lead to the removed part: `nodes.<id>.retry`, `edges.<n>.when`, `config.timeout`, `output`.
 */
const DEPTH: Readonly<Record<string, number>> = { nodes: 3, edges: 3, config: 2 };

/** Inside a body, the path starts with `nodes.<id>.do`. */
function depthOf(path: DocumentPath): number {
  const body = bodyDepthOf(path);
  // The error is on the body as a whole.
  if (path.length === body) return body;
  const key = String(path[body]);
  return body + (body > 0 && key === 'config' ? 1 : (DEPTH[key] ?? 1));
}

function takeOut(definition: Record<string, Json>, path: DocumentPath): void {
  const depth = depthOf(path);
  let parent: Json = definition;
  for (const key of path.slice(0, depth - 1)) {
    const next: Json | undefined = (parent as Record<string, Json>)[key];
    // The graph holds the nodes and edges unchanged; a value of the wrong type is replaced as a whole.
    if (!isJsonObject(next ?? null) && !Array.isArray(next)) {
      (parent as Record<string, Json>)[key] = {};
      return;
    }
    parent = next as Json;
  }
  const last = path[depth - 1];
  if (last !== undefined && isJsonObject(parent)) delete (parent as Record<string, Json>)[last];
}
