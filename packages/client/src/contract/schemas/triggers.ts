/** Triggers, the fleet, and the own password. */
import { Type } from 'typebox';
import { closed, Id, Moment, PageQuery } from './pieces.ts';

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const FiresQuery = {
  fires: Type.Optional(Type.Integer({ minimum: 0, maximum: 50, description: 'How many next fires to give.' })),
};

const TriggerKind = Type.Union([
  Type.Literal('schedule'),
  Type.Literal('webhook'),
  Type.Literal('event'),
  Type.Literal('file'),
]);

export const TriggerQuery = Type.Object(
  {
    project: Type.Optional(Id),
    workflowId: Type.Optional(Id),
    kind: Type.Optional(TriggerKind),
    ...FiresQuery,
    ...PageQuery,
  },
  closed,
);

export const Trigger = Type.Object(
  {
    kind: TriggerKind,
    id: Type.String(),
    project: Type.String(),
    workflowId: nullable(Type.String()),
    version: nullable(Type.Integer({ description: 'The active version; null for a schedule of the API.' })),
    active: Type.Boolean(),
    plan: Type.Optional(nullable(Type.String())),
    cron: Type.Optional(nullable(Type.String())),
    every: Type.Optional(nullable(Type.String())),
    timezone: Type.Optional(Type.String()),
    lastFiredAt: Type.Optional(nullable(Moment)),
    nextFires: Type.Optional(Type.Array(Moment, { description: 'Of a schedule: 5, or as many as `fires` asks for.' })),
    method: Type.Optional(Type.String({ description: 'Of a webhook.' })),
    path: Type.Optional(Type.String({ description: 'Of a webhook, or the pattern of a file trigger.' })),
    respond: Type.Optional(Type.String({ description: 'Of a webhook: `immediate` or `result`.' })),
    signed: Type.Optional(Type.Boolean({ description: 'Whether calls of the webhook must be signed.' })),
    event: Type.Optional(Type.String({ description: 'The name of the event.' })),
  },
  { $id: 'Trigger' },
);

export const OwnPasswordBody = Type.Object(
  {
    current: Type.String({ minLength: 1, maxLength: 1_000 }),
    password: Type.String({ minLength: 12, maxLength: 1_000 }),
  },
  closed,
);

export const Fleet = Type.Object(
  {
    engine: Type.Object({
      engineId: Type.String(),
      slots: Type.Integer({ description: 'Attempts that this process may run at once.' }),
      running: Type.Integer({ description: 'Attempts that it runs.' }),
      runs: Type.Integer({ description: 'Executions in its memory.' }),
      readyNodes: Type.Integer(),
      oldestReadyMs: Type.Integer({ description: 'How long the oldest ready node has waited.' }),
      leases: Type.Integer({ description: 'Attempts that remote workers run for it.' }),
    }),
    queue: Type.Object({
      depth: Type.Integer({ description: 'Tasks that wait or run.' }),
      routes: Type.Array(
        Type.Object({
          route: Type.String({ description: 'Empty: this process. Otherwise an action, and labels of workers.' }),
          waiting: Type.Integer(),
        }),
        { description: 'Waiting tasks by route.' },
      ),
    }),
  },
  { $id: 'Fleet' },
);
