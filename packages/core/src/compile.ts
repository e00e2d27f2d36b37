/** The compiler and the verification put together: `plan` does not know `verify`, which reads plans. */
import type { Catalog } from './action.ts';
import type { WorkflowDefinition } from './definition/index.ts';
import { type Compilation, type CompileOptions, compileDefinition } from './plan/compile.ts';
import { verify } from './verify/verify.ts';

export type { Compilation, CompileOptions } from './plan/compile.ts';

export function compilePlan(
  definition: WorkflowDefinition,
  catalog: Catalog,
  options: CompileOptions = {},
): Compilation {
  return compileDefinition(definition, catalog, options, verify);
}
