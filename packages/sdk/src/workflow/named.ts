/** Actions and workflows by name, typed by the output of `nebula types`. */
import type { NamedAction } from './call.ts';
import type { NamedWorkflow } from './uses.ts';

interface Types {
  readonly input: unknown;
  readonly output: unknown;
}

/** Returns a function that knows the names of `Actions`: `action('http.request@1')`. */
export function actionsNamed<Actions extends { readonly [K in keyof Actions]: Types }>() {
  return <Name extends keyof Actions & string>(
    name: Name,
  ): NamedAction<Actions[Name]['input'], Actions[Name]['output']> => Object.freeze({ name });
}

/** Like `actionsNamed`, for workflows. */
export function workflowsNamed<Workflows extends { readonly [K in keyof Workflows]: Types }>() {
  return <Id extends keyof Workflows & string>(
    id: Id,
  ): NamedWorkflow<Workflows[Id]['input'], Workflows[Id]['output']> => Object.freeze({ id });
}
