/**
 * Checks data against the JSON Schemas of actions. A schema that cannot be compiled fails only the attempts that need
 * it.
 */
import {
  compileSchema,
  describePath,
  describeProblems,
  type Json,
  type JsonSchema,
  NebulaError,
  type SchemaCheck,
} from '@nebula/core';

export type Side = 'input' | 'output';

/** Throws if the value does not fit. Fills missing members of an input with their defaults first, in place. */
export function checkSchema(side: Side, schema: JsonSchema, value: Json, action: string): void {
  const check = compiled(side, schema, action);
  const problems = check.takesAll ? undefined : check.problems(value);
  if (problems === undefined) return;
  throw new NebulaError(
    side === 'input' ? 'INPUT_INVALID' : 'OUTPUT_INVALID',
    `${side} of ${action} does not fit its schema: ${describeProblems(problems, `the ${side}`)}`,
    { details: { problems: problems.map(({ path, message }) => ({ path: describePath(path, ''), message })) } },
  );
}

function compiled(side: Side, schema: JsonSchema, action: string): SchemaCheck {
  try {
    return compileSchema(schema, { fillDefaults: side === 'input' });
  } catch (error) {
    throw new NebulaError(
      'ACTION_SCHEMA_INVALID',
      `the ${side} schema of ${action} cannot be used: ${(error as Error).message}`,
      { hint: "Mend the schema in the action's definition", cause: error },
    );
  }
}
