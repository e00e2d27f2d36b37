/** Actions and workflows by their name, typed by what `nebula types` wrote. */
import type { NamedAction } from './call.ts';
import type { NamedWorkflow } from './uses.ts';

interface Types {
  readonly input: unknown;
  readonly output: unknown;
}

/** Gives a function that knows the names of `Actions`: `action('http.request@1')`. */
export function actionsNamed<Actions extends { readonly [K in keyof Actions]: Types }>() {
  return <Name extends keyof Actions & string>(
    name: Name,
  ): NamedAction<Actions[Name]['input'], Actions[Name]['output']> => Object.freeze({ name });
}

/** The same for workflows. */
export function workflowsNamed<Workflows extends { readonly [K in keyof Workflows]: Types }>() {
  return <Id extends keyof Workflows & string>(
    id: Id,
  ): NamedWorkflow<Workflows[Id]['input'], Workflows[Id]['output']> => Object.freeze({ id });
}
