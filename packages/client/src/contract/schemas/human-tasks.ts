/** What waits for a person in all runs, and figures of runs by time. */
import { Type } from 'typebox';
import { AnyJson, closed, DurationText, Id, Moment, PageQuery } from './pieces.ts';

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

const HumanTaskFilter = {
  project: Type.Optional({ ...Id, description: 'Default: all projects that you may see.' }),
  workflowId: Type.Optional(Id),
  kind: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'One or several of `approval`, `unknown`, `signal`, `callback`, separated by commas.',
    }),
  ),
};

export const HumanTaskQuery = Type.Object(
  {
    ...HumanTaskFilter,
    order: Type.Optional(
      Type.Union([Type.Literal('newest'), Type.Literal('deadline')], {
        default: 'newest',
        description: '`deadline`: the earliest deadline first, then tasks without one.',
      }),
    ),
    ...PageQuery,
  },
  closed,
);

export const HumanTaskCountQuery = Type.Object(HumanTaskFilter, closed);

const Kind = Type.Union(
  [Type.Literal('approval'), Type.Literal('unknown'), Type.Literal('signal'), Type.Literal('callback')],
  {
    description:
      'To do: answer an approval, settle an unknown outcome, send a signal, or make the call that the node waits for.',
  },
);

export const HumanTask = Type.Object(
  {
    executionId: Type.String(),
    workflowId: Type.String(),
    project: Type.String(),
    node: Type.String(),
    event: Type.String({ description: 'The awaited event of the node; empty for an unknown outcome.' }),
    kind: Kind,
    since: Moment,
    deadline: nullable(Moment),
    title: Type.Optional(Type.String({ description: 'Of an approval.' })),
    who: Type.Optional(
      Type.Array(Type.String(), { description: 'The names of those who may answer. Absent: any operator.' }),
    ),
    form: Type.Optional({
      ...AnyJson,
      description: 'The JSON Schema of the form of an approval. A form above 8 KB is only in the definition.',
    }),
    signal: Type.Optional(Type.String({ description: 'The name of the awaited signal.' })),
    key: Type.Optional(Type.String({ description: 'The key of the awaited signal.' })),
    attempt: Type.Optional(Type.Integer({ description: 'The attempt whose outcome is unknown.' })),
    error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
    mayAnswer: Type.Boolean({ description: 'Whether you may do it.' }),
  },
  { $id: 'HumanTask' },
);

export const HumanTaskCounts = Type.Object({
  counts: Type.Record(Type.String(), Type.Integer(), { description: 'By kind. 10,000 means at least so many.' }),
  total: Type.Integer(),
});

export const StatisticsQuery = Type.Object(
  {
    project: Type.Optional(Id),
    workflowId: Type.Optional(Id),
    since: Type.Optional({ ...Moment, description: 'Default: a day before `until`.' }),
    until: Type.Optional({ ...Moment, description: 'Default: now.' }),
    bucket: Type.Optional({
      ...DurationText,
      description: 'The length of a bucket. Default: a hundredth of the time. At most 500 buckets.',
    }),
  },
  closed,
);

const PercentilesMs = nullable(
  Type.Object(
    { p50: Type.Number(), p95: Type.Number() },
    { description: 'Milliseconds, from a histogram: at most 9 % too high.' },
  ),
);

export const Statistics = Type.Object(
  {
    since: Moment,
    until: Moment,
    bucketMs: Type.Integer(),
    buckets: Type.Array(
      Type.Object({
        since: Moment,
        starts: Type.Integer(),
        ends: Type.Record(Type.String(), Type.Integer(), { description: 'Runs that ended, by status.' }),
        failures: Type.Integer({ description: 'Runs that failed or timed out.' }),
        duration: PercentilesMs,
        queueWait: { ...PercentilesMs, description: 'From the creation of a run until it began.' },
        backlog: Type.Integer({ description: 'Runs that had not ended at the end of the bucket.' }),
      }),
    ),
    complete: Type.Boolean({ description: 'False: there were too many runs, and some are left out.' }),
  },
  { $id: 'Statistics' },
);
