/** Action calls: the action and its parameters. */
import type { JsonObject, JsonSchema, NodeDefinition } from '@nebula/core';
import type { TypedAction } from '../define-action.ts';
import type { Fields } from './expression.ts';
import { invalid, type RenderScope, renderFields } from './render.ts';

/** An action known by its name, `http.request@1`, whose types come from elsewhere. */
export interface NamedAction<Input, Output> {
  readonly name: string;
  readonly '~types'?: { readonly input: Input; readonly output: Output };
}

export type AnyAction<Input, Output> = TypedAction<Input, Output> | NamedAction<Input, Output>;

type ValueOf<K extends 'retry' | 'timeout' | 'effect'> = NonNullable<NodeDefinition[K]>;

export interface CallOptions {
  readonly retry?: ValueOf<'retry'>;
  readonly timeout?: ValueOf<'timeout'>;
  readonly effect?: ValueOf<'effect'>;
}

/** A call of an action that undoes a node. */
export interface Call {
  readonly action: string;
  readonly with: object;
  readonly options: CallOptions;
}

/** Calls an action in `compensate`: `(charge) => call(refund, { id: charge.id })`. */
export function call<Input, Output>(
  action: AnyAction<Input, Output>,
  parameters: Fields<Input>,
  options: CallOptions = {},
): Call {
  return { action: actionName(action), with: parameters, options };
}

export function actionName(action: unknown): string {
  const { name, id, version } = (action ?? {}) as { name?: unknown; id?: unknown; version?: unknown };
  if (typeof name === 'string') return name;
  if (typeof id === 'string' && typeof version === 'string') return `${id}@${version}`;
  throw invalid(
    'the second argument is not an action',
    'pass the result of defineAction, or action(name) from `nebula types`',
  );
}

/** The output schema of the action, as far as known. */
export function outputSchema(action: object): JsonSchema {
  return (action as { readonly output?: JsonSchema }).output ?? true;
}

export function renderCall({ action, with: parameters, options }: Call, scope: RenderScope): JsonObject {
  return { action, with: renderFields(parameters, scope, 'compensate.with'), ...(options as JsonObject) };
}
