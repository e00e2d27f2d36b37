/** Checks the parameters of a node against its action's input schema, as far as they are written out. */
import type { Action } from '../action.ts';
import type { ProblemList } from '../definition/problem-list.ts';
import { NebulaError } from '../error.ts';
import { type DocumentPath, didYouMean } from '../problem.ts';
import { compileSchema, describePath, type SchemaProblem } from '../schema/index.ts';
import { isJsonObject, type Json, type JsonObject } from '../value.ts';

export function checkParameters(
  problems: ProblemList,
  action: Action,
  parameters: JsonObject,
  path: DocumentPath,
): void {
  if (action.input === undefined || action.describeOnly?.includes('input')) return;
  for (const problem of findings(action, parameters)) {
    // What an expression will give is known only when it runs; the sandbox checks it then.
    if (isOpen(parameters, problem.path)) continue;
    const where = describePath(problem.path, 'the parameters');
    const name = String(problem.path.at(-1) ?? '');
    const near = problem.message.startsWith('is not known') ? didYouMean(name, knownMembers(action)) : undefined;
    problems.error({
      code: 'BAD_PARAMETER',
      message: `'${where}' of ${action.id} ${problem.message}`,
      hint: near === undefined ? `see \`nebula actions ${action.id}\`` : `did you mean '${near}'?`,
      path: [...path, ...problem.path],
    });
  }
}

function findings(action: Action, parameters: JsonObject): readonly SchemaProblem[] {
  try {
    return compileSchema(action.input ?? true).problems(parameters) ?? [];
  } catch (error) {
    // A broken schema is the action's fault and fails its attempts; the workflow is not to blame.
    if (error instanceof NebulaError) return [];
    throw error;
  }
}

/** True when the value at the path, or one around it, is an expression. */
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

function knownMembers(action: Action): string[] {
  const schema = action.input;
  return isJsonObject(schema) && isJsonObject(schema.properties) ? Object.keys(schema.properties) : [];
}
