/** Compiles a JSON Schema of a definition, and reports an invalid one. */
import type { ProblemList } from '../definition/problem-list.ts';
import { NebulaError } from '../error.ts';
import type { DocumentPath } from '../problem.ts';
import { compileSchema, type SchemaCheck } from '../schema/index.ts';
import type { JsonSchema } from '../value.ts';

export function checkedSchema(
  problems: ProblemList,
  schema: JsonSchema | undefined,
  path: DocumentPath,
  options: { readonly fillDefaults?: boolean } = {},
): SchemaCheck | undefined {
  if (schema === undefined) return undefined;
  try {
    return compileSchema(schema, options);
  } catch (error) {
    if (!(error instanceof NebulaError)) throw error;
    problems.error({ code: 'BAD_SCHEMA', message: error.message, hint: error.hint, path });
    return undefined;
  }
}
