/** Schemas that several operations share. */
import { Type } from 'typebox';
import { PAGE_LIMITS } from '../limits.ts';

export const AnyJson = Type.Unknown({ description: 'Any JSON value.' });

/** Ids that become part of paths and keys. */
export const Id = Type.String({
  pattern: '^[a-zA-Z0-9_-]{1,200}$',
  description: '1 to 200 letters, digits, `_` and `-`.',
});

export const ActionId = Type.String({
  pattern: '^[a-zA-Z0-9_.-]{1,200}(@[0-9]+(\\.[0-9]+)?)?$',
  description: 'A name, with a version or without: `http.request@1`.',
});

export const NodePath = Type.String({ minLength: 1, maxLength: 2_000, description: 'E.g. `items/3/pack`.' });

export const Moment = Type.String({ format: 'date-time', description: 'ISO 8601, in UTC.' });

export const DurationText = Type.String({ maxLength: 40, examples: ['30s', '5m', 'PT1H'], description: 'A duration.' });

export const Version = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });

export const RunVersion = Type.Integer({
  minimum: 0,
  maximum: 2_147_483_647,
  description: '0: a test run, whose definition is no version.',
});

/** Optional members are omitted, never null, unless null has a meaning. */
export const closed = { additionalProperties: false } as const;

export const PageQuery = {
  cursor: Type.Optional(Type.String({ maxLength: 1_000, description: 'From `next` of an earlier page.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_LIMITS.max, default: PAGE_LIMITS.default })),
};

export function page<T extends Type.TSchema>(item: T) {
  return Type.Object({
    items: Type.Array(item),
    next: Type.Union([Type.String(), Type.Null()], { description: 'The cursor of the next page, or null.' }),
  });
}

/** RFC 9457, extended by a stable code, a hint and the invalid fields. */
export const ProblemDetails = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    code: Type.String({ description: 'Stable, upper case: `UNKNOWN_EXECUTION`.' }),
    hint: Type.Optional(Type.String()),
    retryable: Type.Optional(Type.Boolean()),
    details: Type.Optional(AnyJson),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          pointer: Type.String({ description: 'A JSON pointer into the body, or `?name` of the query.' }),
          detail: Type.String(),
        }),
      ),
    ),
  },
  { $id: 'Problem' },
);
export type ProblemDetails = Type.Static<typeof ProblemDetails>;

export const Role = Type.Union(
  [Type.Literal('viewer'), Type.Literal('operator'), Type.Literal('editor'), Type.Literal('owner')],
  { description: 'Each role includes the previous ones: read, operate executions, change workflows, manage members.' },
);
export type Role = Type.Static<typeof Role>;
