import { Type } from 'typebox';
import { CONTRACT_LIMITS } from '../limits.ts';
import { AnyJson, closed, Id, Moment, Version } from './pieces.ts';

/** A definition as JSON, or its text in YAML or JSON. */
export const DefinitionBody = Type.Object(
  {
    definition: Type.Optional(AnyJson),
    source: Type.Optional(
      Type.String({
        maxLength: CONTRACT_LIMITS.maxSourceChars,
        description: 'YAML or JSON text, instead of `definition`.',
      }),
    ),
    filename: Type.Optional(Type.String({ maxLength: 500, description: 'The name of the source in messages.' })),
    project: Type.Optional(Id),
  },
  closed,
);

const DefinitionProblem = Type.Object({
  severity: Type.Union([Type.Literal('error'), Type.Literal('warning')]),
  code: Type.String(),
  message: Type.String(),
  hint: Type.Optional(Type.String()),
  path: Type.Array(Type.Union([Type.String(), Type.Number()])),
  line: Type.Optional(Type.Integer()),
  column: Type.Optional(Type.Integer()),
});

export const Validation = Type.Object({
  valid: Type.Boolean(),
  problems: Type.Array(DefinitionProblem),
  ceiling: {
    ...AnyJson,
    description: 'The most that executions of its project may be granted: `all`, or capabilities.',
  },
});

export const RegisterBody = Type.Object(
  {
    ...DefinitionBody.properties,
    activate: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'Activates the version: its triggers are enabled, and starts use it.',
      }),
    ),
  },
  closed,
);

export const Registered = Type.Object({
  workflowId: Type.String(),
  version: Version,
  created: Type.Boolean({ description: 'False when a version with the same content already existed.' }),
  active: Type.Boolean(),
  warnings: Type.Array(DefinitionProblem),
});

export const WorkflowSummary = Type.Object(
  {
    workflowId: Type.String(),
    project: Type.String(),
    name: Type.Union([Type.String(), Type.Null()]),
    description: Type.Union([Type.String(), Type.Null()]),
    tags: Type.Array(Type.String()),
    newestVersion: Version,
    activeVersion: Type.Union([Version, Type.Null()]),
    versions: Type.Integer(),
    updatedAt: Moment,
  },
  { $id: 'Workflow' },
);

export const WorkflowVersion = Type.Object(
  {
    workflowId: Type.String(),
    version: Version,
    hash: Type.String(),
    createdAt: Moment,
    active: Type.Boolean(),
    definition: Type.Optional(AnyJson),
  },
  { $id: 'WorkflowVersion' },
);

export const VersionDiff = Type.Object({
  from: Version,
  to: Version,
  changes: Type.Array(
    Type.Object({
      path: Type.String({ description: 'E.g. `nodes.fetch.timeout`.' }),
      change: Type.Union([Type.Literal('added'), Type.Literal('removed'), Type.Literal('changed')]),
      before: Type.Optional(AnyJson),
      after: Type.Optional(AnyJson),
    }),
  ),
});
