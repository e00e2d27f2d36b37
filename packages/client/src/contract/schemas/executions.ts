import { Type } from 'typebox';
import { MigrationRequest } from './migrations.ts';
import { AnyJson, closed, DurationText, Id, Moment, NodePath, PageQuery, page, RunVersion, Version } from './pieces.ts';

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const RunStatus = Type.Union([
  Type.Literal('pending'),
  Type.Literal('running'),
  Type.Literal('paused'),
  Type.Literal('compensating'),
  Type.Literal('completed'),
  Type.Literal('failed'),
  Type.Literal('cancelled'),
  Type.Literal('timed-out'),
]);

export const RunError = Type.Object({
  code: Type.String(),
  kind: Type.Union([Type.Literal('USER'), Type.Literal('SYSTEM')]),
  message: Type.String(),
  node: Type.Optional(Type.String()),
  details: Type.Optional(AnyJson),
});

export const StartBody = Type.Object(
  {
    workflowId: Type.Optional(Id),
    version: Type.Optional(Version),
    plan: Type.Optional(Type.String({ maxLength: 200, description: 'A launch plan, instead of a workflow.' })),
    input: Type.Optional(AnyJson),
    executionId: Type.Optional(Id),
    idempotencyKey: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description: 'Starts with the same key return the same execution, permanently.',
      }),
    ),
  },
  closed,
);

export const WaitQuery = {
  wait: Type.Optional({
    ...DurationText,
    description: 'Respond when the execution has ended, at the latest after this time.',
  }),
};

const WaitDocument = Type.Union(
  [
    Type.Object({ kind: Type.Literal('retry'), until: Moment }),
    Type.Object({ kind: Type.Literal('gate'), gate: AnyJson, until: nullable(Moment) }),
    Type.Object({
      kind: Type.Literal('event'),
      events: Type.Array(AnyJson),
      deadline: nullable(Moment),
      deadlineFixed: Type.Optional(Type.Literal(true, { description: 'A pause does not move the deadline.' })),
    }),
  ],
  {
    description:
      'What the node waits for: its next attempt, a permit, or an event such as a signal, an approval, a call or a time.',
  },
);

const DurationMs = Type.Number({ description: 'Milliseconds.' });

const NodeDocument = Type.Object({
  status: Type.String(),
  attempts: Type.Integer(),
  input: Type.Optional({ ...AnyJson, description: 'The resolved parameters; null before they are resolved.' }),
  output: Type.Optional(AnyJson),
  error: nullable(RunError),
  queuedAt: nullable(Moment),
  startedAt: nullable(Moment),
  finishedAt: nullable(Moment),
  durationMs: nullable(DurationMs),
  attempt: Type.Optional(
    Type.Object({ startedAt: Moment, worker: Type.String() }, { description: 'The running attempt.' }),
  ),
  skipped: Type.Optional(
    Type.Union(
      ['choice', 'failure', 'when', 'disabled', 'test'].map((why) => Type.Literal(why)),
      { description: 'The reason why the node was skipped. `test`: it takes no part in a test run.' },
    ),
  ),
  waitsFor: Type.Optional(WaitDocument),
  child: Type.Optional(
    Type.Object(
      { executionId: Type.String(), workflowId: nullable(Type.String()), plan: Type.Optional(Type.String()) },
      { description: 'The current or last child execution of the node.' },
    ),
  ),
  rounds: Type.Optional(
    Type.Object({
      total: nullable(Type.Integer()),
      open: Type.Integer({ description: 'Iterations under way; of an ended loop, those that it cancelled.' }),
      succeeded: Type.Integer(),
      failed: Type.Integer(),
      nextAt: Type.Optional(Moment),
    }),
  ),
});

const ScopeDocument = Type.Object({
  node: nullable(Type.String({ description: 'The composite node; null for the compensation of the run itself.' })),
  round: nullable(Type.Integer()),
  undoes: Type.Optional(Type.String({ description: 'The scope that it compensates; empty for the run.' })),
  status: Type.Union([Type.Literal('open'), Type.Literal('ending'), Type.Literal('failed')]),
  error: nullable(RunError),
});

export const Execution = Type.Object(
  {
    executionId: Type.String(),
    workflowId: Type.String(),
    version: RunVersion,
    status: RunStatus,
    trigger: AnyJson,
    parent: nullable(Type.Object({ executionId: Type.String(), node: Type.String() })),
    input: Type.Optional(AnyJson),
    variables: Type.Optional(Type.Record(Type.String(), AnyJson, { description: 'The current values.' })),
    output: Type.Optional(AnyJson),
    error: nullable(RunError),
    startedAt: nullable(Moment),
    updatedAt: nullable(Moment),
    finishedAt: nullable(Moment),
    durationMs: nullable(DurationMs),
    seq: Type.Integer({ description: 'The journal frame that the document reflects.' }),
    parked: Type.Optional(
      Type.Boolean({ description: 'Only a person, a signal, a call or a time over a minute away can advance it.' }),
    ),
    parkedExceptChildren: Type.Optional(
      Type.Boolean({ description: 'It is parked, or will be once all its open child executions are.' }),
    ),
    place: Type.Optional(
      Type.Object(
        { key: Type.String(), limit: Type.Integer() },
        { description: 'The concurrency key whose permit the pending execution waits for.' },
      ),
    ),
    paused: Type.Optional(Type.Object({ since: Moment, reason: nullable(Type.String()) })),
    ending: Type.Optional({
      ...RunStatus,
      description: 'The status with which the execution will end once its running attempts have stopped.',
    }),
    nodes: Type.Record(Type.String(), NodeDocument, { description: 'Nodes by path, in definition order.' }),
    nodesNext: Type.Optional(
      nullable(Type.String({ description: 'With `nodesLimit`: the `nodesAfter` of the next part, or null.' })),
    ),
    order: Type.Optional(
      Type.Array(Type.String(), {
        description: 'The ids in definition order, where JSON does not preserve it: ids that look like integers.',
      }),
    ),
    scopes: Type.Record(Type.String(), ScopeDocument, {
      description: 'Open and failed bodies by path; successful iterations are removed.',
    }),
  },
  { $id: 'Execution', additionalProperties: true },
);

export const DocumentQuery = Type.Object(
  {
    at: Type.Optional(
      Type.Integer({ minimum: 1, description: 'The state after this journal frame. Default: the current state.' }),
    ),
    values: Type.Optional(
      Type.Literal('none', { description: 'Omits inputs, outputs and variables, so that no stored value is read.' }),
    ),
    scope: Type.Optional(
      Type.String({
        maxLength: 2_000,
        description:
          'Only the nodes of this scope, not of those inside it: `items/3`, or `items` for the iterations of a loop that are kept. Empty: the nodes of the run itself.',
      }),
    ),
    nodesLimit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10_000,
        description: 'At most so many nodes; `nodesNext` says where others begin.',
      }),
    ),
    nodesAfter: Type.Optional({ ...NodePath, description: 'Nodes after this one: `nodesNext` of an earlier part.' }),
    node: Type.Optional({
      ...NodePath,
      description: 'The path of a node. If its iteration has ended, its document is read from the journal.',
    }),
  },
  closed,
);

export const ValuesQuery = Type.Object(
  {
    node: Type.Optional({ ...NodePath, description: 'The path of a node. Default: the execution itself.' }),
    at: Type.Optional(
      Type.Integer({ minimum: 1, description: 'The state after this journal frame. Default: the current state.' }),
    ),
  },
  closed,
);

const ValuePreview = Type.Union([
  Type.Object({ bytes: Type.Integer(), value: AnyJson }),
  Type.Object({
    bytes: Type.Integer(),
    beginning: Type.String({ description: 'The first part of its JSON text.' }),
    sha256: Type.Optional(Type.String({ description: 'The blob that has the whole value.' })),
  }),
]);

/** Null where there is no value yet. */
export const Values = Type.Object(
  {
    input: nullable(ValuePreview),
    output: nullable(ValuePreview),
    variables: Type.Optional(nullable(ValuePreview)),
    idempotencyKey: Type.Optional(nullable(Type.String({ description: 'Of a node: the key of all its attempts.' }))),
    cached: Type.Optional(Type.Boolean({ description: 'The output of the node came from the cache.' })),
  },
  { $id: 'Values' },
);

/** An execution in a list: the data that the store has without folding the journal. */
export const ExecutionSummary = Type.Object(
  {
    executionId: Type.String(),
    workflowId: Type.String(),
    version: RunVersion,
    project: Type.String(),
    status: RunStatus,
    createdAt: Moment,
    finishedAt: nullable(Moment),
    wakeAt: nullable(Moment),
    trigger: nullable(
      Type.String({ description: 'The type of the trigger; null for executions of earlier versions.' }),
    ),
    test: Type.Optional(Type.Literal(true, { description: 'The execution is a test run.' })),
    startedAt: nullable({ ...Moment, description: 'When it began; later than `createdAt` if it waited for a slot.' }),
    durationMs: nullable(DurationMs),
    parent: nullable(Type.String({ description: 'The execution whose node started this one.' })),
    error: nullable(
      Type.Object(
        { code: Type.String(), node: nullable(Type.String()), message: Type.String() },
        { description: 'The message is cut after 200 characters.' },
      ),
    ),
  },
  { $id: 'ExecutionSummary' },
);

/** `ended` is false when the wait timed out before the run ended. */
export const Result = Type.Object(
  {
    executionId: Type.String(),
    workflowId: Type.String(),
    status: RunStatus,
    ended: Type.Boolean(),
    output: AnyJson,
    error: nullable(RunError),
  },
  { $id: 'Result' },
);

export const ExecutionFilter = {
  project: Type.Optional(Id),
  workflowId: Type.Optional(Id),
  status: Type.Optional(
    Type.String({ maxLength: 200, description: 'One or several, separated by commas: `failed,timed-out`.' }),
  ),
  since: Type.Optional(Moment),
  until: Type.Optional(Moment),
};

export const ExecutionQuery = Type.Object(
  {
    ...ExecutionFilter,
    trigger: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 40,
        description:
          'A type of trigger: `api`, `manual`, `schedule`, `webhook`, `event`, `file`, `workflow`, `relaunch`, `test`.',
      }),
    ),
    errorCode: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    parent: Type.Optional({ ...Id, description: 'Children of this execution.' }),
    root: Type.Optional(Type.Boolean({ description: 'True: leaves out children.' })),
    search: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'The beginning of an execution id; if there is no such execution, a workflow id.',
      }),
    ),
    order: Type.Optional(Type.Union([Type.Literal('newest'), Type.Literal('oldest')], { default: 'newest' })),
    ...PageQuery,
  },
  closed,
);

export const Counts = Type.Object({ counts: Type.Record(Type.String(), Type.Integer()) });

export const RelaunchBody = Type.Object(
  {
    input: Type.Optional(AnyJson),
    version: Type.Optional(Type.Union([Version, Type.Literal('same'), Type.Literal('active')])),
  },
  closed,
);

export const JournalQuery = Type.Object(
  {
    after: Type.Optional(Type.Integer({ minimum: 0, description: 'Frames after this one.' })),
    before: Type.Optional(Type.Integer({ minimum: 1, description: 'Frames before this one; with `order=newest`.' })),
    order: Type.Optional(
      Type.Union([Type.Literal('oldest'), Type.Literal('newest')], {
        default: 'oldest',
        description:
          '`newest`: from the end backwards. `next` is then the `before` of the next page, else its `after`.',
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, default: 1_000 })),
  },
  closed,
);

/** A number where it is small enough for JSON, as that of a data folder is. */
const FeedPosition = Type.Union([Type.Integer(), Type.String()], {
  description: 'The position of the frame among those of all runs. Opaque: its form depends on the store.',
});

export const JournalFrame = Type.Object({
  seq: Type.Integer(),
  at: Moment,
  position: FeedPosition,
  entries: Type.Array(AnyJson),
});

export const TimelineEvent = Type.Object(
  {
    id: Type.Optional(Type.String({ description: 'The position to resume from: `Last-Event-ID`, or `?after`.' })),
    seq: Type.Optional(Type.Integer({ description: 'The journal frame of the execution that has the event.' })),
    executionId: Type.Optional(Type.String()),
    at: Moment,
    type: Type.String(),
    node: nullable(Type.String()),
    details: AnyJson,
  },
  { $id: 'Event' },
);

/** A page of numbered things that belong to one node. */
const numberedOf = (node: string, thing: string, limit: { readonly maximum: number; readonly default: number }) =>
  Type.Object(
    {
      node: Type.String({ minLength: 1, maxLength: 4_096, description: node }),
      cursor: Type.Optional(
        Type.String({ pattern: '^[0-9]{1,9}$', description: `The number of the last ${thing} before.` }),
      ),
      limit: Type.Optional(Type.Integer({ minimum: 1, ...limit })),
    },
    closed,
  );

const IterationStatus = Type.Union([
  Type.Literal('open'),
  Type.Literal('completed'),
  Type.Literal('failed'),
  Type.Literal('cancelled'),
]);

export const IterationsQuery = Type.Object(
  {
    ...numberedOf('The path of a loop: `items`, `outer/3/items`.', 'iteration', { maximum: 10_000, default: 1_000 })
      .properties,
    status: Type.Optional({ ...IterationStatus, description: 'Only iterations with this status.' }),
  },
  closed,
);

const Iteration = Type.Object(
  {
    iteration: Type.Integer(),
    status: IterationStatus,
    startedAt: Moment,
    endedAt: nullable(Moment),
    durationMs: Type.Optional({ ...nullable(DurationMs), description: 'Null until the iteration ends.' }),
    item: Type.Optional(Type.String({ description: 'The item of a forEach as JSON, cut after 200 characters.' })),
    error: Type.Optional(AnyJson),
  },
  { $id: 'Iteration' },
);

export const Iterations = Type.Object({
  ...page(Iteration).properties,
  counts: Type.Optional(
    Type.Object(
      { open: Type.Integer(), completed: Type.Integer(), failed: Type.Integer(), cancelled: Type.Integer() },
      { description: 'All iterations of the loop by status, whatever the filter.' },
    ),
  ),
});

export const ExplainQuery = Type.Object(
  {
    node: Type.Optional(NodePath),
    at: Type.Optional(Type.Integer({ minimum: 1, description: 'As of this journal frame. Default: now.' })),
  },
  closed,
);

export const BlobQuery = Type.Object(
  {
    maxBytes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 16 * 1024 * 1024,
        description: 'Only the first bytes, cut at a whole character. `x-total-bytes` has the size of the value.',
      }),
    ),
  },
  closed,
);

export const AttemptsQuery = numberedOf('The path of a node: `charge`, `items/3/pack`.', 'attempt', {
  maximum: 1_000,
  default: 100,
});

export const Attempt = Type.Object(
  {
    attempt: Type.Integer(),
    worker: nullable(Type.String({ description: 'The process that ran it; null for a child execution.' })),
    startedAt: Moment,
    endedAt: nullable(Moment),
    end: nullable(
      Type.Union(
        [
          Type.Literal('completed'),
          Type.Literal('failed'),
          Type.Literal('cancelled'),
          Type.Literal('unknown'),
          Type.Literal('returned'),
        ],
        { description: '`returned`: a worker handed it back, and it does not count.' },
      ),
    ),
    error: nullable(RunError),
    stack: nullable(
      Type.String({
        description: "Where in the author's own code the error was thrown. Kept as long as the log lines of the run.",
      }),
    ),
  },
  { $id: 'Attempt' },
);

const Cause = Type.Object(
  {
    code: Type.String({ description: 'Stable, for programs: `upstream`, `worker`, `edge`, `held-by` …' }),
    message: Type.String({ description: 'A sentence for people.' }),
    node: Type.Optional(Type.String({ description: 'The node that causes it, if it is another one.' })),
    edge: Type.Optional(
      Type.Object({
        from: Type.String(),
        to: Type.String(),
        on: Type.String(),
        verdict: Type.Union([
          Type.Literal('taken'),
          Type.Literal('choice'),
          Type.Literal('failure'),
          Type.Literal('undecided'),
        ]),
      }),
    ),
    value: Type.Optional(Type.Record(Type.String(), AnyJson, { description: 'The values in the sentence, by name.' })),
    link: Type.Optional(
      Type.Object(
        { executionId: Type.String(), node: Type.Optional(Type.String()) },
        { description: 'The execution, and optionally its node, to inspect next.' },
      ),
    ),
  },
  { $id: 'Cause' },
);

export const Explanation = Type.Object({
  node: nullable(Type.String()),
  status: Type.String(),
  causes: Type.Array(Cause, { description: 'Most important first.' }),
  reasons: Type.Array(Type.String(), { description: 'The messages of the causes.' }),
  next: Type.Array(Type.String(), { description: 'Suggested next commands.' }),
});

/** `settled` is false when the wait timed out before the run was quiescent; `execution` is its state then. */
export const Rest = Type.Object({
  executionId: Type.String(),
  settled: Type.Boolean(),
  parked: Type.Boolean({ description: 'Only a person or a signal can advance the execution.' }),
  resting: Type.Boolean({ description: 'Only a person, a signal or a child execution can advance the execution.' }),
  waitingFor: Type.Array(Explanation),
  inside: Type.Array(Type.String({ description: 'Parked child executions that it waits for.' })),
  execution: nullable(Execution),
});

export const Permits = Type.Object({
  items: Type.Array(Type.Object({ executionId: Type.String(), node: Type.String(), isHeld: Type.Boolean() })),
});

export const UndoPlan = Type.Object({
  toUndo: Type.Array(
    Type.Object({
      node: Type.String({ description: 'The node that is compensated.' }),
      action: Type.String(),
      with: AnyJson,
      problem: nullable(
        Type.String({ description: 'The reason why its parameters cannot be evaluated, so that it will fail.' }),
      ),
    }),
    { description: 'In execution order.' },
  ),
  undone: Type.Array(Type.String(), {
    description: 'Nodes compensated since the execution was last started or reopened.',
  }),
});

export const CancelBody = Type.Object(
  {
    reason: Type.Optional(Type.String({ maxLength: 2_000 })),
    node: Type.Optional(NodePath),
    compensate: Type.Optional(Type.Boolean({ default: true })),
  },
  closed,
);

export const ReasonBody = Type.Object({ reason: Type.Optional(Type.String({ maxLength: 2_000 })) }, closed);
export const EmptyBody = Type.Object({}, closed);

export const SignalBody = Type.Object(
  {
    signal: Type.String({ minLength: 1, maxLength: 500 }),
    key: Type.Optional(Type.String({ maxLength: 2_000 })),
    payload: Type.Optional(AnyJson),
  },
  closed,
);

export const PublishBody = Type.Object(
  {
    ...SignalBody.properties,
    project: Type.Optional({
      ...Id,
      description: 'The project whose executions receive the signal. Default: `default`.',
    }),
    keep: Type.Optional(DurationText),
  },
  closed,
);

export const Published = Type.Object({
  taken: nullable(
    Type.String({ description: 'The execution that received the signal; null if the signal was buffered.' }),
  ),
  started: Type.Array(Type.String({ description: 'Executions that the signal started.' })),
  refused: Type.Optional(
    Type.Array(Type.Object({ workflowId: Type.String(), code: Type.String(), message: Type.String() }), {
      description: 'Triggered workflows that could not be started, although others were started or reached.',
    }),
  ),
});

export const AnswerBody = Type.Object(
  {
    node: NodePath,
    approved: Type.Boolean(),
    by: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'The person who answers. Default: you. Only administrators may set it.',
      }),
    ),
    comment: Type.Optional(Type.String({ maxLength: 10_000 })),
    form: Type.Optional(AnyJson),
  },
  closed,
);

export const CallbackBody = Type.Object({ node: NodePath, payload: Type.Optional(AnyJson) }, closed);

export const ReplayBody = Type.Object(
  {
    node: NodePath,
    input: Type.Optional(AnyJson),
    fork: Type.Optional(
      Type.Boolean({ default: false, description: 'Replays into a new execution and leaves this one unchanged.' }),
    ),
    dryRun: Type.Optional(
      Type.Boolean({ default: false, description: 'Changes nothing, and says what would happen.' }),
    ),
  },
  closed,
);

const DryRun = Type.Optional(
  Type.Boolean({ default: false, description: 'Changes nothing, and says what would happen.' }),
);

export const RetryBody = Type.Object({ dryRun: DryRun }, closed);

export const ReopenPreview = Type.Object(
  {
    executionId: Type.String(),
    accepted: Type.Literal(false),
    again: Type.Array(Type.String(), {
      description: 'Nodes that would begin again, by path; a loop or a group with all nodes inside.',
    }),
    continues: Type.Array(Type.String(), { description: 'Loops and groups that would continue with what failed.' }),
    kept: Type.Array(Type.String(), { description: 'Nodes that would keep their results.' }),
    more: Type.Boolean({ description: 'True: there are more than 10,000 nodes, and some are left out.' }),
  },
  { $id: 'ReopenPreview' },
);

export const SettleBody = Type.Object(
  {
    node: NodePath,
    happened: Type.Boolean(),
    output: Type.Optional(AnyJson),
    then: Type.Optional(Type.Union([Type.Literal('retry'), Type.Literal('fail')])),
    attempt: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  closed,
);

/** The request is durable. `executionId` is that of the affected run; for a fork, that of the new run. */
export const Accepted = Type.Object({ executionId: Type.String(), accepted: Type.Literal(true) });

export const BulkBody = Type.Object(
  {
    operation: Type.Union([
      Type.Literal('cancel'),
      Type.Literal('pause'),
      Type.Literal('resume'),
      Type.Literal('retry'),
      Type.Literal('migrate'),
      Type.Literal('signal'),
      Type.Literal('delete'),
    ]),
    ids: Type.Optional(Type.Array(Id, { minItems: 1, maxItems: 1_000 })),
    filter: Type.Optional(Type.Object(ExecutionFilter, closed)),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, default: 1_000 })),
    reason: Type.Optional(Type.String({ maxLength: 2_000 })),
    compensate: Type.Optional(Type.Boolean()),
    signal: Type.Optional(SignalBody),
    migration: Type.Optional(
      Type.Object(
        { ...MigrationRequest, from: Type.Optional({ ...Version, description: 'Only runs of this version.' }) },
        closed,
      ),
    ),
  },
  closed,
);

export const BulkOutcome = Type.Object({
  done: Type.Integer(),
  failed: Type.Array(Type.Object({ executionId: Type.String(), code: Type.String(), message: Type.String() })),
  more: Type.Boolean({ description: 'True when the limit was reached before the filter was exhausted.' }),
});

export const LogLevel = Type.Union([
  Type.Literal('debug'),
  Type.Literal('info'),
  Type.Literal('warn'),
  Type.Literal('error'),
]);

const LogSubscription = {
  node: Type.Optional(NodePath),
  level: Type.Optional({ ...LogLevel, description: 'This level and above.' }),
  after: Type.Optional(Type.Integer({ minimum: 0, description: 'Lines after this position.' })),
};

export const FollowLogsQuery = Type.Object(LogSubscription, closed);

export const LogQuery = Type.Object(
  {
    ...LogSubscription,
    before: Type.Optional(Type.Integer({ minimum: 1, description: 'Lines before this position.' })),
    order: Type.Optional(
      Type.Union([Type.Literal('oldest'), Type.Literal('newest')], {
        default: 'oldest',
        description:
          '`newest`: from the end backwards. `next` is then the `before` of the next page, else its `after`.',
      }),
    ),
    search: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description:
          'Only lines whose message contains this text, without regard to case. A page examines 100,000 lines at most: it may be short, or empty, and have a next one.',
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, default: 1_000 })),
  },
  closed,
);

export const LogTextQuery = Type.Object({ node: LogSubscription.node, level: LogSubscription.level }, closed);

export const LogLine = Type.Object({
  position: Type.Integer(),
  at: Moment,
  level: LogLevel,
  node: nullable(Type.String()),
  attempt: nullable(Type.Integer()),
  message: Type.String(),
  fields: Type.Optional(Type.Record(Type.String(), AnyJson)),
});

export const FollowQuery = Type.Object(
  {
    after: Type.Optional(
      Type.String({ maxLength: 60, description: 'Events after this id; `now` for new events only. Default: all.' }),
    ),
    project: Type.Optional(Id),
    workflowId: Type.Optional(Id),
    level: Type.Optional(
      Type.Literal('runs', {
        description: 'Only events of executions, and of nodes that begin to wait for a person or a signal.',
      }),
    ),
  },
  closed,
);
