/** Schemas of all resources except workflows and executions. */
import { Type } from 'typebox';
import { CONTRACT_LIMITS, DEFAULT_LEASE_MS } from '../limits.ts';
import { LogLevel } from './executions.ts';
import { AnyJson, closed, DurationText, Id, Moment, NodePath, Role, Version } from './pieces.ts';

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const Info = Type.Object({
  product: Type.Literal('nebula'),
  version: Type.String(),
  preset: Type.String(),
  parts: Type.Array(Type.String()),
  authentication: Type.Union([Type.Literal('token'), Type.Literal('users')]),
});

const ActionExample = Type.Object({ title: Type.String(), with: Type.Record(Type.String(), AnyJson) });

export const ActionDocument = Type.Object(
  {
    id: Type.String(),
    version: Type.String(),
    title: nullable(Type.String()),
    description: nullable(Type.String()),
    category: nullable(Type.String({ description: 'The heading under which a palette lists it: `network`.' })),
    icon: nullable(Type.String({ description: 'The name of an icon: `globe`.' })),
    docs: nullable(Type.String({ description: 'More than the description, as Markdown.' })),
    examples: Type.Array(ActionExample),
    input: AnyJson,
    output: AnyJson,
    effect: Type.String({ description: '`pure`, `idempotent`, `once`, or `depends on the input`.' }),
    capabilities: Type.Array(Type.String()),
    credentials: nullable(
      Type.Array(Type.String(), {
        description: 'Aliases of the secrets that it may ask for. Null: any that the node names.',
      }),
    ),
    runs: Type.Union([Type.Literal('server'), Type.Literal('worker')], {
      description: '`server`: in the process of the server. `worker`: on a remote worker that has announced it.',
    }),
    project: nullable(Type.String({ description: 'For an announced action: the project whose workflows may use it.' })),
  },
  { $id: 'Action' },
);

export const SecretSummary = Type.Object({ name: Type.String(), updatedAt: nullable(Moment) });
export const SecretBody = Type.Object(
  { value: Type.Union([Type.String({ minLength: 4 }), Type.Record(Type.String(), Type.String())]) },
  closed,
);

const ConcurrencyPolicy = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: 10_000 }),
    policy: Type.Union([Type.Literal('skip'), Type.Literal('wait'), Type.Literal('replace')]),
  },
  closed,
);

export const LaunchPlanBody = Type.Object(
  {
    workflowId: Id,
    version: Type.Optional(Type.Union([Version, Type.Literal('active')])),
    description: Type.Optional(Type.String({ maxLength: 2_000 })),
    inputs: Type.Optional(
      Type.Record(Type.String(), AnyJson, { description: 'Default inputs; a start may override them.' }),
    ),
    fixed: Type.Optional(
      Type.Record(Type.String(), AnyJson, { description: 'Fixed inputs; a start cannot override them.' }),
    ),
    concurrency: Type.Optional(ConcurrencyPolicy),
    active: Type.Optional(Type.Boolean({ default: true })),
  },
  closed,
);
export const LaunchPlan = Type.Object(
  {
    planId: Type.String(),
    project: Type.String(),
    workflowId: Type.String(),
    version: Type.Union([Version, Type.Literal('active')]),
    description: nullable(Type.String()),
    inputs: Type.Record(Type.String(), AnyJson),
    fixed: Type.Record(Type.String(), AnyJson),
    concurrency: nullable(ConcurrencyPolicy),
    active: Type.Boolean(),
    updatedAt: Moment,
  },
  { $id: 'LaunchPlan' },
);

const CatchUp = Type.Union([Type.Literal('none'), Type.Literal('last'), Type.Literal('all')]);
export const ScheduleBody = Type.Object(
  {
    workflowId: Type.Optional(Id),
    plan: Type.Optional(Id),
    cron: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    every: Type.Optional(DurationText),
    timezone: Type.Optional(Type.String({ maxLength: 100 })),
    catchUp: Type.Optional(CatchUp),
    input: Type.Optional(AnyJson),
    active: Type.Optional(Type.Boolean({ default: true })),
  },
  closed,
);
export const Schedule = Type.Object(
  {
    scheduleId: Type.String(),
    project: Type.String(),
    source: Type.Union([Type.Literal('api'), Type.Literal('workflow')], {
      description: '`workflow`: created by the triggers of the active version.',
    }),
    workflowId: nullable(Type.String()),
    plan: nullable(Type.String()),
    cron: nullable(Type.String()),
    every: nullable(Type.String()),
    timezone: Type.String(),
    catchUp: CatchUp,
    input: AnyJson,
    active: Type.Boolean(),
    lastFiredAt: nullable(Moment),
    nextFireAt: nullable(Moment),
    nextFires: Type.Optional(Type.Array(Moment, { description: 'As many as `fires` asks for.' })),
  },
  { $id: 'Schedule' },
);

const Word = Type.String({ pattern: '^[a-z][a-z0-9-]{0,49}$', description: 'A lower-case word.' });
const AnnouncedAction = Type.Object(
  {
    id: Type.String({
      pattern: '^[a-zA-Z0-9_.-]{1,200}$',
      description: '1 to 200 letters, digits, `.`, `_` and `-`.',
    }),
    version: Type.Optional(
      Type.String({ pattern: '^[0-9]+(\\.[0-9]+)?$', default: '1', description: '`1`, or `1.2`.' }),
    ),
    title: Type.Optional(Type.String({ maxLength: 200 })),
    description: Type.Optional(Type.String({ maxLength: 10_000 })),
    category: Type.Optional(Word),
    icon: Type.Optional(Word),
    docs: Type.Optional(Type.String({ maxLength: 20_000 })),
    examples: Type.Optional(Type.Array(ActionExample, { maxItems: 20 })),
    input: Type.Optional(AnyJson),
    output: Type.Optional(AnyJson),
    effect: Type.Optional(Type.Union([Type.Literal('pure'), Type.Literal('idempotent'), Type.Literal('once')])),
  },
  closed,
);
const Labels = Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 50 });
export const WorkerBody = Type.Object(
  {
    workerId: Id,
    project: Type.Optional({
      ...Id,
      description: 'The worker gets work of this project only. Default: the only project of its key.',
    }),
    labels: Type.Optional(Labels),
    actions: Type.Array(AnnouncedAction, { maxItems: 1_000 }),
  },
  closed,
);
export const Worker = Type.Object(
  {
    workerId: Type.String(),
    project: Type.String(),
    labels: Labels,
    actions: Type.Array(Type.String()),
    status: Type.Union([Type.Literal('live'), Type.Literal('gone')]),
    running: Type.Integer(),
    registeredAt: Moment,
    lastSeenAt: Moment,
  },
  { $id: 'Worker' },
);
export const AnnouncedWorker = Type.Object(
  {
    ...Worker.properties,
    refused: Type.Array(Type.Object({ action: Type.String(), code: Type.String(), message: Type.String() }), {
      description: 'Announced actions that were rejected; the worker gets no work for them.',
    }),
  },
  { $id: 'AnnouncedWorker' },
);
export const ClaimBody = Type.Object(
  {
    max: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 1 })),
    lease: Type.Optional({
      ...DurationText,
      description: `The time without a heartbeat after which the lease expires. Default: ${DEFAULT_LEASE_MS / 1_000} s.`,
    }),
    wait: Type.Optional({ ...DurationText, description: 'The maximum time to wait for work; at most one minute.' }),
    actions: Type.Optional(
      Type.Array(Type.String(), { description: 'Restricts the claim to these announced actions.' }),
    ),
  },
  closed,
);
const ClaimedWork = Type.Object(
  {
    leaseId: Type.String(),
    leaseUntil: Moment,
    action: Type.String({ description: '`name@version`.' }),
    input: AnyJson,
    executionId: Type.String(),
    workflowId: Type.String(),
    node: Type.String(),
    attempt: Type.Integer(),
    idempotencyKey: Type.String(),
    deadline: nullable(Moment),
    credentials: Type.Array(Type.String({ description: 'Aliases whose secrets the worker may read.' })),
    capabilities: Type.Optional({ ...AnyJson, description: 'The capabilities that the action is granted.' }),
    traceparent: Type.Optional(Type.String({ description: 'The W3C trace context of the attempt.' })),
  },
  { $id: 'Work' },
);
export const Claimed = Type.Object({ work: Type.Array(ClaimedWork) });
export const LeaseBeatBody = Type.Object(
  {
    lease: Type.Optional(DurationText),
    progress: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    message: Type.Optional(Type.String({ maxLength: 2_000 })),
  },
  closed,
);
export const LeaseState = Type.Object({
  leaseUntil: Moment,
  cancel: nullable(Type.String({ description: 'The reason why the attempt should stop, or null.' })),
});
export const LeaseLogsBody = Type.Object(
  {
    lines: Type.Array(
      Type.Object(
        {
          at: Type.Optional(Moment),
          level: Type.Optional(LogLevel),
          message: Type.String({ maxLength: CONTRACT_LIMITS.maxLogLineChars }),
          fields: Type.Optional(Type.Record(Type.String(), AnyJson)),
        },
        closed,
      ),
      { maxItems: CONTRACT_LIMITS.maxLogLines },
    ),
  },
  closed,
);
export const CompleteBody = Type.Object({ output: Type.Optional(AnyJson) }, closed);
export const FailBody = Type.Object(
  {
    code: Type.Optional(
      Type.String({ pattern: '^[A-Z][A-Z0-9_]{0,99}$', description: 'Upper case: `CARD_DECLINED`.' }),
    ),
    message: Type.String({ maxLength: 100_000 }),
    kind: Type.Optional(Type.Union([Type.Literal('USER'), Type.Literal('SYSTEM')])),
    details: Type.Optional(AnyJson),
    outcome: Type.Optional(
      Type.Union([Type.Literal('failed'), Type.Literal('unknown'), Type.Literal('returned')], {
        description:
          '`unknown`: the attempt may have taken effect. `returned`: the attempt was not started, and another worker may run it.',
      }),
    ),
  },
  closed,
);
export const Ended = Type.Object({ accepted: Type.Literal(true) });
export const Revealed = Type.Object({ value: Type.Union([Type.String(), Type.Record(Type.String(), Type.String())]) });

export const CacheEntry = Type.Object({
  key: Type.String(),
  action: Type.String(),
  executionId: Type.String(),
  node: NodePath,
  at: Moment,
  expiresAt: nullable(Moment),
});
export const Forgotten = Type.Object({ forgotten: Type.Integer() });

export const AuditEntry = Type.Object({
  id: Type.String(),
  at: Moment,
  who: Type.String(),
  operation: Type.String(),
  target: nullable(Type.String()),
  project: nullable(Type.String()),
  outcome: Type.Integer({ description: 'The HTTP status.' }),
  details: AnyJson,
});

export const LoginBody = Type.Object(
  { user: Type.String({ minLength: 1, maxLength: 200 }), password: Type.String({ minLength: 1, maxLength: 1_000 }) },
  closed,
);
export const SignInCode = Type.Object({
  code: Type.String({ description: 'Works once.' }),
  expiresAt: Moment,
});
export const SignInBody = Type.Object({ code: Type.String({ minLength: 1, maxLength: 200 }) }, closed);
export const Session = Type.Object({
  user: Type.String(),
  csrfToken: Type.String({ description: 'Send it as `X-CSRF-Token` with the cookie.' }),
  expiresAt: Moment,
});
export const Me = Type.Object({
  user: Type.String(),
  kind: Type.Union([Type.Literal('token'), Type.Literal('user'), Type.Literal('key')]),
  admin: Type.Boolean(),
  roles: Type.Record(Type.String(), Role),
  scopes: nullable(Type.Array(Type.String())),
  csrfToken: Type.Optional(Type.String({ description: 'The CSRF token of the session, for a reloaded page.' })),
});
export const UserBody = Type.Object(
  {
    name: Type.Optional(Type.String({ maxLength: 200 })),
    password: Type.Optional(Type.String({ minLength: 12, maxLength: 1_000 })),
    admin: Type.Optional(Type.Boolean()),
    disabled: Type.Optional(Type.Boolean()),
    roles: Type.Optional(Type.Record(Type.String(), Role, { description: 'Roles by project.' })),
  },
  closed,
);
export const User = Type.Object(
  {
    userId: Type.String(),
    name: Type.String(),
    admin: Type.Boolean(),
    disabled: Type.Boolean(),
    roles: Type.Record(Type.String(), Role),
    createdAt: Moment,
  },
  { $id: 'User' },
);
export const KeyBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 200 }),
    roles: Type.Record(Type.String(), Role),
    scopes: Type.Optional(
      Type.Array(Type.String({ maxLength: 100 }), { description: 'Allowed operations. Default: all.' }),
    ),
    expires: Type.Optional(DurationText),
  },
  closed,
);
export const KeySummary = Type.Object({
  keyId: Type.String(),
  name: Type.String(),
  owner: Type.String(),
  roles: Type.Record(Type.String(), Role),
  scopes: nullable(Type.Array(Type.String())),
  createdAt: Moment,
  expiresAt: nullable(Moment),
});
export const CreatedKey = Type.Object({
  ...KeySummary.properties,
  token: Type.String({ description: 'Shown once.' }),
});
const Patterns = Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), { maxItems: 200 });
const Capabilities = Type.Object(
  {
    network: Type.Optional(Patterns),
    files: Type.Optional(Type.Object({ read: Type.Optional(Patterns), write: Type.Optional(Patterns) }, closed)),
    shell: Type.Optional(Patterns),
    env: Type.Optional(Patterns),
  },
  closed,
);
const Ceiling = Type.Union([Capabilities, Type.Literal('all')], {
  description: 'The most that its executions may be granted; `all` for everything that workflows declare.',
});
export const ProjectBody = Type.Object(
  {
    name: Type.Optional(Type.String({ maxLength: 200 })),
    ceiling: Type.Optional(
      Type.Union([Ceiling, Type.Null()], { description: '`null` resets it to the server configuration.' }),
    ),
  },
  closed,
);
export const Project = Type.Object(
  { projectId: Type.String(), name: Type.String(), ceiling: Ceiling, createdAt: Moment },
  { $id: 'Project' },
);

export const BackupBody = Type.Object(
  {
    withKey: Type.Optional(
      Type.Boolean({ description: 'Include the key of the secrets. Allowed on a data folder only, not over HTTP.' }),
    ),
  },
  closed,
);

const NotificationKind = Type.Union([Type.Literal('failed'), Type.Literal('unknown'), Type.Literal('approval')], {
  description:
    '`failed`: a run failed, timed out or is stuck; `unknown`: an unknown outcome waits to be settled; `approval`: an approval is waited for.',
});
export const NotificationBody = Type.Object(
  {
    project: Type.Optional(Id),
    url: Type.String({
      minLength: 1,
      maxLength: 2_000,
      description:
        'The webhook (`https://…`) or mail server (`smtps://…`). `{{NAME}}` in its path or query stands for a secret of the project.',
    }),
    secret: Type.Optional(
      Type.String({ maxLength: 128, description: 'The secret of the project that signs the body: `X-Signature`.' }),
    ),
    network: Type.Optional(
      Type.Array(Type.String({ maxLength: 300 }), {
        maxItems: 20,
        description: 'Addresses that the host may lead to, if they are not public.',
      }),
    ),
    on: Type.Optional(Type.Array(NotificationKind, { minItems: 1, maxItems: 3 })),
    workflows: Type.Optional(Type.Array(Id, { minItems: 1, maxItems: 100 })),
    tag: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    gather: Type.Optional(DurationText),
    active: Type.Optional(Type.Boolean({ default: true })),
  },
  closed,
);
export const Notification = Type.Object(
  {
    notificationId: Type.String(),
    project: Type.String(),
    url: Type.String(),
    secret: nullable(Type.String()),
    network: Type.Array(Type.String()),
    on: Type.Array(NotificationKind),
    workflows: nullable(Type.Array(Type.String())),
    tag: nullable(Type.String()),
    gather: Type.String({ description: 'Events within this time after the first one are one message.' }),
    active: Type.Boolean(),
    lastSentAt: nullable(Moment),
    lastError: nullable(Type.String({ description: 'Why the last attempt failed; null after a success.' })),
    nextTryAt: nullable(Moment),
  },
  { $id: 'Notification' },
);
export const NotificationTest = Type.Object({ delivered: Type.Boolean(), error: nullable(Type.String()) });
