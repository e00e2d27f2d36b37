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
  type SchemaProblem,
} from '@nebula/core';
import { type Clock, checkInSlices } from '@nebula/ports';

export type Side = 'input' | 'output';

/**
 * Throws if the value does not fit. Fills missing members of an input with their defaults first, in place. Returns a
 * promise only if the value is large: the rest is checked in slices.
 */
export function checkSchema(
  side: Side,
  schema: JsonSchema,
  value: Json,
  action: string,
  clock: Clock,
): Promise<void> | undefined {
  const check = compiled(side, schema, action);
  if (check.takesAll) return undefined;
  const problems = checkInSlices(check, value, clock);
  if (problems instanceof Promise) return problems.then((found) => refuseMisfit(found, side, action));
  refuseMisfit(problems, side, action);
  return undefined;
}

function refuseMisfit(problems: readonly SchemaProblem[] | undefined, side: Side, action: string): void {
  if (problems === undefined) return;
  const error = new NebulaError(
    side === 'input' ? 'INPUT_INVALID' : 'OUTPUT_INVALID',
    `${side} of ${action} does not fit its schema: ${describeProblems(problems, `the ${side}`)}`,
    { details: { problems: problems.map(({ path, message }) => ({ path: describePath(path, ''), message })) } },
  );
  throw side === 'input' ? Object.assign(error, { parameter: problems[0]?.path }) : error;
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
