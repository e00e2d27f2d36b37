/** Combines compilation and verification. `plan` does not import `verify`, because `verify` reads plans. */
import type { Catalog } from './action.ts';
import type { WorkflowDefinition } from './definition/index.ts';
import { type Compilation, type CompileOptions, compileDefinition } from './plan/compile.ts';
import { allSteps, type Steps } from './steps.ts';
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
