/** Checks literal values against the input schema of an action or a workflow. */
import type { Action } from '../action.ts';
import type { ProblemList } from '../definition/problem-list.ts';
import { NebulaError } from '../error.ts';
import { type DocumentPath, didYouMean } from '../problem.ts';
import { compileSchema, describePath, type SchemaCheck, type SchemaProblem } from '../schema/index.ts';
import { isJsonObject, type Json, type JsonObject, type JsonSchema } from '../value.ts';

export function checkParameters(
  problems: ProblemList,
  action: Action,
  parameters: JsonObject,
  path: DocumentPath,
): void {
  if (action.input === undefined || action.describeOnly?.includes('input')) return;
  const found = findings(action.input, parameters);
  reportAll(problems, found, parameters, path, {
    schema: action.input,
    code: 'BAD_PARAMETER',
    whole: 'the parameters',
    of: action.id,
    hint: `see \`nebula actions ${action.id}\``,
  });
}

/** Checks the input of another workflow, whose defaults fill in missing members. */
export function checkWorkflowInput(
  problems: ProblemList,
  workflow: { readonly id: string; readonly input?: JsonSchema },
  input: Json,
  path: DocumentPath,
): void {
  if (workflow.input === undefined) return;
  const found = findings(workflow.input, structuredClone(input), true);
  reportAll(problems, found, input, path, {
    schema: workflow.input,
    code: 'BAD_WORKFLOW_INPUT',
    whole: 'the input',
    of: `the workflow ${workflow.id}`,
    hint: `see the input of the workflow '${workflow.id}'`,
  });
}

interface Checked {
  readonly schema: JsonSchema;
  readonly code: string;
  readonly whole: string;
  readonly of: string;
  readonly hint: string;
}

function reportAll(
  problems: ProblemList,
  found: readonly SchemaProblem[],
  given: Json,
  path: DocumentPath,
  { schema, code, whole, of, hint }: Checked,
): void {
  for (const problem of found) {
    // The result of an expression is known, and checked, only when it is evaluated. The name of a member is known.
    const isOpenValue = isOpen(given, problem.path);
    if (isOpenValue && !(problem.isUnknown && !isOpen(given, problem.path.slice(0, -1)))) continue;
    const where = describePath(problem.path, whole);
    const name = String(problem.path.at(-1) ?? '');
    const near = problem.isUnknown ? didYouMean(name, knownMembers(schema)) : undefined;
    problems.error({
      code,
      message: `'${where}' of ${of} ${problem.message}`,
      hint: near === undefined ? hint : `did you mean '${near}'?`,
      path: [...path, ...problem.path],
      ...(isOpenValue && { isTightened: true }),
    });
  }
}

function findings(schema: JsonSchema, value: Json, fillDefaults = false): readonly SchemaProblem[] {
  try {
    return compileSchema(schema, { fillDefaults }).problems(value) ?? [];
  } catch (error) {
    // An invalid schema is its owner's mistake and fails the attempts; it is not a problem of this workflow.
    if (error instanceof NebulaError) return [];
    throw error;
  }
}

/** True when the value at the path, or an enclosing one, is an expression. */
function isOpen(parameters: Json, path: DocumentPath): boolean {
  let value: Json | undefined = parameters;
  for (const key of path) {
    if (typeof value === 'string') break;
    if (Array.isArray(value)) value = value[Number(key)];
    else if (isJsonObject(value)) value = Object.hasOwn(value, key) ? value[key] : undefined;
    else value = undefined;
  }
  return typeof value === 'string' && value.includes('{{');
}

function knownMembers(schema: JsonSchema): string[] {
  return isJsonObject(schema) && isJsonObject(schema.properties) ? Object.keys(schema.properties) : [];
}

/**
 * Compiles a JSON Schema of a definition, and reports an invalid one. The limits on schemas are newer than some
 * definitions that were accepted; a schema that is invalid by now rejects every value.
 */
export function checkedSchema(
  problems: ProblemList,
  schema: JsonSchema | undefined,
  path: DocumentPath,
  options: { readonly fillDefaults?: boolean } = {},
): SchemaCheck | undefined {
  if (schema === undefined) return undefined;
  try {
    return compileSchema(schema, { ...options, isBounded: !problems.isAccepted });
  } catch (error) {
    if (!(error instanceof NebulaError)) throw error;
    const { message, hint } = error;
    problems.error({ code: 'BAD_SCHEMA', message, hint, path, isTightened: true });
    const found = () => [{ path: [], message: `cannot be checked. ${message}` }];
    return problems.isAccepted ? { takesAll: false, fills: false, problems: found, begin: found } : undefined;
  }
}
