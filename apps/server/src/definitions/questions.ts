/** The questions that the checking thread asks the process, and waits for. All messages are JSON text. */
import type { Action, Catalog, Json, Problem } from '@nebula/core';
import type { DefinitionInput } from './check.ts';

export interface Job {
  readonly input: DefinitionInput;
  /** JSON text if the definition was not text, so that the thread also does the parsing. */
  readonly ceiling: Json;
  readonly capabilities: Json;
  readonly labels: Json;
  readonly isBounded: boolean;
}

/** The answer to a job. */
export type Done =
  | { readonly definition: Json | null; readonly problems: readonly Problem[] }
  | { readonly tooMany: 'nodes' | 'edges'; readonly count: number }
  | { readonly fault: string };

export type Question =
  | { readonly ask: 'action'; readonly reference: string }
  | { readonly ask: 'actionIds' }
  | { readonly ask: 'versionsOf'; readonly id: string }
  | { readonly ask: 'retryPolicies' }
  | { readonly ask: 'reaches'; readonly reference: string; readonly list: string; readonly input: Json }
  | { readonly ask: 'workflow'; readonly id: string; readonly version: number | null };

/** An action without its functions, and which of them it has. */
export type ActionOutline = Omit<Action, 'run' | 'verify' | 'effect' | 'reaches' | 'parseInput' | 'parseOutput'> & {
  readonly effect: 'pure' | 'idempotent' | 'once' | 'computed' | null;
  readonly reaches: readonly string[];
};

export function outlineOf(action: Action): ActionOutline {
  const { run: _, verify: __, parseInput: ___, parseOutput: ____, effect, reaches = {}, ...rest } = action;
  return {
    ...rest,
    effect: typeof effect === 'function' ? 'computed' : (effect ?? null),
    reaches: Object.keys(reaches),
  };
}

/** The catalog in the thread; caches the answers. */
export function catalogOver(
  ask: (question: Question) => Json | undefined,
  { capabilities, labels }: Pick<Catalog, 'capabilities' | 'labels'>,
): Catalog {
  const actions = new Map<string, Action | undefined>();
  const lists = new Map<string, readonly string[]>();
  const listOf = (question: Question): readonly string[] => {
    const key = JSON.stringify(question);
    const known = lists.get(key) ?? (ask(question) as readonly string[]);
    lists.set(key, known);
    return known;
  };
  return {
    capabilities,
    labels,
    action: (reference) => {
      if (!actions.has(reference)) {
        const outline = ask({ ask: 'action', reference }) as ActionOutline | undefined;
        actions.set(reference, outline && actionOver(ask, reference, outline));
      }
      return actions.get(reference);
    },
    actionIds: () => listOf({ ask: 'actionIds' }),
    versionsOf: (id) => listOf({ ask: 'versionsOf', id }),
    retryPolicy: (name) => (listOf({ ask: 'retryPolicies' }).includes(name) ? () => null : undefined),
    retryPolicyNames: () => listOf({ ask: 'retryPolicies' }),
  };
}

function actionOver(
  ask: (question: Question) => Json | undefined,
  reference: string,
  { effect, reaches, ...outline }: ActionOutline,
): Action {
  const tell = (list: string) => (input: Json) => ask({ ask: 'reaches', reference, list, input }) as string | undefined;
  return {
    ...outline,
    ...(effect !== null && { effect: effect === 'computed' ? () => 'once' : effect }),
    ...(reaches.length > 0 && { reaches: Object.fromEntries(reaches.map((list) => [list, tell(list)])) }),
    run: () => null,
  };
}
