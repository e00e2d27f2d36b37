/** What a wait waits for. */
import type { Json, JsonObject, JsonSchema } from '@nebula/core';
import { isJsonObject } from '@nebula/core/authoring';
import type { Parsed, Schema } from '../define-action.ts';
import type { Expression, Value } from './expression.ts';
import { invalid, type Place, renderCondition, renderValue } from './render.ts';
import { objectSchema } from './schema-path.ts';
import { dataSchema } from './workflow-schema.ts';

/** Ends with `{ event, payload, at }`. */
export interface Wait<Event extends string, Payload> {
  readonly '~types'?: { readonly event: Event; readonly payload: Payload };
}

export interface WaitOutput<Event, Payload> {
  readonly event: Event;
  readonly payload: Payload;
  /** When it happened, in ISO 8601. */
  readonly at: string;
}

export interface Approval<Form> {
  readonly approved: true;
  readonly by: string;
  readonly comment: string | null;
  readonly form: Form;
}

/** Undefined: no schema, so nothing is known of what comes. */
type Carried<S extends Schema | undefined> = [S] extends [undefined] ? unknown : Parsed<S>;

interface Told {
  readonly payload: JsonSchema;
  render(place: Place): JsonObject;
}

const told = new WeakMap<object, Told>();

function waitFor<Event extends string, Payload>(payload: JsonSchema, render: Told['render']): Wait<Event, Payload> {
  const wait = Object.freeze({});
  told.set(wait, { payload, render });
  return wait;
}

export const wait = Object.freeze({
  /** So long: `10s`. */
  for: (duration: Value<string | number>): Wait<'for', null> =>
    waitFor({ type: 'null' }, (place) => ({ for: renderValue(duration, place, 'for') })),

  /** Until a moment, in ISO 8601. */
  until: (moment: string | Expression<string>): Wait<'until', null> =>
    waitFor({ type: 'null' }, (place) => ({
      until: typeof moment === 'string' ? moment : renderCondition(moment, place, 'until'),
    })),

  /** For a signal of that name, and with that key where there is one. */
  signal: <const Name extends string, const S extends Schema | undefined = undefined>(
    name: Name,
    options: { readonly key?: Value<string | number>; readonly schema?: S } = {},
  ): Wait<Name, Carried<S>> => {
    const schema = dataSchema(options.schema, 'the schema of a signal');
    return waitFor(schema ?? true, (place) => ({
      signal: name,
      ...(options.key !== undefined && { key: renderValue(options.key, place, 'key') }),
      ...(schema !== undefined && { schema }),
    }));
  },

  /** For a person. A rejection fails the node with REJECTED. */
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
    return waitFor(payload, (place) => ({
      approval: {
        ...(options.title !== undefined && { title: renderValue(options.title, place, 'title') }),
        ...(options.who !== undefined && { who: renderValue(options.who, place, 'who') }),
        ...(form !== undefined && { form }),
      },
    }));
  },

  /** For a call from outside. */
  callback: <Payload = unknown>(): Wait<'callback', Payload> => waitFor(true, () => ({ callback: true })),
});

export function renderWait(waits: unknown, place: Place): { definition: JsonObject; schema: JsonSchema } {
  const list = (Array.isArray(waits) ? waits : [waits]).map((one) => {
    const known = isJsonObject(one) ? told.get(one) : undefined;
    if (known === undefined) throw invalid('this is no wait', "write wait.for('10s'), wait.signal('paid') and so on");
    return known;
  });
  const rendered: Json[] = list.map((one) => one.render(place));
  const [only] = list;
  const payload = list.length === 1 && only !== undefined ? only.payload : true;
  return {
    definition: Array.isArray(waits) ? { any: rendered } : (rendered[0] as JsonObject),
    schema: objectSchema({ event: { type: 'string' }, payload, at: { type: 'string' } }),
  };
}
