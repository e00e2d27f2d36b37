/** The conditions of a wait. */
import type { Json, JsonObject, JsonSchema } from '@nebula/core';
import { isJsonObject } from '@nebula/core/authoring';
import type { Parsed, Schema } from '../define-action.ts';
import type { Expression, Value } from './expression.ts';
import { invalid, type RenderScope, renderCondition, renderValue } from './render.ts';
import { objectSchema } from './schema-path.ts';
import { dataSchema } from './workflow-schema.ts';

/** The output is `{ event, payload, at }`. */
export interface Wait<Event extends string, Payload> {
  readonly '~types'?: { readonly event: Event; readonly payload: Payload };
}

export interface WaitOutput<Event, Payload> {
  readonly event: Event;
  readonly payload: Payload;
  /** The time of the event, in ISO 8601. */
  readonly at: string;
}

export interface Approval<Form> {
  readonly approved: true;
  readonly by: string;
  readonly comment: string | null;
  readonly form: Form;
}

/** Without a schema, the type of the payload is unknown. */
type Carried<S extends Schema | undefined> = [S] extends [undefined] ? unknown : Parsed<S>;

interface WaitDetails {
  readonly payload: JsonSchema;
  render(scope: RenderScope): JsonObject;
}

const detailsOf = new WeakMap<object, WaitDetails>();

function waitFor<Event extends string, Payload>(
  payload: JsonSchema,
  render: WaitDetails['render'],
): Wait<Event, Payload> {
  const wait = Object.freeze({});
  detailsOf.set(wait, { payload, render });
  return wait;
}

export const wait = Object.freeze({
  /** Waits for a duration, e.g. `10s`. */
  for: (duration: Value<string | number>): Wait<'for', null> =>
    waitFor({ type: 'null' }, (scope) => ({ for: renderValue(duration, scope, 'for') })),

  /** Waits until a date in ISO 8601. */
  until: (moment: string | Expression<string>): Wait<'until', null> =>
    waitFor({ type: 'null' }, (scope) => ({
      until: typeof moment === 'string' ? moment : renderCondition(moment, scope, 'until'),
    })),

  /** Waits for a signal with that name and, if given, that key. */
  signal: <const Name extends string, const S extends Schema | undefined = undefined>(
    name: Name,
    options: { readonly key?: Value<string | number>; readonly schema?: S } = {},
  ): Wait<Name, Carried<S>> => {
    const schema = dataSchema(options.schema, 'the schema of a signal');
    return waitFor(schema ?? true, (scope) => ({
      signal: name,
      ...(options.key !== undefined && { key: renderValue(options.key, scope, 'key') }),
      ...(schema !== undefined && { schema }),
    }));
  },

  /** Waits for a person. A rejection fails the node with REJECTED. */
  approval: <const S extends Schema | undefined = undefined>(
    options: {
      readonly title?: Value<string>;
      readonly who?: Value<string> | readonly Value<string>[];
      readonly form?: S;
    } = {},
  ): Wait<'approval', Approval<Carried<S>>> => {
    const form = dataSchema(options.form, 'the form of an approval');
    const payload = objectSchema({
      approved: { type: 'boolean' },
      by: { type: 'string' },
      comment: { type: ['string', 'null'] },
      form: form ?? true,
    });
    return waitFor(payload, (scope) => ({
      approval: {
        ...(options.title !== undefined && { title: renderValue(options.title, scope, 'title') }),
        ...(options.who !== undefined && { who: renderValue(options.who, scope, 'who') }),
        ...(form !== undefined && { form }),
      },
    }));
  },

  /** Waits for an HTTP call. */
  callback: <Payload = unknown>(): Wait<'callback', Payload> => waitFor(true, () => ({ callback: true })),
});

export function renderWait(waits: unknown, scope: RenderScope): { definition: JsonObject; schema: JsonSchema } {
  const list = (Array.isArray(waits) ? waits : [waits]).map((one) => {
    const known = isJsonObject(one) ? detailsOf.get(one) : undefined;
    if (known === undefined) throw invalid('this is not a wait', "write e.g. wait.for('10s') or wait.signal('paid')");
    return known;
  });
  const rendered: Json[] = list.map((one) => one.render(scope));
  const [only] = list;
  const payload = list.length === 1 && only !== undefined ? only.payload : true;
  return {
    definition: Array.isArray(waits) ? { any: rendered } : (rendered[0] as JsonObject),
    schema: objectSchema({ event: { type: 'string' }, payload, at: { type: 'string' } }),
  };
}
